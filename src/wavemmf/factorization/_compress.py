"""From a matrix and rotations to H and the exact error (Eq. 2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import Matrix, check_memory
from ..kernels.compress import compress_dense, compress_scratch
from ._core_diagonal import CoreDiagonal
from ._norms import power_of_two_scale
from ._project import project
from ._rotations import Floats, Rotations

__all__ = ["compress_matrix"]

# Sparse matrices up to this size are compressed densely, which is faster there.
_DENSE_UP_TO = 3000


def compress_matrix(matrix: Matrix, rotations: Rotations) -> tuple[CoreDiagonal, float]:
    """Return H, the core-diagonal part of ``W A W.T``, and the Frobenius error of ``W.T H W``.

    This is the best H for these rotations. The matrix is rotated level by level as a dense array;
    if it is large and sparse, only the entries of H are computed. Both give the error exactly, up
    to rounding.
    """
    n, size = rotations.n, rotations.core.size
    if sp.issparse(matrix) and n > _DENSE_UP_TO:
        check_memory(20 * size * size, f"the dense core of {size} rows")
        return project(matrix, rotations)
    check_memory(8 * (3 * n * n + 2 * size * size), f"the exact error of {n} rows")
    scale = power_of_two_scale(matrix)
    scaled: Any = matrix / scale
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    diagonal, core, error = _compress_dense(dense, rotations)
    diagonal *= scale
    core *= scale  # in its place: it may be as large as the matrix
    return CoreDiagonal(diagonal, core, rotations.core), error * scale


def _compress_dense(matrix: Floats, rotations: Rotations) -> tuple[Floats, Floats, float]:
    order = rotations.elimination_order
    position = np.empty(rotations.n, np.int64)
    position[order] = np.arange(rotations.n)
    work = np.ascontiguousarray(matrix[np.ix_(order, order)])
    added = compress_dense(
        work,
        rotations.offsets,
        position[rotations.groups],
        rotations.block_offsets,
        rotations.blocks,
        rotations.drop_offsets,
        *compress_scratch(int(rotations.sizes.max(initial=1)), rotations.n),
    )
    diagonal = np.empty(rotations.n)
    diagonal[order] = work.diagonal()
    size = rotations.core.size
    return diagonal, work[:size, :size].copy(), float(np.sqrt(added.sum()))
