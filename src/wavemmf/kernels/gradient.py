"""Loss and gradient of the global objective, over all rotations at once.

Let ``C = W A W^T`` with ``W = U_L ... U_1``, and H its core-diagonal part. The loss is the
squared norm of ``C - H``, and ``D = 2 (C - H)`` its derivative by C. If the block of level l moves
as ``O <- exp(X) O`` with X skew, the loss changes at the rate ``<X, K_l[I, I]>``, where

    K_L = D C - C D = 2 (C H - H C),        K_{l-1} = U_l^T K_l U_l:

a commutator with a matrix that is diagonal but for its core, so it costs next to nothing, and
then one skew matrix carried backwards. Its blocks are read off without ever rotating it from both
sides: ``K_l = Y_l V_l^T`` with ``Y_l = W_{>l}^T K`` and ``V_l = W_{>l}^T``, whose columns do not
interact. So a few columns at a time go through all levels inside the cache, and many such tiles
run side by side.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .transform import apply_block, transform_8, transform_32

__all__ = ["carry_back", "commutator", "small_loss_and_gradient", "transpose"]


@jit
def transpose(x, out):
    """``out = x.T``, square by square: both arrays stay in the cache."""
    n = x.shape[0]
    for top in range(0, n, 16):
        for left in range(0, n, 16):
            for i in range(top, min(top + 16, n)):
                for j in range(left, min(left + 16, n)):
                    out[i, j] = x[j, i]


@jit
def commutator(c, core, in_core, weights):
    """Overwrite the symmetric ``c = W A W^T`` by the commutator; return the loss.

    `weights` is the derivative of the penalty on the diagonal of c (zero without a penalty).
    """
    n = c.shape[0]
    h = np.empty(n, c.dtype)
    for i in range(n):
        h[i] = c[i, i]
    strip = _core_strip(c, core, h, weights)
    loss = 0.0
    for i in range(n):
        row = c[i]
        total = 0.0
        if in_core[i]:
            for j in range(n):
                if not in_core[j]:
                    total += row[j] * row[j]
        else:
            own = row[i]
            row[i] = 0.0
            for j in range(n):
                total += row[j] * row[j]
                row[j] *= 2.0 * (h[j] - own) + (weights[i] - weights[j])
            row[i] = 0.0
        loss += total
    for a in range(core.size):
        c[core[a]] = strip[a]
    for j in range(n):
        for a in range(core.size):
            c[j, core[a]] = 0.0 if in_core[j] else -strip[a, j]
    return loss


@inline_jit
def _core_strip(c, core, h, weights):
    """The rows of the commutator that belong to the core (their columns in the core are wrong)."""
    n = c.shape[0]
    rows = np.empty((core.size, n), c.dtype)
    block = np.empty((core.size, core.size), c.dtype)
    for a in range(core.size):
        rows[a] = c[core[a]]
        for b in range(core.size):
            block[a, b] = c[core[a], core[b]]
    strip = block @ rows
    for a in range(core.size):
        for j in range(n):
            strip[a, j] = 2.0 * (rows[a, j] * h[j] - strip[a, j]) - rows[a, j] * weights[j]
    return strip


@inline_jit
def _accumulate_block(y, v, groups, first, size, out, entry, width):
    """Add the lower triangle of ``y[rows] @ v[rows].T`` to the block at ``out[entry]``."""
    for a in range(size):
        ya = np.uint64(groups[first + a]) * width
        row = entry + a * size
        # Four products at a time use every value of y four times.
        for b in range(0, a - 3, 4):
            v0 = np.uint64(groups[first + b]) * width
            v1 = np.uint64(groups[first + b + 1]) * width
            v2 = np.uint64(groups[first + b + 2]) * width
            v3 = np.uint64(groups[first + b + 3]) * width
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(width):
                value = y[ya + j]
                s0 += value * v[v0 + j]
                s1 += value * v[v1 + j]
                s2 += value * v[v2 + j]
                s3 += value * v[v3 + j]
            out[row + b] += s0
            out[row + b + 1] += s1
            out[row + b + 2] += s2
            out[row + b + 3] += s3
        for b in range(a - a % 4, a):
            vb = np.uint64(groups[first + b]) * width
            total = 0.0
            for j in range(width):
                total += y[ya + j] * v[vb + j]
            out[row + b] += total


@inline_jit
def _gradient_tiles(
    k, columns, level_of, first, last,
    offsets, groups, block_offsets, blocks, out, tile,
):  # fmt: skip
    """Carry the columns ``columns[first:last]`` of `k` backwards and add up the blocks in `out`.

    A column is the basis vector of a coordinate until the level that drops it, and has nothing in
    common with the groups of later levels: until then only Y is carried.
    """
    n = k.shape[0]
    levels = offsets.size - 1
    largest = 1
    for level in range(levels):
        largest = max(largest, offsets[level + 1] - offsets[level])
    y = np.empty(n * tile, k.dtype)
    v = np.empty(n * tile, k.dtype)
    buffer = np.empty(largest * tile, k.dtype)
    width = np.uint64(tile)
    for left in range(first, last, tile):
        count = min(tile, last - left)
        v[:] = 0.0
        y[:] = 0.0
        latest = 0
        for t in range(count):
            column = columns[left + t]
            source = k[column]
            for i in range(n):
                y[i * tile + t] = -source[i]  # k is skew: its columns are its rows, negated
            v[column * tile + t] = 1.0
            dropped = level_of[column]
            latest = max(latest, dropped if dropped > 0 else levels)
        for level in range(levels - 1, -1, -1):
            start = offsets[level]
            size = offsets[level + 1] - start
            entry = block_offsets[level]
            if level < latest:
                _accumulate_block(y, v, groups, start, size, out, entry, width)
                apply_block(v, buffer, groups, start, blocks, entry, size, False, width)
            apply_block(y, buffer, groups, start, blocks, entry, size, False, width)


@jit
def _carry_back_8(k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out):
    _gradient_tiles(
        k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out, 8
    )


@jit
def carry_back(k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out):
    _gradient_tiles(
        k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out, 32
    )


@inline_jit
def _wide_columns(n):
    """Columns that go in tiles of 32; a short rest goes in tiles of eight."""
    rest = n % 32
    return n - rest if rest <= 8 else n


@jit
def _rotate_columns(x, out, offsets, groups, block_offsets, blocks, work, buffer):
    n = x.shape[0]
    wide = _wide_columns(n)
    transform_32(x, out, 0, wide, offsets, groups, block_offsets, blocks, True, work, buffer)
    transform_8(x, out, wide, n, offsets, groups, block_offsets, blocks, True, work, buffer)


@jit
def small_loss_and_gradient(
    matrix, image, rotated, core, in_core, weights, columns, level_of,
    offsets, groups, block_offsets, blocks, work, buffer, out,
):  # fmt: skip
    """The whole evaluation in one call, for matrices where calls from Python would dominate.

    Adds the lower triangles of the gradient to `out` and returns the loss.
    """
    n = matrix.shape[0]
    wide = _wide_columns(n)
    _rotate_columns(matrix, image, offsets, groups, block_offsets, blocks, work, buffer)
    transpose(image, rotated)
    _rotate_columns(rotated, rotated, offsets, groups, block_offsets, blocks, work, buffer)
    loss = commutator(rotated, core, in_core, weights)
    carry_back(rotated, columns, level_of, 0, wide, offsets, groups, block_offsets, blocks, out)
    _carry_back_8(rotated, columns, level_of, wide, n, offsets, groups, block_offsets, blocks, out)
    return loss
