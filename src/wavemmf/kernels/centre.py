"""Which multiple of the identity is added to a matrix before rows are compared.

Adding ``s I`` to a matrix changes no wavelet, no residual and no error, but it does change Gram
matrices, and with them which rows look alike. So the diagonal is first given a mean of its
own: zero, plus an amount that the other entries decide. On Laplacians that is about the mean they
have; on adjacency matrices it tells apart the eigenvalues of opposite sign that squaring would
throw together.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["centre_dense", "centre_sparse"]


@jit
def centre_dense(matrix):
    """Add a multiple of the identity in place; returns it, and the mean the diagonal now has."""
    n = matrix.shape[0]
    mean = total = squares = 0.0
    for i in range(n):
        mean += matrix[i, i]
        for j in range(n):
            if j != i:
                total += abs(matrix[i, j])
                squares += matrix[i, j] * matrix[i, j]
    added, shift = _amounts(mean, total, squares, n)
    for i in range(n):
        matrix[i, i] += added
    return added, shift


@jit
def centre_sparse(indptr, indices, data):
    """Like `centre_dense`; every row must have its diagonal entry."""
    n = indptr.size - 1
    mean = total = squares = 0.0
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            if indices[q] == i:
                mean += data[q]
            else:
                total += abs(data[q])
                squares += data[q] * data[q]
    added, shift = _amounts(mean, total, squares, n)
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            if indices[q] == i:
                data[q] += added
    return added, shift


@jit
def _amounts(mean, total, squares, n):
    """The new mean lies between the sum of a row's magnitudes and its norm, on average."""
    if n == 0:
        return 0.0, 0.0
    shift = np.sqrt(1.5 * (total / n) * np.sqrt(squares / n))
    return shift - mean / n, shift
