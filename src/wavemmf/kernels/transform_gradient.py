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
from .gradient import add_products
from .transform import apply_block, load_tile, store_tile

__all__ = ["PULLBACK_KERNELS", "times_blocks"]


@inline_jit
def _add_square(p, q, groups, first, size, out, entry, tile):
    """Add ``p[rows] @ q[rows].T`` to the block at ``out[entry]``."""
    for a in range(size):
        add_products(p, q, groups, first, a, size, out, entry + a * size, tile)


@inline_jit
def _pullback(
    p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, tile
):  # fmt: skip
    """Carry the columns of `p` and `q` through all levels and add up the products in `out`.

    The products are those of the rotated side of every level. `p` ends up in `p_out`.
    """
    n = p.shape[0]
    levels = offsets.size - 1
    largest = 1
    for level in range(levels):
        largest = max(largest, offsets[level + 1] - offsets[level])
    p_tile = np.empty(n * tile, p.dtype)
    q_tile = np.empty(n * tile, p.dtype)
    buffer = np.empty(largest * tile, p.dtype)
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
                _add_square(p_tile, q_tile, groups, first, size, out, entry, tile)
            apply_block(p_tile, buffer, groups, first, blocks, entry, size, forward, tile)
            apply_block(q_tile, buffer, groups, first, blocks, entry, size, forward, tile)
            if forward:
                _add_square(p_tile, q_tile, groups, first, size, out, entry, tile)
        store_tile(p_tile, p_out, left, columns, tile)


@jit
def _pullback_1(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, 1
    )  # fmt: skip


@jit
def _pullback_8(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, 8
    )  # fmt: skip


@jit
def _pullback_32(p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out):
    _pullback(
        p, q, p_out, start, stop, offsets, groups, block_offsets, blocks, forward, out, 32
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
