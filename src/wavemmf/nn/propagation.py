"""Learned propagation: short ways exactly, long ways in the wavelet basis."""

from __future__ import annotations

import torch

from ..errors import InvalidInputError
from ..validation import check_choice, check_integer
from .basis import WaveletBasis
from .filters import FreeFilter, SpectralFilter
from .responses import pagerank_tail
from .sparse import SparseOperator

__all__ = ["WaveletPropagation"]


class WaveletPropagation(torch.nn.Module):
    r"""Spread signals over a graph by exact hops and a wavelet filter, all of it learned.

    .. math:: Z' = \sum_{k=0}^{K} \gamma_k \hat A^k Z + W^T g(\Lambda) \, W Z

    It starts as personalised PageRank: :math:`\gamma_k = \alpha (1 - \alpha)^k`, and g is all that
    lies beyond K hops. So what the basis leaves out of :math:`\hat A` can disturb only the part
    that is small and smooth.

    Parameters
    ----------
    channels : int
        Number of channels; the gains are shared by them unless ``gains="channel"``.
    hops : int
        The last exact hop K.
    teleport : float
        The :math:`\alpha` of personalised PageRank.
    filter : {"spectral", "free", "none"}
        As for `WaveletConv`. Without a filter the last hop stands for all that lies beyond it, as
        in APPNP: what exact hops do alone.
    gains : {"all", "channel"}
        One set of gains, or one for every channel.
    num_wavelets : int, optional
        Size of the graph, for free gains.
    degree : int
        Degree of a spectral filter.

    Shapes
    ------
    - input: ``(n, channels)``, a `WaveletBasis` of :math:`I - \hat A`, and :math:`\hat A`
    - output: ``(n, channels)``

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> basis, hop = wm.nn.wavelet_basis(graph, core=8, k=4), wm.nn.hop_operator(graph)
    >>> WaveletPropagation(2)(torch.ones(34, 2), basis, hop).shape
    torch.Size([34, 2])
    """

    filter: FreeFilter | SpectralFilter | None

    def __init__(
        self,
        channels: int,
        hops: int = 4,
        teleport: float = 0.1,
        filter: str = "spectral",
        gains: str = "all",
        num_wavelets: int | None = None,
        degree: int = 10,
    ) -> None:
        super().__init__()
        self.hops = check_integer("hops", hops, 0)
        self.teleport = teleport
        check_choice("filter", filter, ("spectral", "free", "none"))
        shape = (channels,) if gains == "channel" else (1,)
        tail = pagerank_tail(hops, teleport)
        if filter == "none":
            self.filter = None
        elif filter == "free":
            self.filter = FreeFilter(check_integer("num_wavelets", num_wavelets, 1), shape, tail)
        else:
            self.filter = SpectralFilter(shape, degree, response=tail)
        self.weight = torch.nn.Parameter(torch.empty(hops + 1))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Return to personalised PageRank."""
        powers = torch.arange(self.hops + 1, dtype=self.weight.dtype)
        self.weight.copy_(self.teleport * (1.0 - self.teleport) ** powers)
        if self.filter is None:
            self.weight[-1] /= self.teleport
        else:
            self.filter.reset_parameters()

    def forward(
        self, z: torch.Tensor, basis: WaveletBasis | None, hop: SparseOperator
    ) -> torch.Tensor:
        """Propagate the signals `z`; without a filter the basis is not looked at."""
        out = self.weight[0] * z
        if self.filter is not None:
            if basis is None:
                raise InvalidInputError("a wavelet filter needs a basis, got None")
            out = out + basis.filter(z, self.filter(basis))
        reached = z
        for weight in self.weight[1:]:
            reached = hop(reached)
            out = out + weight * reached
        return out

    def extra_repr(self) -> str:
        """Describe the propagation."""
        return f"hops={self.hops}, teleport={self.teleport}"
