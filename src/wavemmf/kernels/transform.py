"""The fast wavelet transform: all rotations in order, or undone in reverse order.

Signals are worked on in tiles of a few columns. A tile is copied into its own contiguous
array, so that its width is a compile-time constant (no loop overhead on the short rows), the
whole tile fits the second-level cache, and several threads never write to one cache line.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit

__all__ = ["TRANSFORM_KERNELS", "apply_block", "transform_8", "transform_32"]


@inline_jit
def _four(weights, at, step):
    twice = step + step
    return weights[at], weights[at + step], weights[at + twice], weights[at + twice + step]


@inline_jit
def _rows_by_fours(x, buffer, groups, first, weights, row, row_step, step, size, width):
    """The product of block and rows, four rows from four rows per pass.

    Every value loaded is used four times from a register. Unsigned arithmetic spares the test for
    negative indices in the loops.
    """
    for made in range(0, size, 4):
        out0 = np.uint64(made) * width
        out1 = out0 + width
        out2 = out1 + width
        out3 = out2 + width
        for done in range(0, size, 4):
            g = first + done
            x0, x1 = np.uint64(groups[g]) * width, np.uint64(groups[g + 1]) * width
            x2, x3 = np.uint64(groups[g + 2]) * width, np.uint64(groups[g + 3]) * width
            a = row + np.uint64(made) * row_step + np.uint64(done) * step
            b = a + row_step
            c = b + row_step
            d = c + row_step
            a0, a1, a2, a3 = _four(weights, a, step)
            b0, b1, b2, b3 = _four(weights, b, step)
            c0, c1, c2, c3 = _four(weights, c, step)
            d0, d1, d2, d3 = _four(weights, d, step)
            if done == 0:
                for j in range(width):
                    y0, y1, y2, y3 = x[x0 + j], x[x1 + j], x[x2 + j], x[x3 + j]
                    buffer[out0 + j] = a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3
                    buffer[out1 + j] = b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3
                    buffer[out2 + j] = c0 * y0 + c1 * y1 + c2 * y2 + c3 * y3
                    buffer[out3 + j] = d0 * y0 + d1 * y1 + d2 * y2 + d3 * y3
            else:
                for j in range(width):
                    y0, y1, y2, y3 = x[x0 + j], x[x1 + j], x[x2 + j], x[x3 + j]
                    buffer[out0 + j] += a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3
                    buffer[out1 + j] += b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3
                    buffer[out2 + j] += c0 * y0 + c1 * y1 + c2 * y2 + c3 * y3
                    buffer[out3 + j] += d0 * y0 + d1 * y1 + d2 * y2 + d3 * y3


@jit
def _rows_one_by_one(x, buffer, groups, first, weights, row, row_step, step, size, width):
    """The same product for any size."""
    for made in range(size):
        out = np.uint64(made) * width
        at = row + np.uint64(made) * row_step
        for done in range(size):
            x0 = np.uint64(groups[first + done]) * width
            w0 = weights[at + np.uint64(done) * step]
            if done == 0:
                for j in range(width):
                    buffer[out + j] = w0 * x[x0 + j]
            else:
                for j in range(width):
                    buffer[out + j] += w0 * x[x0 + j]


@inline_jit
def _write_rows(x, buffer, groups, first, size, width):
    for a in range(size):
        target = np.uint64(groups[first + a]) * width
        source = np.uint64(a) * width
        for j in range(width):
            x[target + j] = buffer[source + j]


@inline_jit
def apply_block(x, buffer, groups, first, weights, entry, size, forward, width):
    """Rotate `size` rows of the flat tile `x` by the block at ``weights[entry]``.

    Forward applies the block, backward its transpose, read in place with other strides.
    """
    step = np.uint64(1) if forward else np.uint64(size)
    row_step = np.uint64(size) if forward else np.uint64(1)
    row = np.uint64(entry)
    if size % 4 == 0:
        _rows_by_fours(x, buffer, groups, first, weights, row, row_step, step, size, width)
    else:
        _rows_one_by_one(x, buffer, groups, first, weights, row, row_step, step, size, width)
    _write_rows(x, buffer, groups, first, size, width)


@inline_jit
def _apply_levels(x, buffer, offsets, groups, block_offsets, blocks, forward, width):
    """Apply all blocks in order, or undo them in reverse order.

    Runs of groups whose size divides by four have a loop of their own: it is a fifth faster
    without the general case inside.
    """
    levels = offsets.size - 1
    done = 0
    while done < levels:
        while done < levels:
            level = done if forward else levels - 1 - done
            first = offsets[level]
            size = offsets[level + 1] - first
            if size % 4 != 0:
                break
            step = np.uint64(1) if forward else np.uint64(size)
            row_step = np.uint64(size) if forward else np.uint64(1)
            row = np.uint64(block_offsets[level])
            _rows_by_fours(x, buffer, groups, first, blocks, row, row_step, step, size, width)
            _write_rows(x, buffer, groups, first, size, width)
            done += 1
        if done < levels:
            level = done if forward else levels - 1 - done
            first = offsets[level]
            size = offsets[level + 1] - first
            entry = block_offsets[level]
            apply_block(x, buffer, groups, first, blocks, entry, size, forward, width)
            done += 1


@inline_jit
def _load_tile(x, work, left, columns, tile):
    """Copy a few columns into the tile; a tile wider than that is filled up with zeros."""
    for i in range(x.shape[0]):
        source = x[i, left : left + columns]
        target = work[i * tile : (i + 1) * tile]
        if columns == tile:
            for j in range(tile):
                target[j] = source[j]
        else:
            for j in range(columns):
                target[j] = source[j]
            for j in range(columns, tile):
                target[j] = 0


@inline_jit
def _store_tile(work, out, left, columns, tile):
    """Copy the tile back."""
    for i in range(out.shape[0]):
        target = out[i, left : left + columns]
        source = work[i * tile : (i + 1) * tile]
        if columns == tile:
            for j in range(tile):
                target[j] = source[j]
        else:
            for j in range(columns):
                target[j] = source[j]


@inline_jit
def _transform(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, tile
):
    """Transform the columns of `x` from `start` to `stop` into `out`, `tile` at a time.

    `work` and `buffer` are scratch: a tile of all rows, and one of the largest group.
    """
    width = np.uint64(tile)
    for left in range(start, stop, tile):
        columns = min(tile, stop - left)
        _load_tile(x, work, left, columns, tile)
        _apply_levels(work, buffer, offsets, groups, block_offsets, blocks, forward, width)
        _store_tile(work, out, left, columns, tile)


@jit
def _transform_1(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer
):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 1
    )


@jit
def transform_8(x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 8
    )


@jit
def transform_32(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer
):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 32
    )


#: Tile width to compiled kernel, widest first.
TRANSFORM_KERNELS = {32: transform_32, 8: transform_8, 1: _transform_1}
