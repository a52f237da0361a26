"""Networks to compare with, made of the layers of PyTorch Geometric."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import dropout, relu

from ..._optional import require
from ..._validation import check_choice
from ...nn._sparse import Features, apply_linear, drop_features

require("torch_geometric", extra="pyg")

from torch_geometric.nn import APPNP, ChebConv, GCN2Conv, GCNConv  # noqa: E402
from torch_geometric.nn.conv.gcn_conv import gcn_norm  # noqa: E402

__all__ = ["LAYERED", "Baseline"]


class Baseline(torch.nn.Module):
    """Two maps of channels with dropout, around or before a propagation.

    Parameters
    ----------
    name : str
        One of `LAYERED`: a perceptron on each node alone (MLP); graph convolution (GCN, Kipf &
        Welling 2017); Chebyshev filters of order 2 (ChebNet, Defferrard et al. 2016);
        personalised PageRank after a perceptron (APPNP, Klicpera et al. 2019, 10 steps, 0.1); the
        same with learned weights of the hops (GPRGNN, Chien et al. 2021); 8 residual layers (GCNII,
        Chen et al. 2020).
    in_channels, hidden_channels, out_channels : int
        Numbers of features, hidden channels and classes.
    rate : float
        Dropout of features and of hidden numbers.

    Shapes
    ------
    - input: features ``(n, in_channels)``, dense or sparse; edges ``(2, number of edges)``
    - output: unnormalised log-probabilities ``(n, out_channels)``

    Examples
    --------
    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> Baseline("gcn", 4, 8, 2)(torch.ones(3, 4), edges).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        name: str,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        rate: float = 0.5,
    ) -> None:
        super().__init__()
        self.name = check_choice("model", name, LAYERED)
        self.rate = rate
        first, last, between = LAYERED[name](in_channels, hidden_channels, out_channels)
        self.first, self.last, self.between = first, last, between

    def forward(self, x: Features, edge_index: torch.Tensor) -> torch.Tensor:
        """Return the class scores of all nodes."""
        h = start = relu(self._map(self.first, x, edge_index))
        for layer in self.between if self.name == "gcnii" else ():
            h = relu(layer(dropout(h, self.rate, self.training), start, edge_index))
        h = self._map(self.last, h, edge_index)
        if self.name in ("appnp", "gprgnn"):
            h = self.between[0](h, edge_index)
        return h

    def _map(self, layer: Any, x: Features, edge_index: torch.Tensor) -> torch.Tensor:
        if isinstance(layer, torch.nn.Linear):
            return apply_linear(layer, x, self.rate, self.training)
        x = drop_features(x, self.rate, self.training)
        if isinstance(x, torch.Tensor):
            out: torch.Tensor = layer(x, edge_index)
            return out
        return _SPARSE[type(layer)](layer, x, edge_index)


def _gcn_of_sparse(layer: Any, x: Any, edge_index: torch.Tensor) -> torch.Tensor:
    """Return what the layer gives for dense features: the linear map first, then messages."""
    h = x @ layer.lin.weight.T.contiguous()
    edges, weights = gcn_norm(edge_index, None, h.shape[0], dtype=h.dtype)
    out: torch.Tensor = layer.propagate(edges, x=h, edge_weight=weights) + layer.bias
    return out


def _chebyshev_of_sparse(layer: Any, x: Any, edge_index: torch.Tensor) -> torch.Tensor:
    """Return what the layer gives for dense features, by Clenshaw's scheme after linear maps."""
    maps = torch.cat([lin.weight for lin in layer.lins])
    first, *rest = (x @ maps.T.contiguous()).chunk(len(layer.lins), dim=1)
    edges, norm = layer.__norm__(
        edge_index, first.shape[0], None, layer.normalization, dtype=first.dtype
    )
    this, last = rest[-1], torch.zeros_like(first)
    for part in reversed(rest[:-1]):
        this, last = part + 2.0 * layer.propagate(edges, x=this, norm=norm) - last, this
    out: torch.Tensor = first + layer.propagate(edges, x=this, norm=norm) - last + layer.bias
    return out


# Layers that would multiply dense features with edges before they map them to few channels.
_SPARSE = {GCNConv: _gcn_of_sparse, ChebConv: _chebyshev_of_sparse}


class _HopWeights(torch.nn.Module):
    """A sum of hops with learned weights, from those of personalised PageRank on (GPRGNN)."""

    is_filter = True

    def __init__(self, hops: int = 10, teleport: float = 0.1) -> None:
        super().__init__()
        # APPNP with one step and no teleport is one normalised hop with self-loops.
        self.hop = APPNP(K=1, alpha=0.0, cached=True)
        weights = teleport * (1.0 - teleport) ** torch.arange(hops + 1.0)
        weights[-1] = (1.0 - teleport) ** hops
        self.weight = torch.nn.Parameter(weights)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        out = self.weight[0] * x
        for weight in self.weight[1:]:
            x = self.hop(x, edge_index)
            out = out + weight * x
        return out


def _linear(a: int, hidden: int, b: int, *between: torch.nn.Module) -> tuple[Any, ...]:
    modules = torch.nn.ModuleList(between)
    return torch.nn.Linear(a, hidden), torch.nn.Linear(hidden, b), modules


def _gcn(a: int, hidden: int, b: int) -> tuple[Any, ...]:
    return GCNConv(a, hidden, cached=True), GCNConv(hidden, b, cached=True), torch.nn.ModuleList()


def _chebnet(a: int, hidden: int, b: int) -> tuple[Any, ...]:
    return ChebConv(a, hidden, K=3), ChebConv(hidden, b, K=3), torch.nn.ModuleList()


def _gcnii(a: int, hidden: int, b: int) -> tuple[Any, ...]:
    layers = [GCN2Conv(hidden, alpha=0.2, theta=0.5, layer=i + 1, cached=True) for i in range(8)]
    return _linear(a, hidden, b, *layers)


#: How the parts of each network are made, by its name.
LAYERED: dict[str, Any] = {
    "mlp": _linear,
    "gcn": _gcn,
    "chebnet": _chebnet,
    "appnp": lambda a, hidden, b: _linear(a, hidden, b, APPNP(K=10, alpha=0.1, cached=True)),
    "gprgnn": lambda a, hidden, b: _linear(a, hidden, b, _HopWeights()),
    "gcnii": _gcnii,
}
