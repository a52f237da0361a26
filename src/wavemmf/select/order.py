"""Number the rows of a matrix by what they are, so that results do not depend on their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization import Rotations
from ..kernels.canonical import canonical_order, dense_to_csr, row_values, shuffled

__all__ = ["in_canonical_order", "renumbered"]

# Larger dense matrices keep their order: it would take as much memory again.
_LARGEST_DENSE = 3000


def in_canonical_order(matrix: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return the matrix with rows and columns in canonical order, and the order.

    Row i of what is returned is row ``order[i]`` of what was given. The rows come in an order that
    looks random: neighbours in a sorted one would be alike, and ties be decided all alike.

    Examples
    --------
    >>> path = np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1)
    >>> mixed = path[[2, 0, 3, 1]][:, [2, 0, 3, 1]]
    >>> bool((in_canonical_order(path)[0] == in_canonical_order(mixed)[0]).all())
    True
    """
    n = matrix.shape[0]
    if not sp.issparse(matrix):
        if n > _LARGEST_DENSE:
            return matrix, np.arange(n)
        entries = dense_to_csr(matrix)
    else:
        entries = (matrix.indptr, matrix.indices, matrix.data)
    order = shuffled(canonical_order(*entries, row_values(*entries)), 0)
    if not sp.issparse(matrix):
        return np.ascontiguousarray(matrix[np.ix_(order, order)]), order
    ordered = sp.csr_array(matrix[order][:, order])
    ordered.sort_indices()
    return ordered, order


def renumbered(rotations: Rotations, order: npt.NDArray[np.int64]) -> Rotations:
    """Return rotations of a matrix in canonical order as rotations of the matrix as it was given.

    Examples
    --------
    >>> r = Rotations.from_levels(3, [[0, 1]], [np.eye(2)], [[1]])
    >>> renumbered(r, np.array([2, 0, 1])).groups
    array([2, 0])
    """
    return replace(rotations, groups=order[rotations.groups], wavelets=order[rotations.wavelets])
