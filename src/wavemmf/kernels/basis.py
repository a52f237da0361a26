"""The wavelet basis as sparse rows, from the rotations alone."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .planes import turn_rows
from .sparse_rows import ensure_room

__all__ = ["basis_rows"]


@jit
def basis_rows(n, offsets, groups, block_offsets, blocks, threshold):
    """Rows of ``U_L ... U_1`` in CSR form, without entries of magnitude up to `threshold`.

    Each level replaces a few rows by combinations of themselves, so the work is proportional to
    the fill and nothing n-by-n is formed. Also returns the squared norm of what was left out.
    """
    columns = np.empty(3 * n + 64, np.int32)
    values = np.empty(columns.size)
    start = 2 * np.arange(n)
    length = np.ones(n, np.int64)
    room = np.full(n, 2, np.int64)
    used = 2 * n
    for r in range(n):
        columns[2 * r] = r
        values[2 * r] = 1.0
    slot = np.full(n, -1, np.int64)
    union = np.empty(n, np.int64)
    for level in range(offsets.size - 1):
        rows = groups[offsets[level] : offsets[level + 1]]
        size = rows.size
        entries = blocks[block_offsets[level] : block_offsets[level + 1]]
        width = 0
        for row in rows:
            for q in range(start[row], start[row] + length[row]):
                if slot[columns[q]] < 0:
                    slot[columns[q]] = width
                    union[width] = columns[q]
                    width += 1
        dense = np.zeros((size, width))
        for a in range(size):
            for q in range(start[rows[a]], start[rows[a]] + length[rows[a]]):
                dense[a, slot[columns[q]]] = values[q]
        if entries.size < size * size:
            turn_rows(dense, np.arange(size), entries, size, width)
            rotated = dense
        else:
            rotated = entries.reshape((size, size)) @ dense
        for a in range(size):
            row = rows[a]
            length[row] = 0
            columns, values, used = ensure_room(
                columns, values, start, length, room, used, row, width
            )
            at = start[row]
            for q in range(width):
                if rotated[a, q] != 0.0:
                    columns[at] = union[q]
                    values[at] = rotated[a, q]
                    at += 1
            length[row] = at - start[row]
        for q in range(width):
            slot[union[q]] = -1
    return _pack(columns, values, start, length, threshold)


@jit
def _pack(columns, values, start, length, threshold):
    n = start.size
    indptr = np.zeros(n + 1, np.int64)
    for r in range(n):
        kept = 0
        for q in range(start[r], start[r] + length[r]):
            if abs(values[q]) > threshold:
                kept += 1
        indptr[r + 1] = indptr[r] + kept
    indices = np.empty(indptr[n], np.int32)
    data = np.empty(indptr[n])
    discarded = 0.0
    for r in range(n):
        at = indptr[r]
        for q in range(start[r], start[r] + length[r]):
            if abs(values[q]) > threshold:
                indices[at] = columns[q]
                data[at] = values[q]
                at += 1
            else:
                discarded += values[q] * values[q]
    return indptr, indices, data, discarded
