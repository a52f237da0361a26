"""Networks to compare with on graphs, made of the layers of PyTorch Geometric."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import dropout, relu

from ..._optional import require
from ..._validation import check_choice

require("torch_geometric", extra="pyg")

from torch_geometric.nn import (  # noqa: E402
    GCNConv,
    GINConv,
    SortAggregation,
    global_add_pool,
    global_mean_pool,
)

__all__ = ["GRAPH_BASELINES", "CountNet", "MessageNet", "SortNet", "make_baseline"]


class MessageNet(torch.nn.Module):
    """Message passing with jumping connections: GIN (Xu et al. 2019) or GCN.

    Parameters
    ----------
    kind : {"gin", "gcn"}
        Sums over neighbours and a perceptron, pooled by sums; or normalised means (Kipf & Welling
        2017), pooled by means.
    in_channels, hidden_channels, out_channels : int
        Numbers of features, hidden channels and classes.
    layers : int
        Number of layers.
    rate : float
        Dropout of pooled numbers.

    Examples
    --------
    >>> from torch_geometric.data import Batch, Data
    >>> edge = Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> MessageNet("gin", 3, 8, 2).eval()(Batch.from_data_list([edge, edge])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        kind: str,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        layers: int = 4,
        rate: float = 0.5,
    ) -> None:
        super().__init__()
        self.kind = check_choice("kind", kind, ("gin", "gcn"))
        self.rate = rate
        widths = [in_channels, *[hidden_channels] * layers]
        make = _gin if kind == "gin" else GCNConv
        pairs = pairwise(widths)
        self.layers = torch.nn.ModuleList(make(a, b) for a, b in pairs)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(hidden_channels) for _ in self.layers)
        self.classifier = torch.nn.Linear(sum(widths), out_channels)

    def forward(self, batch: Any) -> torch.Tensor:
        """Return the class scores of all graphs."""
        states = [batch.x]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            states.append(relu(norm(layer(states[-1], batch.edge_index))))
        pool = global_add_pool if self.kind == "gin" else global_mean_pool
        pooled = pool(torch.cat(states, dim=1), batch.batch, batch.num_graphs)
        return self.classifier(dropout(pooled, self.rate, self.training))


class SortNet(torch.nn.Module):
    """Like DGCNN (Zhang et al. 2018): sort the nodes of a graph, and convolve along them.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels : int
        Numbers of features, hidden channels and classes.
    nodes : int
        How many nodes of a graph are kept; smaller graphs are filled up with zeros.
    rate : float
        Dropout before the last layer.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        nodes: int = 30,
        rate: float = 0.5,
    ) -> None:
        super().__init__()
        widths = [in_channels, *[hidden_channels] * 3, 1]
        pairs = pairwise(widths)
        self.layers = torch.nn.ModuleList(GCNConv(a, b) for a, b in pairs)
        self.sort = SortAggregation(nodes)
        width = sum(widths[1:])
        self.first = torch.nn.Conv1d(1, 16, width, width)
        self.pool = torch.nn.MaxPool1d(2)
        self.second = torch.nn.Conv1d(16, 32, 5, padding=2)
        self.third = torch.nn.Linear(32 * (nodes // 2), 128)
        self.classifier = torch.nn.Linear(128, out_channels)
        self.rate = rate

    def forward(self, batch: Any) -> torch.Tensor:
        """Return the class scores of all graphs."""
        x, states = batch.x, []
        for layer in self.layers:
            x = torch.tanh(layer(x, batch.edge_index))
            states.append(x)
        rows = self.sort(torch.cat(states, dim=1), batch.batch, dim_size=batch.num_graphs)
        h = self.pool(relu(self.first(rows[:, None])))
        h = relu(self.third(relu(self.second(h)).flatten(1)))
        return self.classifier(dropout(h, self.rate, self.training))


class CountNet(torch.nn.Module):
    """The structure-agnostic baseline (Errica et al. 2020): sums of features, and a perceptron."""

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, rate: float = 0.5
    ) -> None:
        super().__init__()
        self.first = torch.nn.Linear(in_channels, hidden_channels)
        self.second = torch.nn.Linear(hidden_channels, hidden_channels)
        self.classifier = torch.nn.Linear(hidden_channels, out_channels)
        self.norm = torch.nn.BatchNorm1d(in_channels)
        self.rate = rate

    def forward(self, batch: Any) -> torch.Tensor:
        """Return the class scores of all graphs."""
        h = self.norm(global_add_pool(batch.x, batch.batch, batch.num_graphs))
        h = relu(self.second(relu(self.first(h))))
        return self.classifier(dropout(h, self.rate, self.training))


def make_baseline(name: str, in_channels: int, hidden: int, out_channels: int) -> torch.nn.Module:
    """Return a network by name, one of `GRAPH_BASELINES`.

    Examples
    --------
    >>> make_baseline("counts", 3, 8, 2).classifier
    Linear(in_features=8, out_features=2, bias=True)
    """
    check_choice("model", name, GRAPH_BASELINES)
    return GRAPH_BASELINES[name](in_channels, hidden, out_channels)


def _gin(a: int, b: int) -> GINConv:
    perceptron = torch.nn.Sequential(
        torch.nn.Linear(a, b), torch.nn.BatchNorm1d(b), torch.nn.ReLU(), torch.nn.Linear(b, b)
    )
    return GINConv(perceptron, train_eps=True)


#: How each network is made, by its name.
GRAPH_BASELINES: dict[str, Any] = {
    "gin": lambda a, hidden, b: MessageNet("gin", a, hidden, b),
    "gcn": lambda a, hidden, b: MessageNet("gcn", a, hidden, b),
    "dgcnn": SortNet,
    "counts": CountNet,
}
