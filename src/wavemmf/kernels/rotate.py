"""Apply one small orthogonal block to a few rows of an array: the innermost loop of it all."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .simd import fused

__all__ = ["TILE", "mirror_rows", "rotate_group", "rotate_symmetric"]

# Columns handled at once: k input rows and the output row then stay in the first-level cache.
TILE = 256


@jit
def rotate_group(x, rows, block, size, width, buffer):
    """``x[rows, :width] = block @ x[rows, :width]`` with the leading `size` rows and block.

    `buffer` is scratch of shape (at least size, at least TILE). Up to eight input rows are
    combined per pass, so that one store is paid for by eight multiply-adds.
    """
    for left in range(0, width, TILE):
        tile = min(TILE, width - left)
        for a in range(size):
            source = x[rows[a], left : left + tile]
            copied = buffer[a, :tile]
            for j in range(tile):
                copied[j] = source[j]
        for a in range(size):
            _combine_rows(buffer, block[a], size, tile, x[rows[a], left : left + tile])


@jit
def _combine_rows(inputs, weights, size, width, out):
    """``out = weights[:size] @ inputs[:size, :width]``."""
    if size >= 8:
        w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
        w4, w5, w6, w7 = weights[4], weights[5], weights[6], weights[7]
        x0, x1, x2, x3 = inputs[0], inputs[1], inputs[2], inputs[3]
        x4, x5, x6, x7 = inputs[4], inputs[5], inputs[6], inputs[7]
        for j in range(width):
            low = fused(w3, x3[j], fused(w2, x2[j], fused(w1, x1[j], w0 * x0[j])))
            high = fused(w7, x7[j], fused(w6, x6[j], fused(w5, x5[j], w4 * x4[j])))
            out[j] = low + high
        done = 8
    elif size >= 4:
        w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
        x0, x1, x2, x3 = inputs[0], inputs[1], inputs[2], inputs[3]
        for j in range(width):
            out[j] = fused(w3, x3[j], fused(w2, x2[j], fused(w1, x1[j], w0 * x0[j])))
        done = 4
    else:
        w0, x0 = weights[0], inputs[0]
        for j in range(width):
            out[j] = w0 * x0[j]
        done = 1
    while done + 4 <= size:
        w0, w1, w2, w3 = weights[done], weights[done + 1], weights[done + 2], weights[done + 3]
        x0, x1, x2, x3 = inputs[done], inputs[done + 1], inputs[done + 2], inputs[done + 3]
        for j in range(width):
            low = fused(w1, x1[j], fused(w0, x0[j], out[j]))
            out[j] = fused(w3, x3[j], fused(w2, x2[j], low))
        done += 4
    while done < size:
        w0, x0 = weights[done], inputs[done]
        for j in range(width):
            out[j] = fused(w0, x0[j], out[j])
        done += 1


@jit
def rotate_symmetric(matrix, rows, block, size, active, buffer, support):
    """``U @ matrix @ U.T`` on the leading active-by-active part, where U rotates `rows`.

    The rows are rotated first, the columns follow by symmetry, and only the small corner where
    rotated rows meet rotated columns is multiplied a second time. Columns are written only where
    some rotated row is not zero (`support` is scratch for their indices): a write down a column
    misses the cache every time, and the other entries were and stay zero.
    """
    rotate_group(matrix, rows, block, size, active, buffer)
    corner = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            total = 0.0
            for c in range(size):
                total += matrix[rows[a], rows[c]] * block[b, c]
            corner[a, b] = total
    mirror_rows(matrix, rows, corner, size, active, support)


@jit
def mirror_rows(matrix, rows, corner, size, active, support):
    """Write rotated rows into their columns, and the corner where both meet."""
    count = _union_support(matrix, rows, size, active, support)
    for s in range(count):
        j = support[s]
        for a in range(size):
            matrix[j, rows[a]] = matrix[rows[a], j]
    for a in range(size):
        for b in range(a + 1):
            # Averaging keeps the matrix symmetric to the last bit.
            value = 0.5 * (corner[a, b] + corner[b, a])
            matrix[rows[a], rows[b]] = value
            matrix[rows[b], rows[a]] = value


@jit
def _union_support(matrix, rows, size, active, support):
    """Columns in which any of the rows is not zero; returns how many."""
    count = 0
    for j in range(active):
        for a in range(size):
            if matrix[rows[a], j] != 0.0:
                support[count] = j
                count += 1
                break
    return count
