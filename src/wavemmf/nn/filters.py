"""Learned gains of wavelets (g in Eq. 14 of the paper), or functions of frequency and level."""

from __future__ import annotations

import math

import torch

from ..errors import InvalidInputError
from ..validation import check_integer, check_memory
from .basis import WaveletBasis
from .responses import Response, as_response

__all__ = ["FreeFilter", "SpectralFilter"]

# A parameter is held four times in training: value, gradient, and two moments of Adam.
_COPIES_IN_TRAINING = 4


class FreeFilter(torch.nn.Module):
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
        Where the gains start; see `wavemmf.nn.RESPONSES`.

    Shapes
    ------
    - output: ``(num_wavelets, *channels)``

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
            "training (value, gradient, two moments)",
        )
        self.response = as_response(response)
        self.weight = torch.nn.Parameter(torch.empty(num_wavelets, *channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Return to the given response."""
        torch.nn.init.zeros_(self.weight)

    def forward(self, basis: WaveletBasis) -> torch.Tensor:
        """Return the gains of all wavelets."""
        return self._start(basis) + self.weight

    def mix(self, c: torch.Tensor, basis: WaveletBasis) -> torch.Tensor:
        """Return what gains per pair of channels add to the response, shape (n, out)."""
        self._start(basis)
        return torch.einsum("ni,nio->no", c, self.weight)

    def extra_repr(self) -> str:
        """Describe the size."""
        return f"num_wavelets={self.weight.shape[0]}, channels={tuple(self.weight.shape[1:])}"

    def _start(self, basis: WaveletBasis) -> torch.Tensor:
        if basis.n != self.weight.shape[0]:
            raise InvalidInputError(
                f"this filter has gains for {self.weight.shape[0]} wavelets, the basis has "
                f"{basis.n}; filter='spectral' fits any basis"
            )
        start = self.response(basis.frequencies).to(self.weight.dtype)
        return start.view(-1, *[1] * (self.weight.ndim - 1))


class SpectralFilter(torch.nn.Module):
    r"""Gains that are a learned function of frequency and level, for any graph.

    .. math:: g(\lambda, t) = \sum_{m=0}^{M} \sum_{q=0}^{Q} \theta_{mq} \, T_m(2 s - 1) \,
        T_q(2 t - 1)

    with Chebyshev polynomials :math:`T`, the frequency s scaled to [0, 1] and the level
    t in (0, 1], 1 for the last level and the core. It starts at a given response of the frequency
    (its interpolant of degree M).

    Parameters
    ----------
    channels : tuple of int
        Shape of the gains of one wavelet, () for one gain.
    degree, level_degree : int
        M and Q.
    frequency_range : pair of float
        Frequencies that become s = 0 and s = 1; those outside count as the nearest. The same for
        all graphs: the default is that of normalized Laplacians.
    response : str or callable
        Where the gains start; see `wavemmf.nn.RESPONSES`.

    Shapes
    ------
    - output: ``(n, *channels)``

    Examples
    --------
    >>> SpectralFilter((5,))
    SpectralFilter(channels=(5,), degree=10, level_degree=1)
    """

    def __init__(
        self,
        channels: tuple[int, ...] = (),
        degree: int = 10,
        level_degree: int = 1,
        frequency_range: tuple[float, float] = (0.0, 2.0),
        response: str | Response = "heat",
    ) -> None:
        super().__init__()
        self.degree = check_integer("degree", degree, 0)
        self.level_degree = check_integer("level_degree", level_degree, 0)
        low, high = map(float, frequency_range)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidInputError(
                f"frequency_range must be two finite numbers, the lower first, got {low}, {high}"
            )
        self.frequency_range = (low, high)
        self.response = as_response(response)
        terms = (self.degree + 1) * (self.level_degree + 1)
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
        # Terms are ordered by level degree first: the leading ones do not depend on the level.
        self.weight[:count] = coefficients.view(-1, *[1] * (self.weight.ndim - 1)).to(self.weight)

    def forward(self, basis: WaveletBasis) -> torch.Tensor:
        """Return the gains of all wavelets."""
        return torch.tensordot(self.terms(basis), self.weight, dims=1)

    def mix(self, c: torch.Tensor, basis: WaveletBasis) -> torch.Tensor:
        """Return gains per pair of channels applied to coefficients, shape (n, out)."""
        out = c.new_zeros(c.shape[0], self.weight.shape[-1])
        for term, weight in zip(self.terms(basis).T, self.weight, strict=True):
            out = out + (term[:, None] * c) @ weight
        return out

    def terms(self, basis: WaveletBasis) -> torch.Tensor:
        """Return the polynomials at all wavelets, shape (n, number of terms)."""
        low, high = self.frequency_range
        s = ((basis.frequencies.to(self.weight.dtype) - low) / (high - low)).clamp(0.0, 1.0)
        level = basis.levels.to(self.weight.dtype)
        t = torch.where(level > 0, level / level.max().clamp(min=1.0), torch.ones_like(level))
        frequency, position = _chebyshev(s, self.degree), _chebyshev(t, self.level_degree)
        return (position[:, :, None] * frequency[:, None, :]).flatten(1)

    def extra_repr(self) -> str:
        """Describe the size."""
        channels = tuple(self.weight.shape[1:])
        return f"channels={channels}, degree={self.degree}, level_degree={self.level_degree}"


def _chebyshev(s: torch.Tensor, degree: int) -> torch.Tensor:
    """Return the Chebyshev polynomials of degrees 0 to `degree` of ``2 s - 1``, one per column."""
    angle = torch.arccos((2.0 * s - 1.0).clamp(-1.0, 1.0))
    orders = torch.arange(degree + 1, dtype=s.dtype, device=s.device)
    return torch.cos(angle[:, None] * orders)
