"""Jacobi's iteration, best entry first and stopped early: a product of rotations of two rows."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .candidates import comparable

__all__ = ["jacobi_iteration"]


@jit
def jacobi_iteration(matrix, basis, rotations):
    """Rotate away the largest entry off the diagonal, so many times; returns how often.

    `matrix` becomes ``basis @ matrix @ basis.T``; `basis`, the identity at first, the product of
    the rotations. Of entries that are equal to nine digits the first is taken.
    """
    n = matrix.shape[0]
    columns, largest = np.zeros(n, np.int64), np.zeros(n)
    for i in range(n):
        _find_largest(matrix, i, columns, largest)
    for done in range(rotations):
        p = np.argmax(largest)
        q = columns[p]
        if largest[p] == 0.0:
            return done
        cosine, sine = _angle(matrix[p, p], matrix[p, q], matrix[q, q])
        _rotate(matrix, p, q, cosine, sine, n)
        _rotate(basis, p, q, cosine, sine, basis.shape[1])
        for i in range(n):
            _rotate_pair(matrix, i, p, q, cosine, sine)
        matrix[p, q] = matrix[q, p] = 0.0
        for i in range(n):
            if i in (p, q) or columns[i] in (p, q):
                _find_largest(matrix, i, columns, largest)
            else:
                _compare(matrix, i, p, columns, largest)
                _compare(matrix, i, q, columns, largest)
    return rotations


@jit
def _angle(first, between, last):
    """Cosine and sine of the smaller rotation that makes a matrix of two rows diagonal."""
    ratio = (last - first) / (2.0 * between)
    tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    if ratio < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    return cosine, tangent * cosine


@jit
def _rotate(rows, p, q, cosine, sine, width):
    for j in range(width):
        a, b = rows[p, j], rows[q, j]
        rows[p, j] = cosine * a - sine * b
        rows[q, j] = sine * a + cosine * b


@jit
def _rotate_pair(matrix, i, p, q, cosine, sine):
    a, b = matrix[i, p], matrix[i, q]
    matrix[i, p] = cosine * a - sine * b
    matrix[i, q] = sine * a + cosine * b


@jit
def _find_largest(matrix, i, columns, largest):
    """The largest entry of a row off the diagonal, and where it is."""
    largest[i] = 0.0
    columns[i] = i
    for j in range(matrix.shape[0]):
        if j != i:
            _compare(matrix, i, j, columns, largest)


@jit
def _compare(matrix, i, j, columns, largest):
    key = comparable(abs(matrix[i, j]))
    if key > largest[i] or (key == largest[i] and key > 0.0 and j < columns[i]):
        largest[i] = key
        columns[i] = j
