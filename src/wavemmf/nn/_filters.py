"""Filters: gains learned for each wavelet (g in Eq. 14 of the paper), or by frequency and level."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch

from .._validation import check_choice, check_integer, check_memory
from ..errors import InputTypeError, InvalidInputError
from ._protocol import Basis
from ._responses import Response, as_response

__all__ = [
    "FILTERS",
    "FreeFilter",
    "HeatFilter",
    "SpectralFilter",
    "WaveletFilter",
    "make_filter",
]

#: Ways of saying what the gains are; see `FreeFilter`, `SpectralFilter` and `HeatFilter`.
FILTERS = ("free", "spectral", "heat")

# A parameter is held six times in training: value, gradient, two moments of Adam, and two numbers
# of the size of all parameters that Adam makes on the way.
_COPIES_IN_TRAINING = 6

# Logarithms of the times that diffusions start with.
_LOG_TIMES = (-1.0, 5.0)

# Halvings of the nodes that scales tell apart.
_HALVINGS = 16


class WaveletFilter(torch.nn.Module, ABC):
    r"""The one layer in which nodes see each other: every wavelet has its gain.

    .. math:: X' = W^T \, g \, W \, X

    Convolutions, propagations and the blocks of networks for graphs all have one of these inside.
    """

    #: For optimisers that let filters move at a rate of their own.
    is_filter: ClassVar[bool] = True
    weight: torch.nn.Parameter

    @abstractmethod
    def reset_parameters(self) -> None:
        """Return to the given response."""

    @abstractmethod
    def gains(self, basis: Basis) -> torch.Tensor:
        """Return the gains of all wavelets, shape ``(n, *channels)``."""

    @abstractmethod
    def mix(self, c: torch.Tensor, basis: Basis) -> torch.Tensor:
        """Apply gains per pair of channels to coefficients, shape (n, in) to (n, out)."""

    def forward(self, x: torch.Tensor, basis: Basis) -> torch.Tensor:
        """Return the signals `x` filtered in `basis`; gains are per channel, or one for all."""
        return basis.filter(x, self.gains(basis))


class FreeFilter(WaveletFilter):
    r"""One learned number per wavelet, added to a given response.

    .. math:: g_i = r(\lambda_i) + \theta_i

    It belongs to one graph: the numbers are those of its wavelets.

    Parameters
    ----------
    num_wavelets : int
        Number of wavelets, the size of the graph.
    channels : tuple of int
        Shape of the gains of one wavelet, () for one gain.
    response : str or callable
        Where the gains start: "heat", "pagerank", "ones", "zeros", or a function of
        frequencies.

    Shapes
    ------
    - input: signals ``(num_wavelets, channels)``, a basis
    - output: ``(num_wavelets, channels)``

    Examples
    --------
    >>> FreeFilter(34, (5,))
    FreeFilter(num_wavelets=34, channels=(5,))
    """

    def __init__(
        self,
        num_wavelets: int,
        channels: tuple[int, ...] = (),
        response: str | Response = "heat",
    ) -> None:
        super().__init__()
        check_integer("num_wavelets", num_wavelets, 1)
        numbers = num_wavelets * math.prod(channels)
        check_memory(
            4 * _COPIES_IN_TRAINING * numbers,
            f"a free filter of {' x '.join(map(str, (num_wavelets, *channels)))} numbers in "
            "training (value, gradient, and four that Adam needs)",
        )
        self.response = as_response(response)
        self.weight = torch.nn.Parameter(torch.empty(num_wavelets, *channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Return to the given response."""
        torch.nn.init.zeros_(self.weight)

    def gains(self, basis: Basis) -> torch.Tensor:
        """Return the gains of all wavelets."""
        return self._start(basis) + self.weight

    def mix(self, c: torch.Tensor, basis: Basis) -> torch.Tensor:
        """Return what gains per pair of channels add to the response, shape (n, out)."""
        self._start(basis)
        return torch.einsum("ni,nio->no", c, self.weight)

    def extra_repr(self) -> str:
        """Describe the size."""
        return f"num_wavelets={self.weight.shape[0]}, channels={tuple(self.weight.shape[1:])}"

    def _start(self, basis: Basis) -> torch.Tensor:
        if basis.n != self.weight.shape[0]:
            raise InvalidInputError(
                f"this filter has gains for {self.weight.shape[0]} wavelets, the basis has "
                f"{basis.n}; filter='spectral' fits any basis"
            )
        start = self.response(basis.frequencies).to(self.weight.dtype)
        return start.view(-1, *[1] * (self.weight.ndim - 1))


