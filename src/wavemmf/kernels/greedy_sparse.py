"""Best-first greedy index selection on sparse rows: nothing n-by-n is ever formed.

The same algorithm as on dense storage. The Gram row of a pivot is the combination of its
neighbours' rows, formed when the pivot is scored; a heap holds the scores. Entries that are
negligible beside both of their rows are discarded, which keeps the rows short; the rotations
found are exact rotations all the same, and the caller computes their exact error from the
original matrix.

Arrays that belong together travel in tuples: the `store` of rows (columns, values, start, length),
what is known of the `rows` (energy, diagonal entry, whether they may be rotated), the `pivots`
(groups, sizes, scores, versions, stamps), and `scratch`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .blocks import sparse_blocks
from .candidates import (
    SHIFTED,
    comparable,
    same_members,
    wavelets_of,
)
from .heap import heap_remove, heap_update
from .local import complete_rotation, local_score, quick_score
from .partners_sparse import LITTLE, best_partner, clear, fill_up, gram_row, most_correlated
from .small import congruence, product
from .sparse_rotation import gather_rows, union_of_rows, write_back
from .vectors import dot

__all__ = ["score_all", "sparse_greedy_levels"]

# Marks pivots that will be scored again at the end of the level.
_WAITING = -1


@jit
def new_scratch(n):
    """Work space that is zero before and after it is used, and lists of the rows it holds."""
    return np.zeros(n), np.empty(n, np.int64), np.zeros(n), np.empty(n, np.int64)


@jit
def score_all(store, rows, method, pivots, first, last):
    """Score the pivots from `first` up to `last` of the untouched matrix.

    Rows that are not free belong to no group; as pivots they come last, at an infinite cost.
    """
    scratch = new_scratch(store[2].size)
    for p in range(first, last):
        if rows[2][p]:
            _score_pivot(p, store, rows, method, pivots, scratch)
        else:
            pivots[2][p] = np.inf


@jit
def sparse_greedy_levels(
    columns, values, start, length, room, used,
    rows, pivots, method, heap, place, active, core, nearest, tolerance, diagonal, lost,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks, level, max_levels,
):  # fmt: skip
    """Run up to `max_levels` levels; returns the arena, the active size and the level count.

    Fewer if no free row is left. `method` is the wavelets per level, whether pairs are tried by
    true residual, and the mean of the diagonal (`wavemmf.kernels.centre`). `diagonal` receives the
    diagonal entry of every row as it is dropped. To ``lost[0]`` is added the squared error, to
    ``lost[1]`` the norms of what was discarded.
    """
    n = start.size
    energy, own, free = rows
    groups, sizes, scores, version, stamp = pivots
    scratch = new_scratch(n)
    slot = np.full(n, -1, np.int64)
    union = np.empty(n, np.int64)
    touched = np.empty(n, np.int64)
    stop = level + max_levels
    while active > core and level < stop:
        store = (columns, values, start, length)
        p = heap[0]
        if not free[p]:
            break
        if stamp[p] != _stamp_of(groups[p, : sizes[p]], version):
            _score_pivot(p, store, rows, method, pivots, scratch)
            heap_update(heap, place, scores, p, active)
            continue
        size = sizes[p]
        members = groups[p, :size].copy()
        width = union_of_rows(columns, start, length, members, slot, union)
        dense = gather_rows(columns, values, start, length, members, slot, width)
        block = np.empty((size, size))
        for a in range(size):
            for b in range(size):
                block[a, b] = dense[a, slot[members[b]]]
        count = min(wavelets_of(size, method[0]), active - core)
        _, basis = local_score(_gram_of(dense), block, count)
        rotation, positions = complete_rotation(basis, count, np.ones(size, np.bool_), nearest)
        rotated = product(rotation, dense)
        corner = congruence(rotation, block)
        for a in range(size):
            for b in range(size):
                rotated[a, slot[members[b]]] = corner[a, b]
            own[members[a]] = corner[a, a]

        out_sizes[level] = size
        out_drops[level] = count
        out_groups[level, :size] = members
        out_blocks[level, :size, :size] = rotation
        leaving = np.zeros(size, np.bool_)
        for q in range(count):
            leaving[positions[q]] = True
            out_wavelets[level, q] = members[positions[q]]
        level += 1
        for a in range(size):
            if leaving[a]:
                diagonal[members[a]] = corner[a, a]
                lost[0] += _dropped_energy(rotated, a, leaving, width)

        columns, values, used, discarded = write_back(
            columns, values, start, length, room, used,
            energy, members, leaving, rotated, union, width, slot, tolerance,
        )  # fmt: skip
        lost[1] += np.sqrt(discarded)
        for q in range(width):
            slot[union[q]] = -1
        for row in members:
            version[row] += 1
        for q in range(count):
            row = members[positions[q]]
            length[row] = 0
            heap_remove(heap, place, scores, row, active)
            active -= 1
        store = (columns, values, start, length)
        _rescore_around(
            store, rows, method, pivots, heap, place, active, members, leaving, scratch, touched
        )
    return columns, values, used, active, level


@jit
def _gram_of(dense):
    size = dense.shape[0]
    gram = np.empty((size, size))
    for a in range(size):
        for b in range(a + 1):
            gram[a, b] = dot(dense[a], dense[b])
            gram[b, a] = gram[a, b]
    return gram


@jit
def _dropped_energy(rotated, a, leaving, width):
    """The squared error of dropping row `a`; the group's columns come first in `rotated`."""
    total = 0.0
    for q in range(width):
        squared = rotated[a, q] * rotated[a, q]
        if q >= leaving.size or not leaving[q]:
            total += 2.0 * squared
        elif q != a:
            total += squared
    return total


