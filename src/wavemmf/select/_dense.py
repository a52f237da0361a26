"""Products and inverses of dense matrices, the same to the last bit on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.multiply import PANEL, multiply
from ..parallel.threads import run_all

__all__ = ["inverse", "multiplied", "square"]

Floats = npt.NDArray[np.float64]

# Tiles of columns of one piece of work: it does not depend on the number of threads, so that sums
# do not either.
_TILES = 4
# Matrices up to this size are inverted column by column.
_SMALL = 32


def multiplied(left: Floats, right: Floats) -> Floats:
    """Return the product of two dense matrices, columns side by side on all threads.

    Examples
    --------
    >>> multiplied(np.array([[0.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[8.]])
    """
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    rows, columns = left.shape[0], right.shape[1]
    result = np.empty((rows, columns))
    bounds = range(0, columns, _TILES * PANEL)
    shared: tuple[Any, ...] = (left, right, rows, right.shape[0], result)
    run_all(multiply, [(*shared, i, min(columns, i + _TILES * PANEL)) for i in bounds])
    return result


def square(matrix: Floats) -> Floats:
    """Return the square of a dense matrix.

    Examples
    --------
    >>> square(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[4., 0.],
           [0., 4.]])
    """
    return multiplied(matrix, matrix)


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric positive definite matrix, symmetric to the last bit.

    The inverse of the first half of the rows, and of the Schur complement of the other half, by
    the same again: 2/3 n^3 multiplications, nearly all of them in products.

    Examples
    --------
    >>> inverse(np.array([[2.0, 1.0], [1.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    n = matrix.shape[0]
    if n <= _SMALL:
        return _symmetric(_by_columns(np.array(matrix)))
    half = n // 2
    upper = inverse(matrix[:half, :half])
    beside = matrix[:half, half:]
    image = multiplied(upper, beside)
    lower = inverse(matrix[half:, half:] - multiplied(beside.T, image))
    weighted = multiplied(image, lower)
    result = np.empty((n, n))
    result[:half, :half] = _symmetric(upper + multiplied(weighted, image.T))
    result[:half, half:] = -weighted
    result[half:, :half] = -weighted.T
    result[half:, half:] = lower
    return result


def _by_columns(matrix: Floats) -> Floats:
    """Gauss and Jordan, in place; a positive definite matrix needs no pivoting."""
    for p in range(matrix.shape[0]):
        pivot, column = matrix[p, p], matrix[:, p].copy()
        row = matrix[p] / pivot
        matrix -= np.outer(column, row)
        matrix[p], matrix[:, p] = row, -column / pivot
        matrix[p, p] = 1.0 / pivot
    return matrix


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
