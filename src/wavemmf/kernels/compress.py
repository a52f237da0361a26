"""From rotations to H and the exact error (Eq. 2 of the paper), on a dense matrix."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .planes import turn_symmetric
from .rotate import TILE, rotate_symmetric

__all__ = ["compress_dense"]


@jit
def compress_dense(matrix, offsets, groups, block_offsets, blocks, drop_offsets, buffer, support):
    """Apply all levels to `matrix` in place and return the squared error each level adds.

    Coordinates are in elimination order, the core first and the first wavelet last, so that the
    active part is the leading block. Of every level, only that block is rotated.
    """
    levels = offsets.size - 1
    active = matrix.shape[0]
    added = np.zeros(levels)
    for level in range(levels):
        rows = groups[offsets[level] : offsets[level + 1]]
        size = rows.size
        entries = blocks[block_offsets[level] : block_offsets[level + 1]]
        if entries.size < size * size:
            turn_symmetric(matrix, rows, entries, size, active, support)
        else:
            block = entries.reshape((size, size))
            rotate_symmetric(matrix, rows, block, size, active, buffer, support)
        remaining = active - (drop_offsets[level + 1] - drop_offsets[level])
        for i in range(remaining, active):
            row = matrix[i]
            total = 0.0
            for j in range(remaining):
                total += row[j] * row[j]
            among = 0.0
            for j in range(remaining, i):
                among += row[j] * row[j]
            added[level] += 2.0 * (total + among)
        active = remaining
    return added


def compress_scratch(largest: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Work space for `rotate_symmetric` with groups of up to `largest` rows."""
    return np.empty((max(largest, 1), TILE)), np.empty(n, np.int64)
