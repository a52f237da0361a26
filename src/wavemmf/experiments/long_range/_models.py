"""Networks by name and depth, ready to run on a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..._validation import check_choice, check_integer
from ...errors import InvalidInputError
from ...nn import WaveletNet
from ...nn._plans import NODE_PLANS
from ..nodes import NodeProblem
from ._operators import Operators
from ._rivals import DECOUPLED, LAYERS, Decoupled, Layered

__all__ = [
    "LAYER_COUNTS",
    "LONG_RANGE_MODELS",
    "OURS",
    "Depth",
    "Forward",
    "make_model",
    "model_settings",
    "parse_models",
]

_HIDDEN = 64

#: Settings of `wavemmf.nn.wavelet_basis` for networks in a basis.
_BASES: dict[str, dict[str, Any]] = {
    "wavelet": {},
    "laplacian": {"select": "greedy", "core": 64},
    "spectral": {"select": "greedy"},
}
#: Our network.
OURS = "wavelet"
#: Names of networks. "wavelet" is ours; "laplacian" is the same in a basis whose rotations were
#: chosen for the Laplacian, "spectral" in its eigenvectors, and "gcn" is what is left of it without
#: a basis.
LONG_RANGE_MODELS = (*_BASES, *LAYERS, *DECOUPLED)
#: Depths of City-Networks.
LAYER_COUNTS = (2, 4, 8, 16)

#: Maps the features of all nodes to their class scores.
Forward = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, order=True)
class Depth:
    """A network by name, how many layers (or hops, if it is decoupled) it has, and its dropout.

    Examples
    --------
    >>> str(Depth("gcn", 16))
    'gcn:16'
    """

    model: str
    layers: int
    dropout: float = 0.2

    def __post_init__(self) -> None:
        check_choice("model", self.model, LONG_RANGE_MODELS)
        check_integer("layers", self.layers, 1)
        if not 0.0 <= self.dropout < 1.0:
            raise InvalidInputError(f"dropout must be at least 0 and below 1, got {self.dropout}")

    def __str__(self) -> str:
        return f"{self.model}:{self.layers}"


def parse_models(text: str) -> list[Depth]:
    """Return networks from words such as ``gcn:16`` or ``gcn``, which means all depths.

    Examples
    --------
    >>> [str(each) for each in parse_models("wavelet:2,mlp")]
    ['wavelet:2', 'mlp:2', 'mlp:4', 'mlp:8', 'mlp:16']
    """
    found: list[Depth] = []
    for word in text.split(","):
        name, colon, layers = word.strip().partition(":")
        if colon and not (layers.isascii() and layers.isdecimal()):
            raise InvalidInputError(f"networks are NAME:LAYERS, such as gcn:16; got {word!r}")
        found += [Depth(name, int(layers))] if colon else [Depth(name, d) for d in LAYER_COUNTS]
    if len(set(found)) < len(found):
        raise InvalidInputError(f"networks must be named once each, got {text!r}")
    return found


def make_model(depth: Depth, problem: NodeProblem) -> tuple[torch.nn.Module, Forward]:
    """Return a network with weights drawn from torch's random numbers, and what runs it.

    Examples
    --------
    >>> from wavemmf.experiments.nodes import load_node_problem
    >>> problem = load_node_problem("karate")
    >>> make_model(Depth("sage", 2), problem)[1](problem.x).shape
    torch.Size([34, 2])
    """
    sizes = (problem.num_features, problem.num_classes)
    if depth.model in _BASES:
        settings = model_settings(depth, problem.graph.n)
        basis = problem.basis(**settings["basis"])
        net = WaveletNet(*sizes, **settings["net"])
        return net, lambda x: net(x, basis, problem.hops)
    make = Decoupled if depth.model in DECOUPLED else Layered
    rival = make(depth.model, sizes[0], _HIDDEN, sizes[1], depth.layers, depth.dropout)
    on = Operators(problem)
    return rival, lambda x: rival(x, on)


def model_settings(depth: Depth, n: int) -> dict[str, Any]:
    """Return the settings of a network and of its basis, for a graph of n nodes."""
    shape = {"layers": depth.layers, "hidden": _HIDDEN, "dropout": depth.dropout}
    settings: dict[str, Any] = {"model": depth.model, **shape}
    if depth.model in _BASES:
        plan, changed = NODE_PLANS["layers"], _BASES[depth.model]
        # A core of all nodes is diagonalised: its basis are the eigenvectors.
        core = {"core": n} if depth.model == "spectral" else {}
        settings["net"] = {**plan.net.to_json(), **shape}
        settings["basis"] = {**plan.basis, **changed, **core}
    return settings
