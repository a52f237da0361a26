"""Many graphs one after another in a few tensors, so that batches are quick to make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._optional import require

__all__ = ["PackedGraphs"]


class PackedGraphs:
    """Graphs from which batches are gathered, the same as PyTorch Geometric collates.

    Collating dozens of small graphs with a dozen tensors each takes a third of the time of a
    training step; gathering from tensors that were concatenated once takes less than half of that.

    Parameters
    ----------
    data : sequence of Data
        With the same attributes, all of them tensors.

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> edge = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> PackedGraphs([edge] * 5).batch([3, 1]).edge_index
    tensor([[0, 1, 2, 3],
            [1, 0, 3, 2]])
    """

    def __init__(self, data: Sequence[Any]) -> None:
        self.columns = [_Column(key, data) for key in data[0].keys()]  # noqa: SIM118
        self.nodes = torch.tensor([each.num_nodes for each in data])

    def __len__(self) -> int:
        return len(self.nodes)

    def batch(self, indices: Sequence[int]) -> Any:
        """Return the graphs with these indices as one ``Batch``."""
        chosen = torch.as_tensor(indices)
        nodes = self.nodes[chosen]
        made = require("torch_geometric.data", extra="pyg").Batch(
            batch=torch.repeat_interleave(nodes), ptr=_starts(nodes)
        )
        made._num_graphs = len(chosen)  # what its own collation sets
        places: dict[tuple[int, ...], torch.Tensor] = {}  # most tensors have a row for every node
        for column in self.columns:
            lengths = column.lengths[chosen]
            same = tuple(lengths.tolist())
            if same not in places:
                places[same] = _places(column.starts[chosen], lengths)
            made[column.key] = column.gathered(chosen, places[same], lengths)
        return made


class _Column:
    """One attribute of all graphs."""

    def __init__(self, key: str, data: Sequence[Any]) -> None:
        self.key = key
        self.dim = data[0].__cat_dim__(key, data[0][key])
        self.values = torch.cat([each[key] for each in data], dim=self.dim)
        self.lengths = torch.tensor([each[key].shape[self.dim] for each in data])
        self.starts = _starts(self.lengths)[:-1]
        # How much the numbers in it grow behind this graph, in a batch.
        self.growth = torch.tensor([int(each.__inc__(key, each[key])) for each in data])

    def gathered(
        self, chosen: torch.Tensor, places: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        values = self.values.index_select(self.dim, places)
        growth = self.growth[chosen]
        if not growth.any():
            return values
        shift = torch.repeat_interleave(_starts(growth)[:-1].to(values.dtype), lengths)
        return values + shift


def _starts(lengths: torch.Tensor) -> torch.Tensor:
    """Return where each of some runs begins, and where the last one ends."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def _places(starts: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return all places of runs that begin at `starts`, one run after another."""
    shift = starts - _starts(lengths)[:-1]
    return torch.arange(int(lengths.sum())) + torch.repeat_interleave(shift, lengths)
