"""Learned propagation: short ways exactly, long ways in the wavelet basis."""

from __future__ import annotations

from typing import ClassVar

import torch

from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ._filters import WaveletFilter, make_filter
from ._protocol import Basis
from ._responses import pagerank_tail
from ._sparse import SparseOperator

__all__ = ["WaveletPropagation"]

# Where the weight of the first hop between nodes that are alike starts; each further one halves.
_SIMILAR_SHARE = 0.3


class WaveletPropagation(torch.nn.Module):
    r"""Spread signals over a graph by exact hops and a wavelet filter, all of it learned.

    .. math:: Z' = \sum_{k=0}^{K} \gamma_k \hat A^k Z + W^T g(\Lambda) \, W Z
        + \sum_{j=1}^{J} \mu_j \hat B^j Z

    The last sum goes from node to node by likeness of their features, if `similar_hops` is not 0.
    Without it, the propagation starts as personalised PageRank:
    :math:`\gamma_k = \alpha (1 - \alpha)^k`, and g is all that lies beyond K hops. So what
    the basis leaves out of :math:`\hat A` can disturb only the part that is small and smooth.

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
    similar_hops : int
        The last hop J between nodes that are alike; see `wavemmf.graphs.similarity_graph`.

    Shapes
    ------
    - input: ``(n, channels)``, a `Basis` of :math:`I - \hat A`, and :math:`\hat A` (and
      :math:`\hat B`)
    - output: ``(n, channels)``

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> basis, hop = wm.nn.wavelet_basis(graph, core=8, k=4), wm.nn.hop_operator(graph)
    >>> WaveletPropagation(2)(torch.ones(34, 2), basis, hop).shape
    torch.Size([34, 2])
    """

    #: For optimisers that let filters move at a rate of their own.
    is_filter: ClassVar[bool] = True
    filter: WaveletFilter | None

    def __init__(
        self,
        channels: int,
        hops: int = 4,
        teleport: float = 0.1,
        filter: str = "spectral",
        gains: str = "all",
        num_wavelets: int | None = None,
        degree: int = 10,
        similar_hops: int = 0,
    ) -> None:
        super().__init__()
        self.hops = check_integer("hops", hops, 0)
        self.teleport = teleport
        check_choice("filter", filter, ("spectral", "free", "none"))
        shape = (channels,) if gains == "channel" else (1,)
        settings = {"degree": degree} if filter == "spectral" else {}
        self.filter = (
            None
            if filter == "none"
            else make_filter(filter, shape, pagerank_tail(hops, teleport), num_wavelets, **settings)
        )
        self.weight = torch.nn.Parameter(torch.empty(hops + 1))
        self.similar = torch.nn.Parameter(
            torch.empty(check_integer("similar_hops", similar_hops, 0))
        )
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Return to personalised PageRank."""
        powers = torch.arange(self.hops + 1, dtype=self.weight.dtype)
        self.weight.copy_(self.teleport * (1.0 - self.teleport) ** powers)
        self.similar.copy_(_SIMILAR_SHARE * 0.5 ** torch.arange(self.similar.numel()))
        if self.filter is None:
            self.weight[-1] /= self.teleport
        else:
            self.filter.reset_parameters()

    def forward(
        self,
        z: torch.Tensor,
        basis: Basis | None,
        hop: SparseOperator,
        similar: SparseOperator | None = None,
    ) -> torch.Tensor:
        """Propagate the signals `z`; without a filter the basis is not looked at."""
        out = self.weight[0] * z
        if self.filter is not None:
            if basis is None:
                raise InvalidInputError("a wavelet filter needs a basis, got None")
            out = out + self.filter(z, basis)
        out = out + _walk(z, hop, self.weight[1:])
        if not self.similar.numel():
            return out
        if similar is None:
            raise InvalidInputError("hops between nodes that are alike need their operator")
        return out + _walk(z, similar, self.similar)

    def extra_repr(self) -> str:
        """Describe the propagation."""
        return f"hops={self.hops}, teleport={self.teleport}"


def _walk(z: torch.Tensor, hop: SparseOperator, weights: torch.Tensor) -> torch.Tensor:
    """Return the sum of hops 1, 2, ... with the given weights."""
    out = torch.zeros_like(z)
    for weight in weights:
        z = hop(z)
        out = out + weight * z
    return out
