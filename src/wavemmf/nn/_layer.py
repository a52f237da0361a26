"""A layer that looks far by wavelets, near by one hop, and at the node itself."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import relu

from .._validation import check_integer
from ..errors import InvalidInputError
from ._filters import make_filter
from ._protocol import Basis
from ._responses import Response
from ._sparse import SparseOperator

__all__ = ["WaveletLayer"]


class WaveletLayer(torch.nn.Module):
    r"""A wavelet filter beside an exact hop and the node itself, normalised and rectified.

    .. math:: X' = \sigma\bigl(\mathrm{norm}( W^T g(\Lambda) W X \, \Theta_0
        + \hat A X \, \Theta_1 + X \, \Theta_2 + b )\bigr)

    Every output channel has gains of its own. One layer reaches over the whole graph, for the
    price of a few sparse products.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of channels before and after.
    filter : {"heat", "spectral", "free", "none"}
        As for `WaveletConv`; "none" leaves hop and node.
    num_wavelets : int, optional
        Size of the graph; needed for ``filter="free"`` only.
    response : str or callable
        Where the gains start; see `WaveletConv`.
    **settings
        ``degree``, ``level_degree``, ``scale_degree`` of a `SpectralFilter`.

    Shapes
    ------
    - input: node features ``(n, in_channels)``, a `Basis` of n wavelets, a hop
      (`wavemmf.nn.hop_operator`)
    - output: ``(n, out_channels)``

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> basis, hop = wm.nn.wavelet_basis(graph, core=8, k=4), wm.nn.hop_operator(graph)
    >>> WaveletLayer(3, 16)(torch.ones(34, 3), basis, hop).shape
    torch.Size([34, 16])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        filter: str = "heat",
        num_wavelets: int | None = None,
        response: str | Response = "heat",
        **settings: Any,
    ) -> None:
        super().__init__()
        check_integer("in_channels", in_channels, 1)
        self.out_channels = check_integer("out_channels", out_channels, 1)
        self.filter = (
            None
            if filter == "none"
            else make_filter(filter, (out_channels,), response, num_wavelets, **settings)
        )
        # One product for all terms: of the node, of the hop, of the wavelets.
        terms = 2 if self.filter is None else 3
        self.maps = torch.nn.Linear(in_channels, terms * out_channels)
        self.norm = torch.nn.BatchNorm1d(out_channels)

    def reset_parameters(self) -> None:
        """Draw the weights anew and return the gains to their response."""
        for part in (self.maps, self.norm, self.filter):
            if part is not None:
                part.reset_parameters()

    def forward(self, x: torch.Tensor, basis: Basis | None, hop: SparseOperator) -> torch.Tensor:
        """Return the signals after the layer; without a filter the basis is not looked at."""
        own, near, *far = self.maps(x).split(self.out_channels, dim=1)
        out = own + hop(near)
        if self.filter is not None:
            if basis is None:
                raise InvalidInputError("a wavelet filter needs a basis, got None")
            out = out + self.filter(far[0], basis)
        return relu(self.norm(out))
