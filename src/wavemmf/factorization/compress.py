"""Given a matrix and rotations, compute H and the exact error of the approximation."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.basis import basis_rows
from ..kernels.compress import compress_dense, scratch
from ..validation import Matrix, check_memory
from .norms import frobenius_norm, power_of_two_scale
from .rotations import Floats, Rotations

__all__ = ["compress"]

# The error follows from ||A||^2 - ||H||^2 unless so little is left of it that the subtraction
# would lose its digits; then the off-core entries are summed directly.
_TRUST_THE_DIFFERENCE = 1e-8


def compress(matrix: Matrix, rotations: Rotations) -> tuple[Floats, Floats, float]:
    """Return the diagonal of ``W A W.T``, its core block, and the Frobenius error.

    The error is that of ``W.T H W`` with H the core-diagonal part of ``W A W.T``, the best H for
    these rotations. Both paths are exact: dense matrices are rotated level by level,
    sparse ones are projected on the sparse rows of the basis.
    """
    scale = power_of_two_scale(matrix)
    scaled: Any = matrix / scale
    if sp.issparse(scaled):
        diagonal, core, error = _compress_sparse(scaled, rotations)
    else:
        diagonal, core, error = _compress_dense(scaled, rotations)
    return diagonal * scale, core * scale, error * scale


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
        *scratch(int(rotations.sizes.max(initial=1)), rotations.n),
    )
    diagonal = np.empty(rotations.n)
    diagonal[order] = work.diagonal()
    size = rotations.core.size
    return diagonal, work[:size, :size].copy(), float(np.sqrt(added.sum()))


def _compress_sparse(matrix: Any, rotations: Rotations) -> tuple[Floats, Floats, float]:
    size = rotations.core.size
    check_memory(8 * size * size, f"the dense core of {size} rows")
    indptr, indices, data, _ = basis_rows(
        rotations.n,
        rotations.offsets,
        rotations.groups,
        rotations.block_offsets,
        rotations.blocks,
        0.0,
    )
    basis = sp.csr_array((data, indices, indptr), shape=(rotations.n, rotations.n))
    image = basis @ matrix
    diagonal = np.asarray(image.multiply(basis).sum(axis=1)).ravel()
    core = (image[rotations.core] @ basis[rotations.core].T).toarray()
    core = 0.5 * (core + core.T)
    diagonal[rotations.core] = core.diagonal()
    kept = np.delete(diagonal, rotations.core)
    total = frobenius_norm(matrix) ** 2
    squared_error = total - float(kept @ kept) - frobenius_norm(core) ** 2
    if squared_error <= _TRUST_THE_DIFFERENCE * total:
        squared_error = _off_core_energy(image, basis, rotations.core)
    return diagonal, core, float(np.sqrt(max(squared_error, 0.0)))


def _off_core_energy(image: Any, basis: Any, core: Any) -> float:
    rotated = (image @ basis.T).tocoo()
    in_core = np.zeros(basis.shape[0], bool)
    in_core[core] = True
    row, column = rotated.coords
    outside = (row != column) & ~(in_core[row] & in_core[column])
    return float(np.sum(rotated.data[outside] ** 2))
