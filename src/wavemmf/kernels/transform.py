"""The fast wavelet transform: all rotations in order, or undone in reverse order.

Signals are worked on in tiles of a few columns. A tile is copied into its own contiguous
array, so that its width is a compile-time constant (no loop overhead on the short rows), the
whole tile fits the second-level cache, and several threads never write to one cache line.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit

__all__ = ["TRANSFORM_KERNELS", "apply_block"]


@inline_jit
def _combine_8(x, first, width, w0, w1, w2, w3, w4, w5, w6, w7):
    """Weighted sum of eight entries, `width` apart."""
    return (
        w0 * x[first]
        + w1 * x[first + width]
        + w2 * x[first + 2 * width]
        + w3 * x[first + 3 * width]
        + w4 * x[first + 4 * width]
        + w5 * x[first + 5 * width]
        + w6 * x[first + 6 * width]
        + w7 * x[first + 7 * width]
    )


@inline_jit
def apply_block(x, buffer, groups, first, weights, entry, size, forward, width):
    """Rotate `size` rows of the flat tile `x` by the block at ``weights[entry]``.

    Forward applies the block, backward its transpose, read in place with other strides.
    """
    # Unsigned arithmetic spares the test for negative indices inside the loops.
    for a in range(size):
        source = np.uint64(groups[first + a]) * width
        target = np.uint64(a) * width
        for j in range(width):
            buffer[target + j] = x[source + j]
    step = np.uint64(1) if forward else np.uint64(size)
    row_step = np.uint64(size) if forward else np.uint64(1)
    for a in range(size):
        target = np.uint64(groups[first + a]) * width
        c = np.uint64(entry) + np.uint64(a) * row_step
        done = 0
        if size < 8:
            w0 = weights[c]
            for j in range(width):
                x[target + j] = w0 * buffer[j]
            done = 1
        while done + 8 <= size:
            here = c + np.uint64(done) * step
            w0, w1 = weights[here], weights[here + step]
            w2, w3 = weights[here + 2 * step], weights[here + 3 * step]
            w4, w5 = weights[here + 4 * step], weights[here + 5 * step]
            w6, w7 = weights[here + 6 * step], weights[here + 7 * step]
            row = np.uint64(done) * width
            if done == 0:
                for j in range(width):
                    x[target + j] = _combine_8(
                        buffer, row + j, width, w0, w1, w2, w3, w4, w5, w6, w7
                    )
            else:
                for j in range(width):
                    x[target + j] += _combine_8(
                        buffer, row + j, width, w0, w1, w2, w3, w4, w5, w6, w7
                    )
            done += 8
        while done + 3 <= size:
            here = c + np.uint64(done) * step
            w0, w1, w2 = weights[here], weights[here + step], weights[here + 2 * step]
            row = np.uint64(done) * width
            for j in range(width):
                x[target + j] += (
                    w0 * buffer[row + j]
                    + w1 * buffer[row + width + j]
                    + w2 * buffer[row + 2 * width + j]
                )
            done += 3
        while done < size:
            w0 = weights[c + np.uint64(done) * step]
            row = np.uint64(done) * width
            for j in range(width):
                x[target + j] += w0 * buffer[row + j]
            done += 1


@inline_jit
def _transform(x, out, start, stop, offsets, groups, block_offsets, blocks, forward, tile):
    """Transform the columns of `x` from `start` to `stop` into `out`, `tile` at a time."""
    n = x.shape[0]
    levels = offsets.size - 1
    largest = 1
    for level in range(levels):
        largest = max(largest, offsets[level + 1] - offsets[level])
    work = np.empty(n * tile, out.dtype)
    buffer = np.empty(largest * tile, out.dtype)
    width = np.uint64(tile)
    for left in range(start, stop, tile):
        columns = min(tile, stop - left)
        for i in range(n):
            for j in range(columns):
                work[i * tile + j] = x[i, left + j]
            for j in range(columns, tile):
                work[i * tile + j] = 0
        for step in range(levels):
            level = step if forward else levels - 1 - step
            first = offsets[level]
            size = offsets[level + 1] - first
            entry = block_offsets[level]
            apply_block(work, buffer, groups, first, blocks, entry, size, forward, width)
        for i in range(n):
            for j in range(columns):
                out[i, left + j] = work[i * tile + j]


@jit
def _transform_1(x, out, start, stop, offsets, groups, block_offsets, blocks, forward):
    _transform(x, out, start, stop, offsets, groups, block_offsets, blocks, forward, 1)


@jit
def _transform_8(x, out, start, stop, offsets, groups, block_offsets, blocks, forward):
    _transform(x, out, start, stop, offsets, groups, block_offsets, blocks, forward, 8)


@jit
def _transform_32(x, out, start, stop, offsets, groups, block_offsets, blocks, forward):
    _transform(x, out, start, stop, offsets, groups, block_offsets, blocks, forward, 32)


#: Tile width to compiled kernel, widest first.
TRANSFORM_KERNELS = {32: _transform_32, 8: _transform_8, 1: _transform_1}
