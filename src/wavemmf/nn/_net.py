"""A network that classifies the nodes of a graph (section 6.2 of the paper)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import relu

from ..errors import InvalidInputError
from ._conv import WaveletConv
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
    the class scores, by exact hops and a wavelet filter (`WaveletPropagation`).

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of features and of classes.
    preset : {"wavemmf", "paper"}
        Where the settings come from.
    num_wavelets : int, optional
        Size of the graph; needed for free gains.
    **settings
        Fields of `NetSettings` to change.

    Shapes
    ------
    - input: features ``(n, in_channels)``, dense or (unless gains are per pair) as a
      `SparseOperator`, and a `Basis`; decoupled networks also take the exact hop
      (`wavemmf.nn.hop_operator`), and one between nodes that are alike
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
        widths = [in_channels, *[s.hidden] * (s.layers - 1), out_channels]
        make = torch.nn.Linear if s.decoupled else _conv_maker(s, num_wavelets)
        self.layers = torch.nn.ModuleList(make(a, b) for a, b in pairwise(widths))
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
        for i, layer in enumerate(self.layers):
            rate = self.settings.dropout if i else self.settings.input_dropout
            h = self._layer(layer, x, rate, basis)
            x = h if i == len(self.layers) - 1 else relu(h)
        if self.propagation is None:
            return h
        return self.propagation(h, basis, hop, similar)

    def _check_operators(self, x: Any, basis: Any, hop: Any, similar: Any) -> None:
        """Name the calls that make what is missing."""
        s = self.settings
        calls = ["data.x"]
        calls += ["wm.nn.wavelet_basis(data)" if s.filter != "none" else "None"]
        calls += ["wm.nn.hop_operator(data)"] * s.decoupled
        if s.decoupled and s.similar_hops:
            calls += [f"wm.nn.hop_operator(wm.graphs.similarity_graph(data.x, {s.neighbors}))"]
        wanted = (x if isinstance(x, torch.Tensor | SparseOperator) else None, basis, hop, similar)
        for value, call in zip(wanted, calls, strict=False):
            if value is None and call != "None":
                raise InvalidInputError(
                    f"the network has no {call.removeprefix('wm.')}: call net({', '.join(calls)})"
                )

    def _layer(self, layer: Any, x: Any, rate: float, basis: Any) -> torch.Tensor:
        if self.settings.decoupled:
            return apply_linear(layer, x, rate, self.training)
        mapped: torch.Tensor = layer(drop_features(x, rate, self.training), basis)
        return mapped


def _conv_maker(s: NetSettings, num_wavelets: int | None) -> Any:
    settings = {"degree": s.degree} if s.filter == "spectral" else {"num_wavelets": num_wavelets}

    def make(a: int, b: int) -> WaveletConv:
        return WaveletConv(a, b, s.filter, s.gains, response=s.response, bias=s.bias, **settings)  # type: ignore[arg-type]

    return make
