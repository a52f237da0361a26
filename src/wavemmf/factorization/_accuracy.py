"""Whether an approximation is accurate enough for its inverse and its determinant to mean much."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..errors import AccuracyWarning
from ._core_diagonal import CoreDiagonal

__all__ = ["expected_error", "warn_if_rough"]

# From here on a solution is off by about half of itself.
_ROUGH = 0.5


def expected_error(h: CoreDiagonal, residual_norm: float, shift: float = 0.0) -> float:
    r"""Return about how far a solution of a system is off, relative to itself.

    With :math:`E = A - M` the error of a solution x is :math:`M^{-1} E x` to first order. For an E
    without direction its norm is that of x times :math:`\|E\|_F / \sqrt n` and the root mean
    square of the inverse eigenvalues of M. Of a sparse core the diagonal is looked at.

    Examples
    --------
    >>> h = CoreDiagonal([2.0, 2.0], [[2.0]], [0])
    >>> round(expected_error(h, residual_norm=2.0**0.5), 12)
    0.5
    """
    if residual_norm == 0.0 or h.n == 0:
        return 0.0
    values = (h.diagonal if sp.issparse(h.core) else h.spectrum.values) + shift
    smallest = float(np.abs(values).min())
    if smallest == 0.0:
        return float("inf")
    # In units of the smallest, so that squares stay in range.
    inverse = float(np.sqrt(np.mean((smallest / values) ** 2)))
    return residual_norm / float(np.sqrt(h.n)) * inverse / smallest


def warn_if_rough(h: CoreDiagonal, residual_norm: float, shift: float, what: str) -> None:
    """Say so if the approximation is too rough for what is asked of it."""
    expected = expected_error(h, residual_norm, shift)
    if expected > _ROUGH:
        warnings.warn(
            f"the approximation is too rough for {what}: a relative error of about "
            f"{expected:.0%} is to be expected, because its error, {residual_norm:.3g}, is large "
            "beside its small eigenvalues. A larger core or k, optimize= or a larger shift make "
            "it smaller; systems are solved exactly by conjugate gradients with inv() as "
            "preconditioner",
            AccuracyWarning,
            stacklevel=3,
        )
