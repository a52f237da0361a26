"""What a chosen group becomes before it is rotated: rows come, rows go.

A wavelet leaks into rows outside its group and hardly uses some inside. The group is grown again
around those it uses most, by those it leaks into, as long as that lowers its cost.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import appended, marked, numbers, taken_from
from .blocks import gathered_blocks
from .candidates import among, comparable
from .local import local_score, quick_wavelet

__all__ = ["components", "exchange_rows", "is_axis", "used_rows", "with_heaviest"]

# A wavelet does not use a row if its entry is below this.
_UNUSED = 1e-6
# Exchanges of rows tried on the group of a level.
_EXCHANGES = 8


@jit
def exchange_rows(matrix, gram, rows, score, basis, active, k):
    """Take in rows that the wavelet of a group leaks into, in place of those it hardly uses.

    `basis` begins with the wavelet; returns the rows and the basis as long as that helps. The fewer
    rows are kept, the more can be exchanged at once: two rows may help where neither does alone.
    """
    wavelet = basis[0].copy()
    best = score
    members = rows
    for _ in range(_EXCHANGES):
        enters = _largest_leak(matrix, members, wavelet, active)
        if enters < 0:
            break
        kept = min(members.size, k - 1)
        improved = False
        while kept > 0:
            changed = appended(_most_used(members, wavelet, kept), enters)
            changed, cost, turned = _grown(matrix, gram, changed, active, k)
            if comparable(cost) < comparable(best):
                best, members, wavelet = cost, changed, turned
                improved = True
                break
            kept = (kept + 1) // 2 if kept > 1 else 0
        if not improved:
            break
    if best < score:
        local_gram, local_block = gathered_blocks(matrix, gram, members)
        after, turned = local_score(local_gram, local_block, 1)
        if comparable(after) < comparable(score):
            return members, turned
    return rows, basis


@jit
def _most_used(rows, wavelet, count):
    """The rows of a group that its wavelet uses most, in the order of the group."""
    kept = np.ones(rows.size, np.bool_)
    for _ in range(rows.size - count):
        pick = -1
        least = np.inf
        for a in range(rows.size):
            share = comparable(wavelet[a] * wavelet[a])
            if kept[a] and share < least:
                least = share
                pick = a
        kept[pick] = False
    return taken_from(rows, marked(kept))


@jit
def _grown(matrix, gram, rows, active, k):
    """Add the rows that the wavelet of a group leaks into; the group, its cost and its wavelet."""
    while True:
        local_gram, local_block = gathered_blocks(matrix, gram, rows)
        cost, wavelet = quick_wavelet(local_gram, local_block)
        if rows.size == k:
            return rows, cost, wavelet
        enters = _largest_leak(matrix, rows, wavelet, active)
        if enters < 0:
            return rows, cost, wavelet
        rows = appended(rows, enters)


@jit
def _largest_leak(matrix, rows, wavelet, active):
    """The row outside a group that its wavelet has the largest entry with; -1 if there is none."""
    leak = np.zeros(active)
    for a in range(rows.size):
        for j in range(active):
            leak[j] += wavelet[a] * matrix[rows[a], j]
    for row in rows:
        leak[row] = 0.0
    best = 0.0
    pick = -1
    for j in range(active):
        key = comparable(leak[j] * leak[j])
        if key > best:
            best = key
            pick = j
    return pick


@jit
def used_rows(basis, count):
    """Which rows of a group its wavelets use: more than there are wavelets, or all."""
    size = basis.shape[1]
    used = np.zeros(size, np.bool_)
    total = 0
    for a in range(size):
        for q in range(count):
            if abs(basis[q, a]) > _UNUSED:
                used[a] = True
        total += used[a]
    if total <= count:
        return numbers(size)
    return marked(used)


@jit
def with_heaviest(p, energy, related, k):
    """A row that is orthogonal to all others, with the heaviest of its component.

    It is a wavelet as it is; the others give those who optimise all rotations room to improve on
    what was chosen before.
    """
    rows = np.empty(k, np.int64)
    rows[0] = p
    size = 1
    while size < k:
        best = -1.0
        pick = -1
        for j in range(related.size):
            weight = comparable(energy[j])
            if related[j] and weight > best and not among(rows, size, j):
                best = weight
                pick = j
        if pick < 0:
            break
        rows[size] = pick
        size += 1
    return rows[:size].copy()


@jit
def is_axis(wavelet):
    """Whether a wavelet is one of the rows of its group."""
    for a in range(wavelet.size):
        if abs(wavelet[a]) > 1.0 - 1e-12:
            return True
    return False


@jit
def components(matrix, labels, active, groups, sizes, levels):
    """A number for every coordinate, the same for those that are connected in the whole matrix.

    They are so in what is left of it, or have been rotated together.
    """
    parent = numbers(labels.size)
    for i in range(active):
        for j in range(i):
            if matrix[i, j] != 0.0:
                parent[_root(parent, labels[i])] = _root(parent, labels[j])
    for level in range(levels):
        for a in range(1, sizes[level]):
            parent[_root(parent, groups[level, a])] = _root(parent, groups[level, 0])
    for i in range(parent.size):
        parent[i] = _root(parent, i)
    return parent


@jit
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