class SpectralFilter(WaveletFilter):
    r"""Gains that are a learned function of frequency, level and scale, for any graph.

    .. math:: g(\lambda, t) = \sum_{m=0}^{M} \sum_{q=0}^{Q} \sum_{p=0}^{P} \theta_{mqp} \,
        T_m(2 s - 1) \, T_q(2 t - 1) \, T_p(2 u - 1)

    with Chebyshev polynomials :math:`T`, the frequency s scaled to [0, 1], the level t in (0, 1],
    1 for the last level and the core, and the scale :math:`u = -\tfrac{1}{16} \log_2(1 - t)`, at
    most 1: how often the nodes have been halved when the wavelet is dropped. Wavelets of the last
    levels differ much in scale and hardly in level. It starts at a given response of the
    frequency (its interpolant of degree M).

    Parameters
    ----------
    channels : tuple of int
        Shape of the gains of one wavelet, () for one gain.
    degree, level_degree, scale_degree : int
        M, Q and P.
    frequency_range : pair of float
        Frequencies that become s = 0 and s = 1; those outside count as the nearest. The same for
        all graphs: the default is that of normalized Laplacians.
    response : str or callable
        Where the gains start; as for `FreeFilter`.

    Shapes
    ------
    - input: signals ``(n, channels)``, a basis
    - output: ``(n, channels)``

    Examples
    --------
    >>> SpectralFilter((5,))
    SpectralFilter(channels=(5,), degree=10, level_degree=1, scale_degree=0)
    """

    def __init__(
        self,
        channels: tuple[int, ...] = (),
        degree: int = 10,
        level_degree: int = 1,
        frequency_range: tuple[float, float] = (0.0, 2.0),
        response: str | Response = "heat",
        scale_degree: int = 0,
    ) -> None:
        super().__init__()
        self.degree = check_integer("degree", degree, 0)
        self.level_degree = check_integer("level_degree", level_degree, 0)
        self.scale_degree = check_integer("scale_degree", scale_degree, 0)
        low, high = map(float, frequency_range)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidInputError(
                f"frequency_range must be two finite numbers, the lower first, got {low}, {high}"
            )
        self.frequency_range = (low, high)
        self.response = as_response(response)
        terms = (self.degree + 1) * (self.level_degree + 1) * (self.scale_degree + 1)
        self.weight = torch.nn.Parameter(torch.empty(terms, *channels))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Return to the given response."""
        count = self.degree + 1
        angles = math.pi * (torch.arange(count, dtype=torch.float64) + 0.5) / count
        low, high = self.frequency_range
        values = self.response(low + (high - low) * 0.5 * (torch.cos(angles) + 1.0))
        orders = torch.arange(count, dtype=torch.float64)[:, None]
        coefficients = (2.0 / count) * (torch.cos(orders * angles) * values).sum(dim=1)
        coefficients[0] /= 2.0
        self.weight.zero_()
        # Frequencies come last: the leading terms depend neither on the level nor on the scale.
        self.weight[:count] = coefficients.view(-1, *[1] * (self.weight.ndim - 1)).to(self.weight)

    def gains(self, basis: Basis) -> torch.Tensor:
        """Return the gains of all wavelets."""
        return torch.tensordot(self.terms(basis), self.weight, dims=1)

    def mix(self, c: torch.Tensor, basis: Basis) -> torch.Tensor:
        """Return gains per pair of channels applied to coefficients, shape (n, out)."""
        out = c.new_zeros(c.shape[0], self.weight.shape[-1])
        for term, weight in zip(self.terms(basis).T, self.weight, strict=True):
            out = out + (term[:, None] * c) @ weight
        return out

    def terms(self, basis: Basis) -> torch.Tensor:
        """Return the polynomials at all wavelets, shape (n, number of terms)."""
        low, high = self.frequency_range
        s = ((basis.frequencies.to(self.weight.dtype) - low) / (high - low)).clamp(0.0, 1.0)
        t = basis.levels.to(self.weight.dtype)
        terms = _chebyshev(s, self.degree)
        for place, degree in ((t, self.level_degree), (_scale(t), self.scale_degree)):
            terms = (_chebyshev(place, degree)[:, :, None] * terms[:, None, :]).flatten(1)
        return terms

    def extra_repr(self) -> str:
        """Describe the size."""
        channels = tuple(self.weight.shape[1:])
        degrees = f"degree={self.degree}, level_degree={self.level_degree}"
        return f"channels={channels}, {degrees}, scale_degree={self.scale_degree}"


class HeatFilter(WaveletFilter):
    r"""Diffusion for a time that every channel learns: few numbers, any reach, any graph.

    .. math:: g(\lambda) = e^{-\tau \lambda}, \qquad \tau = e^{\theta}

    Times start spread evenly in their logarithm, from less than a hop to most of the graph.

    Parameters
    ----------
    channels : tuple of int
        Shape of the gains of one wavelet, () for one gain.

    Shapes
    ------
    - input: signals ``(n, channels)``, a basis
    - output: ``(n, channels)``

    Examples
    --------
    >>> HeatFilter((5,))
    HeatFilter(channels=(5,))
    """

    def __init__(self, channels: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Return to the times it started with."""
        times = torch.linspace(*_LOG_TIMES, max(self.weight.numel(), 2))[: self.weight.numel()]
        self.weight.copy_(times.view(self.weight.shape))

    def gains(self, basis: Basis) -> torch.Tensor:
        """Return the gains of all wavelets."""
        frequencies = basis.frequencies.to(self.weight.dtype).clamp_min(0.0)
        return torch.exp(-frequencies.view(-1, *[1] * self.weight.ndim) * self.weight.exp())

    def mix(self, c: torch.Tensor, basis: Basis) -> torch.Tensor:
        """Return gains per pair of channels applied to coefficients, shape (n, out)."""
        return torch.einsum("ni,nio->no", c, self.gains(basis))

    def extra_repr(self) -> str:
        """Describe the size."""
        return f"channels={tuple(self.weight.shape)}"


