"""Convolution on a graph, as a product in its wavelet basis (Eq. 14 of the paper)."""

from __future__ import annotations

from typing import Any

import torch

from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ._filters import WaveletFilter, make_filter
from ._protocol import Basis
from ._responses import Response, as_response
from ._sparse import Features

__all__ = ["WaveletConv"]

_SHARED = ("all", "channel", "pair")


class WaveletConv(torch.nn.Module):
    r"""Filter signals in the wavelet basis of a graph.

    .. math:: X' = W^T \, g(\Lambda) \, W \, X \, \Theta + b

    W is orthonormal, so without the gains g the layer would be :math:`X \Theta`, a network on
    every node alone; the gains are what lets nodes see each other. They are learned, from a
    diffusion response on.

    With ``gains="pair"``, ``filter="free"`` and ``bias=False`` it is the convolution of the paper,
    a diagonal filter for every pair of channels.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of channels before and after.
    filter : {"spectral", "heat", "free"}
        The gains are a learned function of frequency and level, which fits every graph; those of
        a diffusion whose time is learned; or one learned number per wavelet, for a single graph.
    gains : {"all", "channel", "pair"}
        One set of gains for all channels, one for every output channel, or one for every pair of
        channels: :math:`X'_o = W^T \sum_i (r(\Lambda) \Theta_{io} + g_{io}(\Lambda)) \, W X_i`
        with the initial response r.
    num_wavelets : int, optional
        Size of the graph; needed for ``filter="free"`` only.
    response : str or callable
        Where the gains start: "heat", "pagerank", "ones", "zeros", or a function of
        frequencies. A diffusion starts with times of its own.
    bias : bool
        Whether to learn b.
    **settings
        ``degree``, ``level_degree``, ``frequency_range`` of a `wavemmf.nn.SpectralFilter`.

    Shapes
    ------
    - input: node features ``(n, in_channels)``, a `Basis` of n wavelets
    - output: ``(n, out_channels)``

    Raises
    ------
    TooLargeError
        If free gains for every pair of channels do not fit in memory.

    Examples
    --------
    >>> import wavemmf as wm
    >>> basis = wm.nn.WaveletBasis(wm.factorize(wm.graphs.karate(), core=8, k=4))
    >>> conv = WaveletConv(3, 16, filter="free", num_wavelets=34)
    >>> conv
    WaveletConv(3, 16, filter='free', gains='all')
    >>> conv(torch.ones(34, 3), basis).shape
    torch.Size([34, 16])
    """

    filter: WaveletFilter

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        filter: str = "spectral",
        gains: str = "all",
        num_wavelets: int | None = None,
        response: str | Response = "heat",
        bias: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.in_channels = check_integer("in_channels", in_channels, 1)
        self.out_channels = check_integer("out_channels", out_channels, 1)
        self.gains = check_choice("gains", gains, _SHARED)
        self.response = as_response(response)
        shape = {"all": (1,), "channel": (out_channels,), "pair": (in_channels, out_channels)}
        # Gains per pair start at zero, beside the response: that carries the random weights.
        if filter == "heat" and gains == "pair":
            raise InvalidInputError('filter="heat" takes gains="all" or gains="channel"')
        start = as_response("zeros") if gains == "pair" else self.response
        self.filter = make_filter(filter, shape[gains], start, num_wavelets, **settings)
        self.kind = filter
        self.weight = torch.nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = torch.nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew and return the gains to their response."""
        torch.nn.init.xavier_uniform_(self.weight)
        self.filter.reset_parameters()
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: Features, basis: Basis) -> torch.Tensor:
        """Filter the features `x` in `basis`; they may be sparse unless gains are per pair."""
        if x.shape[-1] != self.in_channels:
            raise InvalidInputError(
                f"x must have {self.in_channels} channels, got shape {tuple(x.shape)}"
            )
        if self.gains == "pair":
            if not isinstance(x, torch.Tensor):
                raise InvalidInputError("gains per pair of channels take dense features only")
            c = basis.analyze(x)
            start = self.response(basis.frequencies)[:, None]
            out = basis.synthesize((start * c) @ self.weight + self.filter.mix(c, basis))
        else:
            out = self.filter(x @ self.weight, basis)
        return out if self.bias is None else out + self.bias

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, {self.out_channels}, "
            f"filter={self.kind!r}, gains={self.gains!r})"
        )
