"""Signals by their largest coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_finite, check_integer
from ..errors import InvalidInputError
from ..factorization import Factorization
from ._check import as_signals

__all__ = ["BestTerms", "best_terms"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BestTerms:
    """The approximation of signals by their largest coefficients.

    Attributes
    ----------
    signal : ndarray, Series or DataFrame
        The approximation, in the shape of what was given: (n,) or (n, m).
    coefficients : ndarray, Series or DataFrame
        Wavelet coefficients, all but the largest set to zero.
    terms : int
        How many are kept of each signal.
    curve : ndarray
        Of n + 1 rows: the relative error with 0, 1, ..., n terms: it never rises, and ends at zero.
    """

    signal: Any
    coefficients: Any
    terms: int
    curve: Floats

    @property
    def error(self) -> Any:
        """The relative error of the approximation, one number for each signal."""
        reached = self.curve[self.terms]
        return float(reached) if self.curve.ndim == 1 else reached


def best_terms(
    f: Factorization, x: Any, terms: int | None = None, *, share: float | None = None
) -> BestTerms:
    r"""Approximate signals by their largest wavelet coefficients.

    The basis is orthonormal, so no other choice of as many coefficients is closer, and by
    Parseval the relative error is :math:`(\sum_{i>m} c_i^2 / \sum_i c_i^2)^{1/2}` with the
    coefficients sorted by magnitude.

    Parameters
    ----------
    f : Factorization
        The basis.
    x : array of shape (n,) or (n, m), Series or DataFrame
        One signal or m of them; each keeps its own coefficients.
    terms : int, optional
        How many coefficients are kept.
    share : float, optional
        Instead of `terms`: the share of the n coefficients that is kept, rounded.

    Returns
    -------
    BestTerms

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.path(16), core=1)
    >>> best = best_terms(f, np.arange(16.0), 4)
    >>> best.terms, bool(best.error < 0.3), float(best.curve[-1])
    (4, True, 0.0)
    """
    signals, labelled = as_signals(x, f)
    count = _count(f.n, terms, share)
    columns: Floats = np.asarray(f.analyze(signals), np.float64).reshape(f.n, -1)
    order = np.argsort(-np.abs(columns), axis=0, kind="stable")
    curve = _curve(np.take_along_axis(columns, order, axis=0))
    kept: Floats = np.zeros(columns.shape)
    largest = order[:count]
    np.put_along_axis(kept, largest, np.take_along_axis(columns, largest, axis=0), axis=0)
    kept = kept.reshape(signals.shape)
    shape = (f.n + 1, *signals.shape[1:])
    approximated = np.asarray(f.synthesize(kept), np.float64)
    return BestTerms(labelled(approximated), labelled(kept), count, curve.reshape(shape))


def _count(n: int, terms: Any, share: Any) -> int:
    if (terms is None) == (share is None):
        raise InvalidInputError("give either terms, a number of coefficients, or share=")
    if terms is not None:
        return check_integer("terms", terms, 0, n)
    part = check_finite("share", share)
    if not 0.0 <= part <= 1.0:
        raise InvalidInputError(f"share must be between 0 and 1, got {share!r}")
    return round(part * n)


def _curve(ranked: Floats) -> Floats:
    """Return relative errors from coefficients in descending order of magnitude, one per column."""
    largest = np.abs(ranked).max(axis=0, initial=0.0)
    unit = ranked / np.where(largest > 0.0, largest, 1.0)
    # Added up from the smallest, so that small errors are right, and never rise.
    tails = np.cumsum(unit[::-1] ** 2, axis=0)[::-1]
    tails = np.concatenate([tails, np.zeros((1, ranked.shape[1]))])
    return np.sqrt(tails / np.where(tails[0] > 0.0, tails[0], 1.0))
