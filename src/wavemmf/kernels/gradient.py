"""Loss and gradient of the global objective (Eq. 6 of the paper), over all rotations at once.

Let ``C = W A W^T`` with ``W = U_L ... U_1``, and H its core-diagonal part. The loss is the
squared norm of ``C - H``, and ``D = 2 (C - H)`` its derivative by C. If the block of level l moves
as ``O <- exp(X) O`` with X skew, the loss changes at the rate ``<X, K_l[I, I]>``, where

    K_L = D C - C D = 2 (C H - H C),        K_{l-1} = U_l^T K_l U_l:

a commutator with a matrix that is diagonal but for its core, so it costs next to nothing, and
then one skew matrix carried backwards. Its blocks are read off without ever rotating it from both
sides: ``K_l = Y_l V_l^T`` with ``Y_l = W_{>l}^T K`` and ``V_l = W_{>l}^T``, whose columns do not
interact. So a few columns at a time go through all levels inside the cache, and many such tiles
run side by side. Of a compact level (`planes.py`) only the derivative by its wavelet is wanted, the
sum of ``v f(y) - y f(v)`` over the columns, where f is what the rows of a tile are moved by
(`plane_rows.py`): that takes no more than rotating both tiles.

Coordinates are numbered in elimination order here (the core first, the wavelet of the first level
last), and rows and columns of zeros fill the arrays up to a multiple of the tile width.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .block_rows import add_products, turn_block
from .multiply import multiply
from .plane_rows import carry_plane
from .simd import transpose_square
from .transform import apply_level, apply_levels, is_compact, load_tile, store_tile
from .vectors import dot

__all__ = [
    "carry_back",
    "commutator",
    "loss_and_gradient",
    "rotate_columns",
    "rotate_rows",
]

_WIDEST = 32


@jit
def _aligned(size, like):
    """An array of zeros, no vector of which straddles two cache lines."""
    memory = np.zeros(size + 64 // like.itemsize, like.dtype)
    first = (-memory.ctypes.data % 64) // like.itemsize
    return memory[first : first + size]


@jit
def _scratch(offsets, like):
    """The widest tile, and room for the largest group."""
    largest = 1
    for level in range(offsets.size - 1):
        largest = max(largest, offsets[level + 1] - offsets[level])
    return _aligned(like.shape[0] * _WIDEST, like), _aligned(largest * _WIDEST, like)


@inline_jit
def _rotate_columns(
    x, out, first, last, offsets, groups, block_offsets, blocks, work, buffer, tile
):  # fmt: skip
    """The columns ``first:last`` of ``W x``, written to the same rows of `out`."""
    stride = np.uint64(x.shape[0])
    width = np.uint64(tile)
    for left in range(first, last, tile):
        load_tile(x, work, left, tile, tile)
        apply_levels(work, buffer, offsets, groups, block_offsets, blocks, True, tile)
        for i in range(0, x.shape[0], 8):
            for t in range(0, tile, 8):
                source = np.uint64(i) * width + np.uint64(t)
                target = np.uint64(left + t) * stride + np.uint64(i)
                transpose_square(work, source, width, out, target, stride, 8)


@inline_jit
def _rotate_in_place(
    x, first, last, offsets, groups, block_offsets, blocks, work, buffer, tile
):  # fmt: skip
    """Replace the columns ``first:last`` of x by those of ``W x``."""
    for left in range(first, last, tile):
        load_tile(x, work, left, tile, tile)
        apply_levels(work, buffer, offsets, groups, block_offsets, blocks, True, tile)
        store_tile(work, x, left, tile, tile)


@inline_jit
def _tile_bounds(columns, last):
    """Where tiles of 32 columns end and one of 16 ends; what is left over is a tile of eight."""
    return min(last, columns - columns % 32), min(last, columns - columns % 16)


@jit
def rotate_columns(x, out, first, last, offsets, groups, block_offsets, blocks):
    """``out = (W x)^T``, only the rows ``first:last``."""
    wide, middle = _tile_bounds(x.shape[0], last)
    work, buffer = _scratch(offsets, x)
    _rotate_columns(
        x, out, first, wide, offsets, groups, block_offsets, blocks, work, buffer, 32
    )  # fmt: skip
    _rotate_columns(
        x, out, wide, middle, offsets, groups, block_offsets, blocks, work, buffer, 16
    )  # fmt: skip
    _rotate_columns(
        x, out, middle, last, offsets, groups, block_offsets, blocks, work, buffer, 8
    )  # fmt: skip


@jit
def rotate_rows(x, first, last, offsets, groups, block_offsets, blocks):
    """``x = W x``, only the columns ``first:last``."""
    wide, middle = _tile_bounds(x.shape[0], last)
    work, buffer = _scratch(offsets, x)
    _rotate_in_place(x, first, wide, offsets, groups, block_offsets, blocks, work, buffer, 32)
    _rotate_in_place(x, wide, middle, offsets, groups, block_offsets, blocks, work, buffer, 16)
    _rotate_in_place(x, middle, last, offsets, groups, block_offsets, blocks, work, buffer, 8)


@jit
def commutator(c, core, weights):
    """Overwrite the symmetric ``c = W A W^T`` by the commutator; return the loss.

    The first `core` rows are the core. `weights` is the derivative of the penalty on the diagonal
    of c (zero without a penalty).
    """
    n = c.shape[0]
    h = np.diag(c).copy()
    # The rows of the core first: they need c, which the others then overwrite.
    strip = np.empty((core, n), c.dtype)
    multiply(c, c, core, core, strip, 0, n)
    loss = 0.0
    for a in range(core):
        row = c[a]
        loss += dot(row[core:], row[core:])
        for j in range(core, n):
            row[j] = 2.0 * (row[j] * h[j] - strip[a, j]) - row[j] * weights[j]
        for j in range(core):
            row[j] = 0.0
    for i in range(core, n):
        row = c[i]
        own = h[i]
        row[i] = 0.0
        loss += dot(row, row)
        for j in range(core, n):
            row[j] *= 2.0 * (h[j] - own) + (weights[i] - weights[j])
        for a in range(core):
            row[a] = -c[a, i]
    return loss


@inline_jit
def _carry_back(
    k, dropped, first, last, offsets, groups, block_offsets, blocks, out, y, buffer, v, tile
):  # fmt: skip
    """Carry the columns ``first:last`` of `k` backwards and add up the blocks in `out`.

    A column is the basis vector of a coordinate until the level that drops it, and has nothing in
    common with the groups of later levels: until then only Y is carried.
    """
    levels = offsets.size - 1
    for left in range(first, last, tile):
        load_tile(k, y, left, tile, tile)
        v[: k.shape[0] * tile] = 0.0
        latest = 0
        for t in range(min(tile, dropped.size - left)):
            v[(left + t) * tile + t] = 1.0
            latest = max(latest, dropped[left + t])
        for level in range(levels - 1, -1, -1):
            start = offsets[level]
            size = offsets[level + 1] - start
            entry = block_offsets[level]
            if level >= latest:
                apply_level(y, buffer, offsets, groups, block_offsets, blocks, level, False, tile)
            elif is_compact(offsets, block_offsets, level):
                carry_plane(y, v, groups, start, size, blocks, entry, out, tile)
            else:
                add_products(y, v, groups, start, size, out, entry, True, tile)
                turn_block(v, buffer, groups, start, size, blocks, entry, False, tile)
                turn_block(y, buffer, groups, start, size, blocks, entry, False, tile)


@jit
def carry_back(k, dropped, first, last, offsets, groups, block_offsets, blocks, out):
    """Add the lower triangles of the gradient that the columns ``first:last`` contribute.

    Of compact levels it is the derivative by the wavelet, up to a multiple of the wavelet.

    ``dropped[i]`` is the 1-based level that drops coordinate i; the core counts as dropped last.
    """
    wide, middle = _tile_bounds(k.shape[0], last)
    y, buffer = _scratch(offsets, k)
    v = _aligned(y.size, k)
    _carry_back(
        k, dropped, first, wide, offsets, groups, block_offsets, blocks, out, y, buffer, v, 32
    )  # fmt: skip
    _carry_back(
        k, dropped, wide, middle, offsets, groups, block_offsets, blocks, out, y, buffer, v, 16
    )  # fmt: skip
    _carry_back(
        k, dropped, middle, last, offsets, groups, block_offsets, blocks, out, y, buffer, v, 8
    )  # fmt: skip


@jit
def loss_and_gradient(
    matrix, rotated, core, weights, dropped, offsets, groups, block_offsets, blocks, out
):  # fmt: skip
    """The whole evaluation in one call, for matrices where calls from Python would dominate.

    Adds the lower triangles of the gradient to `out` and returns the loss.
    """
    n = matrix.shape[0]
    rotate_columns(matrix, rotated, 0, n, offsets, groups, block_offsets, blocks)
    rotate_rows(rotated, 0, n, offsets, groups, block_offsets, blocks)
    loss = commutator(rotated, core, weights)
    carry_back(rotated, dropped, 0, n, offsets, groups, block_offsets, blocks, out)
    return loss
