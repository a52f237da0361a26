"""What waiting rows may be of use for: what each level costs, and the rows its wavelet lacks."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .candidates import comparable
from .rotate import TILE, rotate_symmetric

__all__ = ["costs_and_company"]


@jit
def costs_and_company(
    matrix, offsets, groups, block_offsets, blocks, drop_offsets, wavelets, waits, k
):
    """Half the squared error of each level, and up to k-1 rows to be rotated before it.

    `matrix` is rotated in place, in levels that do not wait. Company is the row that the wavelet of
    the level uses most, the rows outside the group that it leaks into, and then other rows of
    the group; places left over are -1. Rows of levels that wait are nobody's company outside
    their groups.
    """
    n = matrix.shape[0]
    levels = offsets.size - 1
    buffer, support = np.empty((k, TILE)), np.empty(n, np.int64)
    outside = np.ones(n, np.bool_)
    for level in range(levels):
        if waits[level]:
            outside[wavelets[drop_offsets[level]]] = False
    costs = np.zeros(levels)
    company = np.full((levels, k - 1), -1)
    for level in range(levels):
        if waits[level]:
            continue
        rows = groups[offsets[level] : offsets[level + 1]]
        size = rows.size
        block = blocks[block_offsets[level] : block_offsets[level + 1]].reshape((size, size))
        dropped = wavelets[drop_offsets[level] : drop_offsets[level + 1]]
        _find_company(matrix, rows, block[_place(rows, dropped[0])], outside, company[level])
        rotate_symmetric(matrix, rows, block, size, n, buffer, support)
        outside[dropped] = False
        costs[level] = _cost(matrix, dropped, outside)
    return costs, company


@jit
def _place(rows, row):
    for a in range(rows.size):
        if rows[a] == row:
            return a
    return -1


@jit
def _cost(matrix, dropped, outside):
    """What dropped rows have with rows that stay, and among themselves."""
    total = 0.0
    for q in range(dropped.size):
        for j in range(outside.size):
            if outside[j]:
                total += matrix[dropped[q], j] ** 2
        for p in range(q):
            total += matrix[dropped[q], dropped[p]] ** 2
    return comparable(total)


@jit
def _find_company(matrix, rows, wavelet, outside, company):
    used = np.zeros(outside.size)
    leak = np.zeros(outside.size)
    for a in range(rows.size):
        used[rows[a]] = wavelet[a] * wavelet[a]
        for j in range(leak.size):
            leak[j] += wavelet[a] * matrix[rows[a], j]
    for j in range(leak.size):
        leak[j] = leak[j] * leak[j] if outside[j] else 0.0
    leak[rows] = 0.0
    count = _add_largest(used, company, 0, 1)
    count = _add_largest(leak, company, count, company.size)
    _add_largest(used, company, count, company.size)


@jit
def _add_largest(keys, chosen, count, wanted):
    """Append rows by decreasing key, of equals the first, until `wanted` or keys of zero."""
    while count < wanted:
        best = 0.0
        pick = -1
        for j in range(keys.size):
            key = comparable(keys[j])
            if key > best:
                best = key
                pick = j
        if pick < 0:
            break
        chosen[count] = pick
        keys[pick] = 0.0
        count += 1
    return count
