"""How much of a network's scores at a node comes from nodes so many hops away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..._optional import require
from ..._validation import check_integer
from ..nodes import NodeProblem
from ._models import Forward

__all__ = ["Influence", "influence_by_hop"]

# How far is looked: beyond what the task needs.
_MAX_HOPS = 24


@dataclass(frozen=True)
class Influence:
    """The total influence of Liang et al. (2025).

    Attributes
    ----------
    by_hop : sequence of float
        What nodes at 0, 1, 2, ... hops contribute, relative to what the node itself does.
    reach : float
        The mean distance in hops of what contributes.
    """

    by_hop: Sequence[float]
    reach: float


class _OnWholeGraph(torch.nn.Module):
    """A network as `total_influence` calls it, for features of some nodes and their edges.

    That function cuts the nodes around one out of the graph; a network in a basis needs all of
    them. Features have the number of their node as a last column, by which they find their place.
    """

    def __init__(self, net: torch.nn.Module, scores: Forward, x: torch.Tensor) -> None:
        super().__init__()
        self.net, self.scores, self.x = net, scores, x

    def forward(self, numbered: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        nodes = numbered[:, -1].detach().round().long()
        return self.scores(self.x.index_put((nodes,), numbered[:, :-1]))[nodes]


def influence_by_hop(
    net: torch.nn.Module, scores: Forward, problem: NodeProblem, samples: int = 16, seed: int = 0
) -> Influence:
    """Return the influence by hop of a trained network, with PyTorch Geometric's function.

    Parameters
    ----------
    net : Module
        The network.
    scores : callable
        Maps the features of all nodes to their class scores.
    problem : NodeProblem
        Features and graph.
    samples, seed : int
        How many nodes are looked at, and the seed by which they are chosen.

    Returns
    -------
    Influence
    """
    check_integer("samples", samples, 1)
    utils: Any = require("torch_geometric.utils", extra="pyg")
    data = require("torch_geometric.data", extra="pyg").Data
    numbers = torch.arange(problem.graph.n, dtype=torch.float64)[:, None].to(problem.x)
    numbered = data(x=torch.cat([problem.x, numbers], dim=1), edge_index=problem.edge_index)
    whole = _OnWholeGraph(net.eval(), scores, problem.x)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        # Not vectorised: products with sparse matrices have no batched derivative.
        by_hop, reach = utils.total_influence(
            whole, numbered, _MAX_HOPS, num_samples=samples, vectorize=False
        )
    return Influence(by_hop.tolist(), float(reach))
