"""The fast wavelet transform: all rotations in order, or undone in reverse order.

Signals are worked on in tiles of a few columns. A tile is copied into its own contiguous
array, so that its width is a compile-time constant (no loop overhead on the short rows), the
whole tile fits the second-level cache, and several threads never write to one cache line.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .block_rows import turn_block
from .plane_rows import turn_plane
from .simd import copy_row

__all__ = [
    "TRANSFORM_KERNELS",
    "apply_level",
    "apply_levels",
    "is_compact",
    "load_tile",
    "store_tile",
]


@inline_jit
def is_compact(offsets, block_offsets, level):
    """Whether a level is stored as its wavelet (`planes.py`) rather than as a full block."""
    size = offsets[level + 1] - offsets[level]
    return block_offsets[level + 1] - block_offsets[level] < size * size


@inline_jit
def apply_level(x, buffer, offsets, groups, block_offsets, blocks, level, forward, tile):
    """Rotate the rows of one level, or undo that; `blocks` holds its block or its wavelet."""
    first, entry = offsets[level], block_offsets[level]
    size = offsets[level + 1] - first
    if is_compact(offsets, block_offsets, level):
        sign = blocks.dtype.type(1.0 if forward else -1.0)
        turn_plane(x, groups, first, size, blocks, entry, sign, tile)
    else:
        turn_block(x, buffer, groups, first, size, blocks, entry, forward, tile)


@inline_jit
def apply_levels(x, buffer, offsets, groups, block_offsets, blocks, forward, tile):
    """Apply all levels in order, or undo them in reverse order."""
    levels = offsets.size - 1
    for done in range(levels):
        level = done if forward else levels - 1 - done
        apply_level(x, buffer, offsets, groups, block_offsets, blocks, level, forward, tile)


@inline_jit
def load_tile(x, work, left, columns, tile):
    """Copy a few columns into the tile; a tile wider than that is filled up with zeros."""
    for i in range(x.shape[0]):
        if columns == tile:
            copy_row(x, _at(x, i, left), work, np.uint64(i) * np.uint64(tile), tile)
        else:
            target = work[i * tile : (i + 1) * tile]
            for j in range(columns):
                target[j] = x[i, left + j]
            for j in range(columns, tile):
                target[j] = 0


@inline_jit
def store_tile(work, out, left, columns, tile):
    """Copy the tile back."""
    for i in range(out.shape[0]):
        if columns == tile:
            copy_row(work, np.uint64(i) * np.uint64(tile), out, _at(out, i, left), tile)
        else:
            for j in range(columns):
                out[i, left + j] = work[i * tile + j]


@inline_jit
def _at(x, i, j):
    """Where an entry of a C-ordered matrix stands in memory."""
    return np.uint64(i) * np.uint64(x.shape[1]) + np.uint64(j)


@inline_jit
def _transform(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, tile
):
    """Transform the columns of `x` from `start` to `stop` into `out`, `tile` at a time.

    `work` and `buffer` are scratch: a tile of all rows, and one of the largest group.
    """
    for left in range(start, stop, tile):
        columns = min(tile, stop - left)
        load_tile(x, work, left, columns, tile)
        apply_levels(work, buffer, offsets, groups, block_offsets, blocks, forward, tile)
        store_tile(work, out, left, columns, tile)


@jit
def _transform_1(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer
):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 1
    )


@jit
def _transform_8(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer
):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 8
    )


@jit
def _transform_32(
    x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer
):
    _transform(
        x, out, start, stop, offsets, groups, block_offsets, blocks, forward, work, buffer, 32
    )


#: Tile width to compiled kernel, widest first.
TRANSFORM_KERNELS = {32: _transform_32, 8: _transform_8, 1: _transform_1}
