"""Movement along Cayley curves (Eq. 27 and 28 of the paper), all levels in one call.

With ``D = (I - step/2 X)^{-1} step X`` for a skew matrix X, the Cayley curve and its velocity are

    (I - step/2 X)^{-1} (I + step/2 X) O = O + D O,
    X (I - step^2/4 X^2)^{-1} = (D - D^T) / (2 step),

so one small linear system gives both. Blocks up to 16 rows are filled up with zeros to 4, 8 or 16
and worked on in registers: the calls of a linear algebra library take many times as long.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .simd import cayley_block
from .small import product
from .vectors import dot

__all__ = ["cayley_move", "cayley_step", "cayley_velocity"]

# The pivots of I - step/2 X are one at least, but entries may grow with the square of X: beyond
# this squared norm of step/2 X rows are exchanged.
_WITHOUT_EXCHANGE = 64.0


@jit
def cayley_step(blocks, sizes, block_offsets, skew, step, out):
    """``out = (I - step/2 X)^{-1} (I + step/2 X) O`` for every block O and its skew matrix X.

    A Newton step towards the nearest orthogonal matrix follows, so that rounding errors do not
    pile up however many steps are taken.
    """
    cayley_move(blocks, sizes, block_offsets, skew, step, out, np.empty_like(skew))


@jit
def cayley_velocity(sizes, block_offsets, skew, step, out):
    """``out = X (I - step^2/4 X^2)^{-1}``: the velocity of `cayley_step`, left-trivialised."""
    if step == 0.0:
        out[:] = skew
        return
    moved = np.empty_like(skew)
    change = np.empty_like(skew)
    cayley_move(np.zeros_like(skew), sizes, block_offsets, skew, step, moved, change)
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        for a in range(size):
            for b in range(size):
                skewed = change[entry + a * size + b] - change[entry + b * size + a]
                out[entry + a * size + b] = skewed / (2.0 * step)


@jit
def cayley_move(blocks, sizes, block_offsets, skew, step, out, change):
    """Do what `cayley_step` does, and leave D in `change`."""
    half = skew.dtype.type(0.5 * step)
    scratch = (
        np.empty(256, skew.dtype),
        np.empty(256, skew.dtype),
        np.empty(256, skew.dtype),
        np.empty(256, skew.dtype),
    )
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        own = skew[entry : entry + size * size]
        squared = dot(own, own)
        if size > 16 or not half * half * squared <= _WITHOUT_EXCHANGE:
            _move_any(blocks, size, entry, skew, half, out, change)
        elif size <= 4:
            _move(blocks, size, entry, skew, half, out, change, scratch, 4)
        elif size <= 8:
            _move(blocks, size, entry, skew, half, out, change, scratch, 8)
        else:
            _move(blocks, size, entry, skew, half, out, change, scratch, 16)


@inline_jit
def _move(blocks, size, entry, skew, half, out, change, scratch, width):
    """Move one block of at most `width` rows, a constant."""
    first = np.uint64(entry)
    if size == width:
        cayley_block(skew, first, half, blocks, first, change, out, first, width)
        return
    x, block, turned, moved = scratch
    _unpack(skew, entry, size, x, width)
    _unpack(blocks, entry, size, block, width)
    zero = np.uint64(0)
    cayley_block(x, zero, half, block, zero, turned, moved, zero, width)
    _pack(turned, size, change, entry, width)
    _pack(moved, size, out, entry, width)


@inline_jit
def _unpack(source, entry, size, tile, width):
    """Copy a packed block into rows of `width` entries, filled up with zeros."""
    tile[: width * width] = 0.0
    for a in range(size):
        for b in range(size):
            tile[a * width + b] = source[entry + a * size + b]


@inline_jit
def _pack(tile, size, target, entry, width):
    """Copy rows of `width` entries into a packed block."""
    for a in range(size):
        for b in range(size):
            target[entry + a * size + b] = tile[a * width + b]


@jit
def _move_any(blocks, size, entry, skew, half, out, change):
    """Move one block of any size, however far."""
    x = skew[entry : entry + size * size].reshape((size, size))
    block = blocks[entry : entry + size * size].reshape((size, size))
    left = -half * x
    for a in range(size):
        left[a, a] += 1.0
    solved = skew.dtype.type(2.0) * half * x
    _eliminate(left, solved)
    moved = block + product(solved, block)
    gram = product(moved, moved.T.copy())
    for a in range(size):
        for b in range(size):
            gram[a, b] *= -0.5
            change[entry + a * size + b] = solved[a, b]
        gram[a, a] += 1.5
    polished = product(gram, moved)
    for a in range(size):
        for b in range(size):
            out[entry + a * size + b] = polished[a, b]


@jit
def _eliminate(left, right):
    """Solve ``left X = right`` in place of `right`, exchanging rows for the largest pivots."""
    size = left.shape[0]
    for p in range(size):
        pivot = p
        for a in range(p + 1, size):
            if abs(left[a, p]) > abs(left[pivot, p]):
                pivot = a
        if pivot != p:
            for j in range(size):
                left[p, j], left[pivot, j] = left[pivot, j], left[p, j]
                right[p, j], right[pivot, j] = right[pivot, j], right[p, j]
        for a in range(p + 1, size):
            factor = left[a, p] / left[p, p]
            for j in range(p, size):
                left[a, j] -= factor * left[p, j]
            for j in range(size):
                right[a, j] -= factor * right[p, j]
    for p in range(size - 1, -1, -1):
        for a in range(p + 1, size):
            factor = left[p, a]
            for j in range(size):
                right[p, j] -= factor * right[a, j]
        for j in range(size):
            right[p, j] /= left[p, p]