@jit
def _rescore_around(
    store, rows, method, pivots, heap, place, active, members, leaving, scratch, touched
):
    """Score the surviving rows again, and the pivots nearby whose group was touched."""
    groups, sizes, scores, version, stamp = pivots
    seen = scratch[1]
    waiting = 0
    for a in range(members.size):
        stamp[members[a]] = _WAITING
    for a in range(members.size):
        if leaving[a]:
            continue
        count = _score_pivot(members[a], store, rows, method, pivots, scratch)
        heap_update(heap, place, scores, members[a], active)
        for q in range(count):
            other = seen[q]
            if place[other] < 0 or not rows[2][other] or stamp[other] == _WAITING:
                continue
            if scores[other] == 0.0:
                continue  # nothing can be better: it is scored again when its turn comes
            if stamp[other] != _stamp_of(groups[other, : sizes[other]], version):
                stamp[other] = _WAITING
                touched[waiting] = other
                waiting += 1
    for q in range(waiting):
        _score_pivot(touched[q], store, rows, method, pivots, scratch)
        heap_update(heap, place, scores, touched[q], active)


@jit
def _stamp_of(group, version):
    """Changes whenever a row of the group was rotated or dropped, since versions only grow."""
    total = 0
    for row in group:
        total += version[row]
    return total


@jit
def _score_pivot(p, store, rows, method, pivots, scratch):
    """Find the best group of pivot `p`, and its score; lists the rows it correlates with.

    Returns how many those are; they stand in ``scratch[1]``.
    """
    groups, sizes, scores, version, stamp = pivots
    drop, pairwise, shift = method
    workspace, seen = scratch[0], scratch[1]
    # Pairs are tried by true residual, so none may be missing.
    least = 0.0 if pairwise else LITTLE * LITTLE * rows[0][p]
    count = gram_row(p, store, least, workspace, seen)
    if pairwise:
        score, sizes[p], groups[p, 1] = best_partner(p, store, rows, workspace, seen, count)
        scores[p] = comparable(score)
        groups[p, 0] = p
        clear(workspace, seen, count)
    else:
        candidates = np.empty((2, groups.shape[1]), np.int64)
        lengths = most_correlated(p, store, rows, shift, candidates, workspace, seen, count)
        clear(workspace, seen, count)
        scores[p] = np.inf
        for c in range(2):
            # Rows of no use to the pivot may be of use to the others.
            size = fill_up(
                store, rows, 0.0 if c == SHIFTED else shift, candidates[c], lengths[c], scratch
            )
            members = candidates[c, :size]
            if c > 0 and size == sizes[p] and same_members(members, groups[p], size):
                continue
            gram, block = sparse_blocks(store, rows[0], members, workspace)
            wavelets = wavelets_of(size, drop)
            score = comparable(quick_score(gram, block, wavelets) / wavelets)
            if score < scores[p]:
                scores[p] = score
                sizes[p] = size
                groups[p, :size] = members
    stamp[p] = _stamp_of(groups[p, : sizes[p]], version)
    return count