def make_filter(
    kind: str,
    channels: tuple[int, ...],
    response: str | Response,
    num_wavelets: int | None = None,
    **settings: Any,
) -> WaveletFilter:
    """Return a filter by the name of its kind, one of `FILTERS`.

    Parameters
    ----------
    kind : {"free", "spectral", "heat"}
        Which of them it is.
    channels
        As for all of them.
    response
        As for the first two; heat starts with times of its own.
    num_wavelets : int, optional
        Size of the graph; free filters need it, others do not look at it.
    **settings
        Further settings of a `SpectralFilter`; the others have none.

    Examples
    --------
    >>> make_filter("spectral", (1,), "heat", degree=4)
    SpectralFilter(channels=(1,), degree=4, level_degree=1, scale_degree=0)
    """
    if check_choice("filter", kind, FILTERS) == "spectral":
        return SpectralFilter(channels, response=response, **settings)
    if settings:
        raise InputTypeError(f"filter={kind!r} takes no {', '.join(settings)}")
    if kind == "heat":
        return HeatFilter(channels)
    if num_wavelets is None:
        raise InvalidInputError("filter='free' needs num_wavelets, the size of the graph")
    return FreeFilter(num_wavelets, channels, response)


def _scale(levels: torch.Tensor) -> torch.Tensor:
    """Return how often the nodes have been halved, 16 times or more as 1."""
    return -torch.log2((1.0 - levels).clamp_min(2.0**-_HALVINGS)) / _HALVINGS


def _chebyshev(s: torch.Tensor, degree: int) -> torch.Tensor:
    """Return the Chebyshev polynomials of degrees 0 to `degree` of ``2 s - 1``, one per column."""
    angle = torch.arccos((2.0 * s - 1.0).clamp(-1.0, 1.0))
    orders = torch.arange(degree + 1, dtype=s.dtype, device=s.device)
    return torch.cos(angle[:, None] * orders)
