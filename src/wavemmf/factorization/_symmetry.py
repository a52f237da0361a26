"""Symmetry of large arrays, looked at and made a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._rotations import Floats

__all__ = ["asymmetry", "make_symmetric"]

# Entries that are copied at a time.
_ENTRIES = 1_000_000


def asymmetry(matrix: Floats) -> float:
    """Return the largest difference between an entry and its mirror image.

    Examples
    --------
    >>> asymmetry(np.array([[1.0, 2.0], [3.0, 4.0]]))
    1.0
    """
    return max(
        (
            float(np.abs(matrix[rows, rows.start :] - matrix[rows.start :, rows].T).max(initial=0))
            for rows in _rows(len(matrix))
        ),
        default=0.0,
    )


def make_symmetric(matrix: Floats) -> Floats:
    """Average a matrix with its transpose, in its place, and return it.

    Examples
    --------
    >>> make_symmetric(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1. , 2.5],
           [2.5, 4. ]])
    """
    for rows in _rows(len(matrix)):
        # Halved before adding: the sum of two entries near 1e308 would overflow.
        mean = 0.5 * matrix[rows, rows.start :] + 0.5 * matrix[rows.start :, rows].T
        matrix[rows, rows.start :] = mean
        matrix[rows.start :, rows] = mean.T
    return matrix


def _rows(n: int) -> Iterator[slice]:
    count = max(1, _ENTRIES // max(1, n))
    return (slice(first, min(first + count, n)) for first in range(0, n, count))
