"""Products of small matrices, added up in the same order everywhere.

A library would choose its order of summation by the processor.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["congruence", "product", "products"]


@jit
def product(left, right):
    """``left @ right``."""
    result = np.zeros((left.shape[0], right.shape[1]), left.dtype)
    for a in range(left.shape[0]):
        for b in range(left.shape[1]):
            weight = left[a, b]
            for j in range(right.shape[1]):
                result[a, j] += weight * right[b, j]
    return result


@jit
def congruence(rows, matrix):
    """``rows @ matrix @ rows.T`` of a symmetric matrix, symmetric to the last bit."""
    count, size = rows.shape
    half = product(rows, matrix)
    result = np.empty((count, count))
    for a in range(count):
        for b in range(a + 1):
            total = 0.0
            for j in range(size):
                total += half[a, j] * rows[b, j]
            result[a, b] = total
            result[b, a] = total
    return result


@jit
def products(rows, matrix, vector):
    """``rows @ matrix @ vector``."""
    count, size = rows.shape
    image = np.zeros(size)
    for b in range(size):
        for j in range(size):
            image[j] += vector[b] * matrix[b, j]
    result = np.zeros(count)
    for a in range(count):
        for j in range(size):
            result[a] += rows[a, j] * image[j]
    return result
