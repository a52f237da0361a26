"""Entries of ``W A W.T`` for a sparse A, a few columns at a time.

Nothing larger than a tile of some columns is formed, and nothing is neglected: column i is
``W A (W.T e_i)``, two transforms and a sparse product. Wavelets of early levels live on few rows,
so the rows of a tile that are not zero are flagged, and all others are passed over. At worst the
work grows with the square of n, at the speed of the transform.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .simd import add_multiple, copy_row
from .transform import apply_level

__all__ = ["STRIP", "core_entries", "wavelet_energies"]

# Wavelets that go through the rotations together.
STRIP = 32


@inline_jit
def _rotate(work, used, levels, rotations, buffer, forward):
    """Apply the first `levels` levels to the tile, or undo them; `used` flags its rows."""
    offsets, groups, block_offsets, blocks = rotations
    for done in range(levels):
        level = done if forward else levels - 1 - done
        start, stop = offsets[level], offsets[level + 1]
        flags = 0
        for a in range(start, stop):
            flags |= used[groups[a]]
        if flags:
            apply_level(work, buffer, offsets, groups, block_offsets, blocks, level, forward, STRIP)
            for a in range(start, stop):
                used[groups[a]] = 1


@inline_jit
def _wavelets(coordinates, first, last, levels, rotations, work, used, buffer):
    """Write the rows of W for ``coordinates[first:last]`` into the columns of the empty tile."""
    for c in range(first, last):
        work[coordinates[c] * STRIP + c - first] = 1.0
        used[coordinates[c]] = 1
    _rotate(work, used, levels, rotations, buffer, False)


@inline_jit
def _multiply_row(indptr, indices, data, i, work, used):
    """Row i of the product of the sparse matrix and the tile, into the spare row of `work`.

    Returns whether there was anything to add up.
    """
    place = (work.size // STRIP - 1) * STRIP
    work[place : place + STRIP] = 0.0
    flags = 0
    for q in range(indptr[i], indptr[i + 1]):
        if used[indices[q]]:
            flags = 1
            row = np.uint64(indices[q]) * np.uint64(STRIP)
            add_multiple(work, row, data[q], np.uint64(place), STRIP)
    return flags


@inline_jit
def _empty(work, used):
    """Make the tile zero again."""
    for i in range(used.size):
        if used[i]:
            used[i] = 0
            work[i * STRIP : (i + 1) * STRIP] = 0.0


@jit
def wavelet_energies(
    indptr, indices, data, coordinates, levels, first, last, rotations, work, buffer, out
):
    """Write the diagonal entries of ``coordinates[first:last]`` to `out`.

    ``levels[c]`` is the number of levels that coordinate takes part in; the coordinates are given
    in ascending order of it, and later levels are skipped. `work` is scratch full of zeros, a tile
    with one row more than the matrix.
    """
    n = indptr.size - 1
    used = np.zeros(n, np.uint8)
    total = np.empty(STRIP)
    for left in range(first, last, STRIP):
        right = min(left + STRIP, last)
        _wavelets(coordinates, left, right, levels[right - 1], rotations, work, used, buffer)
        total[:] = 0.0
        for i in range(n):
            if used[i] and _multiply_row(indptr, indices, data, i, work, used):
                for c in range(STRIP):
                    total[c] += work[n * STRIP + c] * work[i * STRIP + c]
        for c in range(left, right):
            out[coordinates[c]] = total[c - left]
        _empty(work, used)


@jit
def core_entries(
    indptr, indices, data, core, first, last, rotations, work, product, buffer,
    pattern_starts, pattern, out,
):  # fmt: skip
    """Entries of the core in the columns ``core[first:last]``, where wanted.

    `pattern_starts` and `pattern` tell where, column by column, numbered within the core; `out`
    has room for the value of each. All entries are wanted if `pattern_starts` is empty. `work` and
    `product` are scratch full of zeros.
    """
    n = indptr.size - 1
    size = core.size
    levels = rotations[0].size - 1
    used, reached = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    for left in range(first, last, STRIP):
        right = min(left + STRIP, last)
        _wavelets(core, left, right, levels, rotations, work, used, buffer)
        for i in range(n):
            if _multiply_row(indptr, indices, data, i, work, used):
                reached[i] = 1
                copy_row(work, np.uint64(n * STRIP), product, np.uint64(i * STRIP), STRIP)
        _rotate(product, reached, levels, rotations, buffer, True)
        for c in range(left, right):
            if pattern_starts.size == 0:
                for a in range(size):
                    out[c * size + a] = product[core[a] * STRIP + c - left]
            else:
                for q in range(pattern_starts[c], pattern_starts[c + 1]):
                    out[q] = product[core[pattern[q]] * STRIP + c - left]
        _empty(work, used)
        _empty(product, reached)
