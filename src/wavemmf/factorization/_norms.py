"""Frobenius norms that neither overflow nor underflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["frobenius_norm", "power_of_two_scale", "relative_norm"]


def power_of_two_scale(matrix: Any) -> float:
    """Return the power of two next to the largest magnitude (1 for a zero matrix).

    Dividing by it is exact and brings the entries close to one, so that their squares stay
    in range whatever the units of the matrix are.

    Examples
    --------
    >>> power_of_two_scale(np.array([3.0, -5.0]))
    8.0
    """
    values = matrix.data if sp.issparse(matrix) else np.asarray(matrix)
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, max(min(exponent, 1023), -1021))


def frobenius_norm(matrix: Any) -> float:
    """Return the Frobenius norm of an array or a sparse matrix.

    Examples
    --------
    >>> frobenius_norm(np.array([1e200, 0.0]))
    1e+200
    """
    scale = power_of_two_scale(matrix)
    values = matrix.data if sp.issparse(matrix) else np.asarray(matrix)
    return scale * float(np.linalg.norm((values / scale).ravel()))


def relative_norm(part: float, whole: float) -> float:
    """Return ``part / whole``: 0 if there is nothing, infinite for a part of nothing.

    Examples
    --------
    >>> relative_norm(1.0, 4.0), relative_norm(0.0, 0.0), relative_norm(1.0, 0.0)
    (0.25, 0.0, inf)
    """
    if part == 0.0:
        return 0.0
    return part / whole if whole else math.inf
