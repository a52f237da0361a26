"""A network that classifies the nodes of a graph (section 6.2 of the paper)."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import relu

from ..errors import InvalidInputError
from ._conv import WaveletConv
from ._layer import WaveletLayer
from ._propagation import WaveletPropagation
from ._protocol import Basis
from ._settings import NODE_PRESETS, NetSettings, check_channels, from_preset
from ._sparse import SparseOperator, apply_linear, drop_features

__all__ = ["WaveletNet"]


class WaveletNet(torch.nn.Module):
    """Classify nodes by their features and by those of the nodes around them.

    The preset "paper" is that of Hy and Kondor: a stack of wavelet convolutions with a diagonal
    filter for every pair of channels, rectifiers between them. "wavemmf" is our own and
    decoupled: a perceptron on the features of each node alone, then one learned propagation of
    the class scores, by exact hops and a wavelet filter (`WaveletPropagation`). "layers", ours
    too, is for what depends on nodes far away: layers of wavelets and one hop (`WaveletLayer`).

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of features and of classes.
    preset : {"wavemmf", "layers", "paper"}
        Where the settings come from.
    num_wavelets : int, optional
        Size of the graph; needed for free gains.
    **settings
        Fields of `NetSettings` to change.

    Shapes
    ------
    - input: features ``(n, in_channels)``, dense or (unless gains are per pair) as a
      `SparseOperator`, and a `Basis`; decoupled and layered networks also take the exact hop
      (`wavemmf.nn.hop_operator`), and decoupled ones one between nodes that are alike
    - output: unnormalised log-probabilities ``(n, out_channels)``

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> net = WaveletNet(34, 2, similar_hops=0)
    >>> basis, hop = wm.nn.wavelet_basis(graph, core=8, k=4), wm.nn.hop_operator(graph)
    >>> net(torch.eye(34), basis, hop).shape
    torch.Size([34, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        preset: str = "wavemmf",
        num_wavelets: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.channels = check_channels(in_channels, out_channels)
        self.settings = s = from_preset(NODE_PRESETS, preset, settings)
        self.layers = torch.nn.ModuleList(_layers(in_channels, out_channels, s, num_wavelets))
        self.propagation = (
            WaveletPropagation(
                out_channels,
                s.hops,
                s.teleport,
                s.filter,
                s.gains,
                num_wavelets,
                s.degree,
                s.similar_hops,
            )
            if s.decoupled
            else None
        )

    def reset_parameters(self) -> None:
        """Draw all weights anew and return filters to where they start."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator,union-attr]
        if self.propagation is not None:
            self.propagation.reset_parameters()

    def forward(
        self,
        x: torch.Tensor | SparseOperator,
        basis: Basis | None = None,
        hop: SparseOperator | None = None,
        similar: SparseOperator | None = None,
    ) -> torch.Tensor:
        """Return the class scores of all nodes."""
        self._check_operators(x, basis, hop, similar)
        last = len(self.layers) - 1
        for i, layer in enumerate(self.layers):
            rate = self.settings.dropout if i else self.settings.input_dropout
            h = self._layer(layer, x, rate, basis, hop)
            x = h if i == last or self.settings.layered else relu(h)
        if self.propagation is None:
            return h
        return self.propagation(h, basis, hop, similar)

    def _check_operators(self, x: Any, basis: Any, hop: Any, similar: Any) -> None:
        """Name the calls that make what is missing."""
        s = self.settings
        calls = ["data.x"]
        calls += ["wm.nn.wavelet_basis(data)" if s.filter != "none" else "None"]
        calls += ["wm.nn.hop_operator(data)"] * (s.decoupled or s.layered)
        if s.decoupled and s.similar_hops:
            calls += [f"wm.nn.hop_operator(wm.graphs.similarity_graph(data.x, {s.neighbors}))"]
        wanted = (x if isinstance(x, torch.Tensor | SparseOperator) else None, basis, hop, similar)
        for value, call in zip(wanted, calls, strict=False):
            if value is None and call != "None":
                raise InvalidInputError(
                    f"the network has no {call.removeprefix('wm.')}: call net({', '.join(calls)})"
                )

    def _layer(self, layer: Any, x: Any, rate: float, basis: Any, hop: Any) -> torch.Tensor:
        if isinstance(layer, torch.nn.Linear):
            return apply_linear(layer, x, rate, self.training)
        x = drop_features(x, rate, self.training)
        mapped: torch.Tensor = layer(x, basis, hop) if self.settings.layered else layer(x, basis)
        return mapped


def _layers(
    inputs: int, outputs: int, s: NetSettings, num_wavelets: int | None
) -> list[torch.nn.Module]:
    if s.layered:
        make = partial(WaveletLayer, s.hidden, s.hidden, s.filter, num_wavelets, s.response)
        inner = (make(**_degrees(s)) for _ in range(s.layers))
        return [torch.nn.Linear(inputs, s.hidden), *inner, torch.nn.Linear(s.hidden, outputs)]
    widths = pairwise([inputs, *[s.hidden] * (s.layers - 1), outputs])
    if s.decoupled:
        return [torch.nn.Linear(a, b) for a, b in widths]
    return [
        WaveletConv(a, b, s.filter, s.gains, num_wavelets, s.response, s.bias, **_degrees(s))
        for a, b in widths
    ]


def _degrees(s: NetSettings) -> dict[str, Any]:
    if s.filter != "spectral":
        return {}
    names = ("degree", "level_degree", "scale_degree")
    return {name: getattr(s, name) for name in names}
