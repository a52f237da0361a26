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
from .transform import apply_block

__all__ = ["GRADIENT_KERNELS", "commutator"]


@jit
def commutator(c, in_core, weights):
    """Overwrite ``c = W A W^T`` by the commutator outside the core; return the loss.

    `weights` is the derivative of the penalty on the diagonal of c (zero without a penalty).
    Rows and columns of the core are left to the caller.
    """
    n = c.shape[0]
    h = np.empty(n, c.dtype)
    for i in range(n):
        h[i] = c[i, i]
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
    return loss


@inline_jit
def _accumulate_block(y, v, groups, first, size, out, entry, width):
    """Add the lower triangle of ``y[rows] @ v[rows].T`` to the block at ``out[entry]``."""
    for a in range(size):
        ya = np.uint64(groups[first + a]) * width
        for b in range(a):
            vb = np.uint64(groups[first + b]) * width
            total = 0.0
            for j in range(width):
                total += y[ya + j] * v[vb + j]
            out[entry + a * size + b] += total


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
def _gradient_8(k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out):
    _gradient_tiles(
        k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out, 8
    )


@jit
def _gradient_32(k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out):
    _gradient_tiles(
        k, columns, level_of, first, last, offsets, groups, block_offsets, blocks, out, 32
    )


#: Tile width to compiled kernel, widest first.
GRADIENT_KERNELS = {32: _gradient_32, 8: _gradient_8}
