"""From rotations to the core-diagonal H and the error, on sparse rows."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .sparse_rotation import gather_rows, union_of_rows, write_back
from .sparse_rows import rows_from_csr

__all__ = ["compress_sparse"]


@jit
def compress_sparse(
    indptr, indices, data, offsets, groups, block_offsets, blocks,
    drop_offsets, wavelets, core, tolerance,
):  # fmt: skip
    """Rotate the active rows level by level; what is dropped leaves, what is left is the core.

    Returns the diagonal of H, the core block, the squared error, and the squared norm of the
    entries discarded because they were below `tolerance` relative to their rows.
    """
    n = indptr.size - 1
    columns, values, start, length, room, used = rows_from_csr(indptr, indices, data)
    energy = np.zeros(n)
    for r in range(n):
        for q in range(start[r], start[r] + length[r]):
            energy[r] += values[q] * values[q]
    slot = np.full(n, -1, np.int64)
    union = np.empty(n, np.int64)
    diagonal = np.zeros(n)
    squared_error = 0.0
    lost = 0.0
    for level in range(offsets.size - 1):
        rows = groups[offsets[level] : offsets[level + 1]]
        size = rows.size
        rotation = blocks[block_offsets[level] : block_offsets[level + 1]].reshape((size, size))
        width = union_of_rows(columns, start, length, rows, slot, union)
        dense = gather_rows(columns, values, start, length, rows, slot, width)
        rotated = rotation @ dense
        corner = np.ascontiguousarray(rotated[:, :size]) @ rotation.T
        for a in range(size):
            for b in range(size):
                rotated[a, b] = 0.5 * (corner[a, b] + corner[b, a])
        leaving = np.zeros(size, np.bool_)
        for q in range(drop_offsets[level], drop_offsets[level + 1]):
            leaving[slot[wavelets[q]]] = True
        for a in range(size):
            if leaving[a]:
                diagonal[rows[a]] = rotated[a, a]
                for q in range(width):
                    if q >= size or not leaving[q]:
                        squared_error += 2.0 * rotated[a, q] * rotated[a, q]
                    elif q != a:
                        squared_error += rotated[a, q] * rotated[a, q]
        columns, values, used, discarded = write_back(
            columns, values, start, length, room, used,
            energy, rows, leaving, rotated, union, width, slot, tolerance,
        )  # fmt: skip
        lost += discarded
        for q in range(width):
            slot[union[q]] = -1
        for a in range(size):
            if leaving[a]:
                length[rows[a]] = 0
    block = np.zeros((core.size, core.size))
    for a in range(core.size):
        slot[core[a]] = a
    for a in range(core.size):
        for q in range(start[core[a]], start[core[a]] + length[core[a]]):
            block[a, slot[columns[q]]] = values[q]
        diagonal[core[a]] = block[a, a]
    return diagonal, block, squared_error, lost
