"""Entries of ``W A W.T`` for a sparse A, a few columns at a time.

Nothing larger than a tile of some columns is formed, and nothing is neglected: column i is
``W A (W.T e_i)``, two transforms and a sparse product. The work grows with the square of n, at the
speed of the transform.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline_jit, jit
from .simd import add_multiple, copy_row
from .transform import apply_block, apply_levels

__all__ = ["TILE", "core_entries", "wavelet_energies"]

TILE = 32


@inline_jit
def _wavelets(coordinates, first, last, levels, rotations, work, buffer):
    """Write the rows of W for ``coordinates[first:last]`` into the columns of the tile."""
    offsets, groups, block_offsets, blocks = rotations
    work[:] = 0.0
    for c in range(first, last):
        work[coordinates[c] * TILE + c - first] = 1.0
    for level in range(levels - 1, -1, -1):
        start = offsets[level]
        size = offsets[level + 1] - start
        apply_block(work, buffer, groups, start, blocks, block_offsets[level], size, False, TILE)


@inline_jit
def _multiply_row(indptr, indices, data, i, work, place):
    """Row i of the product of the sparse matrix and the tile, into the row of `work` at `place`."""
    work[place : place + TILE] = 0.0
    for q in range(indptr[i], indptr[i + 1]):
        add_multiple(work, np.uint64(indices[q]) * np.uint64(TILE), data[q], np.uint64(place), TILE)


@jit
def wavelet_energies(
    indptr, indices, data, coordinates, levels, first, last, rotations, work, buffer, out
):
    """Write the diagonal entries of ``coordinates[first:last]`` to `out`.

    ``levels[c]`` is the number of levels that coordinate takes part in; the coordinates are given
    in ascending order of it, and later levels are skipped. `work` is scratch, a tile with one row
    more than the matrix.
    """
    n = indptr.size - 1
    total = np.empty(TILE)
    for left in range(first, last, TILE):
        right = min(left + TILE, last)
        _wavelets(coordinates, left, right, levels[right - 1], rotations, work, buffer)
        total[:] = 0.0
        for i in range(n):
            _multiply_row(indptr, indices, data, i, work, n * TILE)
            for c in range(TILE):
                total[c] += work[n * TILE + c] * work[i * TILE + c]
        for c in range(left, right):
            out[coordinates[c]] = total[c - left]


@jit
def core_entries(
    indptr, indices, data, core, first, last, rotations, work, product, buffer,
    pattern_starts, pattern, out,
):  # fmt: skip
    """Entries of the core in the columns ``core[first:last]``, where wanted.

    `pattern_starts` and `pattern` tell where, column by column, numbered within the core; `out`
    has room for the value of each. All entries are wanted if `pattern_starts` is empty.
    """
    n = indptr.size - 1
    size = core.size
    offsets, groups, block_offsets, blocks = rotations
    for left in range(first, last, TILE):
        right = min(left + TILE, last)
        _wavelets(core, left, right, offsets.size - 1, rotations, work, buffer)
        for i in range(n):
            _multiply_row(indptr, indices, data, i, work, n * TILE)
            copy_row(work, np.uint64(n * TILE), product, np.uint64(i * TILE), TILE)
        apply_levels(product, buffer, offsets, groups, block_offsets, blocks, True, TILE)
        for c in range(left, right):
            if pattern_starts.size == 0:
                for a in range(size):
                    out[c * size + a] = product[core[a] * TILE + c - left]
            else:
                for q in range(pattern_starts[c], pattern_starts[c + 1]):
                    out[q] = product[core[pattern[q]] * TILE + c - left]
