"""Networks to compare with: layers between two linear maps, each with a way past it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch.nn.functional import dropout, relu

from ..._optional import require
from ..._validation import check_choice, check_integer
from ._operators import Operators

__all__ = ["DECOUPLED", "LAYERS", "Decoupled", "Layered"]


class Layered(torch.nn.Module):
    r"""The networks of City-Networks: a linear map, equal layers, a linear map.

    .. math:: X' = \sigma(\mathrm{norm}(\mathrm{layer}(X) + X \Theta + b))

    with batch normalisation and dropout.

    Parameters
    ----------
    name : str
        One of `LAYERS`.
    in_channels, hidden, out_channels : int
        Numbers of features, hidden channels and classes.
    layers : int
        How many there are.
    rate : float
        Dropout of hidden numbers.

    Shapes
    ------
    - input: features ``(n, in_channels)``, the `Operators` of the graph
    - output: class scores ``(n, out_channels)``

    Examples
    --------
    >>> from wavemmf.experiments.nodes import load_node_problem
    >>> problem = load_node_problem("karate")
    >>> Layered("sage", 34, 8, 2, layers=3)(problem.x, Operators(problem)).shape
    torch.Size([34, 2])
    """

    def __init__(
        self,
        name: str,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int,
        rate: float = 0.2,
    ) -> None:
        super().__init__()
        self.rate = rate
        make = LAYERS[check_choice("model", name, LAYERS)]
        count = range(check_integer("layers", layers, 1))
        self.first = torch.nn.Linear(in_channels, hidden)
        self.layers = torch.nn.ModuleList(make(hidden) for _ in count)
        self.past = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in count)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(hidden) for _ in count)
        self.last = torch.nn.Linear(hidden, out_channels)

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        """Return the class scores of all nodes."""
        h = self.first(x)
        for layer, past, norm in zip(self.layers, self.past, self.norms, strict=True):
            h = dropout(relu(norm(layer(h, on) + past(h))), self.rate, self.training)
        scores: torch.Tensor = self.last(h)
        return scores


class Decoupled(torch.nn.Module):
    """A perceptron on every node alone, then hops of its scores, fixed or learned.

    Parameters
    ----------
    name : {"appnp", "gprgnn"}
        Personalised PageRank with teleport 0.1 (Klicpera et al. 2019); or learned weights of the
        hops that start there (Chien et al. 2021).
    in_channels, hidden, out_channels : int
        Numbers of features, hidden channels and classes.
    layers : int
        How many hops there are.
    rate : float
        Dropout of hidden numbers.

    Shapes
    ------
    - input and output: as for `Layered`
    """

    teleport = 0.1

    def __init__(
        self,
        name: str,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int,
        rate: float = 0.2,
    ) -> None:
        super().__init__()
        self.rate = rate
        check_choice("model", name, DECOUPLED)
        self.first = torch.nn.Linear(in_channels, hidden)
        self.second = torch.nn.Linear(hidden, out_channels)
        weights = self.teleport * (1.0 - self.teleport) ** torch.arange(layers + 1.0)
        weights[-1] /= self.teleport
        self.weights = torch.nn.Parameter(weights, requires_grad=name == "gprgnn")

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        """Return the class scores of all nodes."""
        z = self.second(dropout(relu(self.first(x)), self.rate, self.training))
        out = self.weights[0] * z
        for weight in self.weights[1:]:
            z = on.hop(z)
            out = out + weight * z
        return out


class _Alone(torch.nn.Module):
    """What a perceptron sees: the node."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.own = torch.nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        out: torch.Tensor = self.own(x)
        return out


class _Convolution(torch.nn.Module):
    """Graph convolution: one hop (Kipf, Welling 2017)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.near = torch.nn.Linear(channels, channels, bias=False)

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        return on.hop(self.near(x))


class _Sage(torch.nn.Module):
    """GraphSAGE: the node beside the mean over its neighbours (Hamilton et al. 2017)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.own = torch.nn.Linear(channels, channels)
        self.near = torch.nn.Linear(channels, channels, bias=False)

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        return self.own(x) + on.mean(self.near(x))


class _Chebyshev(torch.nn.Module):
    """ChebNet: polynomials of the Laplacian with so many terms (Defferrard et al. 2016)."""

    def __init__(self, channels: int, terms: int) -> None:
        super().__init__()
        self.maps = torch.nn.ModuleList(
            torch.nn.Linear(channels, channels, bias=not order) for order in range(terms)
        )

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        before, this = x, on.shifted(x)
        out = self.maps[0](x) + self.maps[1](this)
        for each in list(self.maps)[2:]:
            before, this = this, 2.0 * on.shifted(this) - before
            out = out + each(this)
        return out


class _Attention(torch.nn.Module):
    """Graph attention, one head (Velickovic et al. 2018), as PyTorch Geometric has it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        layers = require("torch_geometric.nn", extra="pyg")
        self.near = layers.GATConv(channels, channels, add_self_loops=False, bias=False)

    def forward(self, x: torch.Tensor, on: Operators) -> torch.Tensor:
        out: torch.Tensor = self.near(x, on.edges)
        return out


#: Layers by name: "chebnet" has two terms as in City-Networks, "chebnet-8" has eight, which is a
#: reach of seven hops a layer.
LAYERS: dict[str, Callable[[int], torch.nn.Module]] = {
    "mlp": _Alone,
    "gcn": _Convolution,
    "sage": _Sage,
    "gat": _Attention,
    "chebnet": partial(_Chebyshev, terms=2),
    "chebnet-8": partial(_Chebyshev, terms=8),
}
#: Networks that see features first and the graph afterwards.
DECOUPLED = ("appnp", "gprgnn")
