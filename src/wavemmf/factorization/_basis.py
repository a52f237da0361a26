"""The rows of W, written out: the basis as a sparse matrix, single rows, and what takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_memory
from ..errors import InvalidInputError
from ..kernels.basis import basis_rows
from ._core_diagonal import CoreDiagonal
from ._fill import check_basis_memory
from ._rotations import Floats, Integers, Rotations
from ._transform import transform, transform_scratch

__all__ = ["basis_matrix", "diagonal_of_product", "rows_of_basis"]

# Entries of the basis up to this size are rounding noise of rows of unit length.
_NOISE = 1e-14
# Entries of the core's rows of the basis that are made dense at a time.
_COLUMNS = 1_000_000


def basis_matrix(rotations: Rotations, threshold: float = 0.0) -> tuple[sp.csr_array, float]:
    """Return W without entries up to `threshold`, and the Frobenius norm of what was left out.

    Examples
    --------
    >>> basis_matrix(Rotations.from_levels(2, [], [], []))[0].toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    if not (np.isreal(threshold) and threshold >= 0):
        raise InvalidInputError(f"threshold must be >= 0, got {threshold!r}")
    r = rotations
    check_basis_memory(r)
    indptr, indices, data, discarded = basis_rows(
        r.n, r.offsets, r.groups, r.block_offsets, r.blocks, max(float(threshold), _NOISE)
    )
    matrix = sp.csr_array((data, indices, indptr), shape=(r.n, r.n))
    matrix.sort_indices()
    return matrix, float(np.sqrt(discarded))


def rows_of_basis(rotations: Rotations, coordinates: Integers) -> Floats:
    """Return the rows of W of the given coordinates, dense.

    Examples
    --------
    >>> rows_of_basis(Rotations.from_levels(2, [], [], []), np.array([1]))
    array([[0., 1.]])
    """
    n = rotations.n
    needed = 4 * 8 * n * coordinates.size + transform_scratch(n)
    check_memory(needed, f"{coordinates.size} rows of the basis of {n} coordinates")
    unit = np.zeros((n, coordinates.size))
    unit[coordinates, np.arange(coordinates.size)] = 1.0
    return np.ascontiguousarray(transform(rotations, unit, None, forward=False).T)


def diagonal_of_product(w: Any, h: CoreDiagonal) -> Floats:
    """Return the diagonal of ``W.T H W``, for W as a sparse array.

    Examples
    --------
    >>> diagonal_of_product(sp.eye_array(2, format="csr"), CoreDiagonal([3.0, 1.0], [[1.0]], [1]))
    array([3., 1.])
    """
    core = h.core_indices
    fathers = w[core]
    columns = max(1, _COLUMNS // max(1, core.size))
    needed = 8 * w.nnz + 16 * fathers.nnz + 4 * 8 * max(_COLUMNS, core.size)
    check_memory(needed, f"the diagonal, from a basis of {w.nnz} numbers")
    outside = h.diagonal.copy()
    outside[core] = 0.0
    squared = sp.csr_array((w.data**2, w.indices, w.indptr), shape=w.shape)
    result = np.asarray(squared.T @ outside)
    inside = sp.csc_array(fathers)
    for first in range(0, h.n, columns):  # dense, but few columns at a time
        part = inside[:, first : first + columns].toarray()
        result[first : first + columns] += np.einsum("ij,ij->j", part, h.core @ part)
    return result
