"""Movement on the manifold of rotation blocks, all levels in one call.

With ``D = (I - step/2 X)^{-1} step X`` for a skew matrix X, the Cayley curve and its velocity are

    (I - step/2 X)^{-1} (I + step/2 X) O = O + D O,
    X (I - step^2/4 X^2)^{-1} = (D - D^T) / (2 step),

so one small linear system gives both. Blocks up to 16 rows are worked on in rows of constant
length, filled up with zeros: the calls of a linear algebra library take ten times as long.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .simd import add_multiple, copy_row, multiply_rows

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
    scratch = (_aligned(skew), _aligned(skew), _aligned(skew), _aligned(skew))
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        squared = 0.0
        for i in range(entry, entry + size * size):
            squared += skew[i] * skew[i]
        if size > 16 or not half * half * squared <= _WITHOUT_EXCHANGE:
            _move_any(blocks, size, entry, skew, half, out, change)
        elif size <= 4:
            _move(blocks, size, entry, skew, half, out, change, scratch, 4)
        elif size <= 8:
            _move(blocks, size, entry, skew, half, out, change, scratch, 8)
        else:
            _move(blocks, size, entry, skew, half, out, change, scratch, 16)


@jit
def _aligned(like):
    """Room for 16 rows of 16 entries that no vector straddles two cache lines of."""
    memory = np.zeros(256 + 64 // like.itemsize, like.dtype)
    first = (-memory.ctypes.data % 64) // like.itemsize
    return memory[first : first + 256]


@inline_jit
def _move(blocks, size, entry, skew, half, out, change, scratch, width):
    """Move one block of at most `width` rows, a constant."""
    left, right, block, moved = scratch
    _solve(skew, entry, size, half, left, right, width)
    _pack(right, size, change, entry, width)
    for a in range(size):
        right[a * width + a] += 1.0
    _unpack(blocks, entry, size, block, width)
    _multiply(right, True, block, moved, size, width)
    # Newton's step is O (3 - O^T O) / 2.
    _multiply(moved, False, moved, left, size, width)
    for i in range(size * width):
        left[i] *= -0.5
    for a in range(size):
        left[a * width + a] += 1.5
    _multiply(moved, True, left, block, size, width)
    _pack(block, size, out, entry, width)


@inline_jit
def _multiply(weights, forward, source, out, size, width):
    """``out = weights @ source``, or with the weights transposed, in rows of `width` entries.

    Four rows at a time; those after the first `size` are not meant to be used.
    """
    length = np.uint64(width)
    row_step = length if forward else np.uint64(1)
    step = np.uint64(1) if forward else length
    for a in range(0, size, 4):
        place = np.uint64(a) * length
        places = (place, place + length, place + length + length, place + length * np.uint64(3))
        entry = np.uint64(a) * row_step
        multiply_rows(source, np.uint64(size), weights, entry, row_step, step, out, places, width)


@inline_jit
def _solve(skew, entry, size, half, left, right, width):
    """``right = (I - half X)^{-1} 2 half X`` by elimination, in rows of `width` entries."""
    _unpack(skew, entry, size, right, width)
    for i in range(size * width):
        left[i] = -half * right[i]
        right[i] *= 2.0 * half
    for a in range(size):
        left[a * width + a] += 1.0
    for p in range(size):
        inverse = left.dtype.type(1.0) / left[p * width + p]
        for a in range(p + 1, size):
            factor = -left[a * width + p] * inverse
            _add(left, p, factor, a, width)
            _add(right, p, factor, a, width)
    for p in range(size - 1, -1, -1):
        inverse = left.dtype.type(1.0) / left[p * width + p]
        for b in range(width):
            right[p * width + b] *= inverse
        for a in range(p):
            _add(right, p, -left[a * width + p], a, width)


@inline_jit
def _add(rows, p, factor, a, width):
    """Add a multiple of row `p` to row `a`."""
    source = np.uint64(p) * np.uint64(width)
    add_multiple(rows, source, factor, np.uint64(a) * np.uint64(width), width)


@inline_jit
def _unpack(source, entry, size, tile, width):
    """Copy a packed block into rows of `width` entries, filled up with zeros."""
    if size == width:
        for a in range(width):
            row = np.uint64(a) * np.uint64(width)
            copy_row(source, np.uint64(entry) + row, tile, row, width)
    else:
        for a in range(size):
            for b in range(size):
                tile[a * width + b] = source[entry + a * size + b]
            for b in range(size, width):
                tile[a * width + b] = 0.0


@inline_jit
def _pack(tile, size, target, entry, width):
    """Copy rows of `width` entries into a packed block."""
    if size == width:
        for a in range(width):
            row = np.uint64(a) * np.uint64(width)
            copy_row(tile, row, target, np.uint64(entry) + row, width)
    else:
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
    solved = np.linalg.solve(left, skew.dtype.type(2.0) * half * x)
    moved = block + solved @ block
    gram = moved @ moved.T
    for a in range(size):
        for b in range(size):
            gram[a, b] *= -0.5
            change[entry + a * size + b] = solved[a, b]
        gram[a, a] += 1.5
    polished = gram @ moved
    for a in range(size):
        for b in range(size):
            out[entry + a * size + b] = polished[a, b]
