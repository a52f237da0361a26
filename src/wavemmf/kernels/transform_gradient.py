"""The derivative of the fast transform by its rotation blocks.

A level turns x into ``y = O x`` (on its group). If g is the derivative of a loss by y, the
derivative by O is ``g x^T``, and as O is orthogonal, ``g x^T = (g y^T) O``. Both g and y are
carried back through the levels by undoing the rotations, so nothing but the result of the transform
has to be kept. The inverse transform is the same walk in the other direction, with the roles
exchanged.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .block_rows import add_products, turn_block
from .transform import load_tile, store_tile

__all__ = ["PULLBACK_KERNELS", "times_blocks"]


@inline_jit
def _pullback(
    p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, room, tile
):  # fmt: skip
    """Carry the columns of `p` and `q` through all levels and add up the products in `out`.

    The products are those of the rotated side of every level. `p` ends up in `p_out`.
    """
    levels = offsets.size - 1
    p_tile, q_tile, buffer = room
    for left in range(start, stop, tile):
        columns = min(tile, stop - left)
        load_tile(p, p_tile, left, columns, tile)
        load_tile(q, q_tile, left, columns, tile)
        for done in range(levels):
            level = done if forward else levels - 1 - done
            first = offsets[level]
            size = offsets[level + 1] - first
            entry = block_offsets[level]
            if not forward:
                add_products(p_tile, q_tile, groups, first, size, out, entry, False, tile)
            turn_block(p_tile, buffer, groups, first, size, blocks, entry, forward, tile)
            turn_block(q_tile, buffer, groups, first, size, blocks, entry, forward, tile)
            if forward:
                add_products(p_tile, q_tile, groups, first, size, out, entry, False, tile)
        store_tile(p_tile, p_out, left, columns, tile)


@jit
def _room(p, offsets, tile):
    """Two tiles, and room for the largest group."""
    largest = 1
    for level in range(offsets.size - 1):
        largest = max(largest, offsets[level + 1] - offsets[level])
    size = p.shape[0] * tile
    return np.empty(size, p.dtype), np.empty(size, p.dtype), np.empty(largest * tile, p.dtype)


@jit
def _pullback_1(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    room = _room(p, offsets, 1)
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, room, 1
    )  # fmt: skip


@jit
def _pullback_8(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    room = _room(p, offsets, 8)
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, room, 8
    )  # fmt: skip


@jit
def _pullback_32(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    room = _room(p, offsets, 32)
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, room, 32
    )  # fmt: skip


@jit
def times_blocks(products, sizes, block_offsets, blocks, out):
    """``out = M O`` for every packed matrix M and block O."""
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        for a in range(size):
            row = entry + a * size
            for b in range(size):
                out[row + b] = 0.0
            for c in range(size):
                weight = products[row + c]
                source = entry + c * size
                for b in range(size):
                    out[row + b] += weight * blocks[source + b]


#: Tile width to compiled kernel, widest first.
PULLBACK_KERNELS = {32: _pullback_32, 8: _pullback_8, 1: _pullback_1}
