"""Many episodes of index selection side by side: apply one chosen group each, score what is left.

Rotations are in closed form, as in phase 1 of the two-phase process (appendix D.2 of the paper).
Every episode has an active matrix of its own, in the original order of coordinates; rows and
columns that were dropped are zero. Agents that look at the current matrix also need its Gram
matrix and, for every pivot, the cost of dropping the best wavelet of its group. Groups and costs
are cached and computed again only where a rotation was felt, as in `greedy_dense`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .blocks import dense_blocks
from .greedy_dense import Choice, _downdate_gram, _mark_touched
from .local import complete_rotation, local_score
from .pivots import new_memory, score_pivot
from .rotate import TILE, rotate_symmetric

__all__ = ["advance", "clear_rows", "score_dirty", "shortlist", "take_level"]

# A row counts as a neighbour of the pivot if their squared cosine is at least this.
SIGNIFICANT = 1e-4


@jit
def take_level(matrix, rows, allowed, count, nearest, buffer, support):
    """Rotate `rows` in closed form and drop `count` of them; only the matrix is updated.

    `allowed` marks the members of the group that may become wavelets. The dropped rows are left
    in place, for the caller to use and to clear. Returns the rotation, the places of the wavelets
    in the group, and the squared error they add.
    """
    size = rows.size
    gram, block = dense_blocks(matrix, rows, matrix.shape[0])
    _, basis = local_score(gram, block, count)
    rotation, places = complete_rotation(basis, count, allowed, nearest)
    rotate_symmetric(matrix, rows, rotation, size, matrix.shape[0], buffer, support)
    return rotation, places, _added_error(matrix, rows[places])


@jit
def advance(
    matrices, masks, grams, energies, groups, sizes, scores, neighbors, dirty, noises, random,
    actions, marked, count, drop, anywhere, scored, nearest, shift, few,
    out_groups, out_sizes, out_wavelets, out_blocks, out_costs, first, last,
):  # fmt: skip
    """Take one level in the episodes from `first` up to `last`.

    ``actions[b]`` is the group of episode b, the pivot first, padded by -1 at the end. Wavelets are
    the `count` members that are `marked` or, with `anywhere`, the members they overlap most. With
    `scored` the Gram matrices and the cached scores are kept up to date, and members orthogonal to
    the pivot leave the group unless marked: rotating them would mix what has nothing in common.
    """
    n = matrices.shape[1]
    buffer = np.empty((actions.shape[1], TILE))
    support = np.empty(n, np.int64)
    for b in range(first, last):
        matrix, gram, energy = matrices[b], grams[b], energies[b]
        rows, allowed = _members(actions[b], marked[b], gram, count, scored)
        size = rows.size
        if anywhere:
            allowed[:] = True
        rotation, places, cost = take_level(matrix, rows, allowed, count, nearest, buffer, support)
        out_costs[b] = cost
        out_sizes[b] = size
        out_groups[b, :size] = rows
        out_blocks[b, :size, :size] = rotation
        dropped = rows[places]
        out_wavelets[b, :count] = dropped
        if scored:
            rotate_symmetric(gram, rows, rotation, size, n, buffer, support)
            for row in rows:
                energy[row] = gram[row, row]
            _mark_touched(rows, n, groups[b], sizes[b], dirty[b])
        for q in range(count):
            t = dropped[q]
            masks[b, t] = False
            if scored:
                _downdate_gram(matrix, gram, energy, t, n, scores[b], dirty[b])
                energy[t] = 0.0
                sizes[b, t] = 0
            clear_rows(matrix, dropped[q : q + 1])
        if scored:
            clear_rows(gram, dropped)
    if scored:
        score_dirty(
            matrices, masks, grams, energies, groups, sizes, scores, neighbors, dirty,
            noises, random, drop, shift, few, first, last,
        )  # fmt: skip


@jit
def score_dirty(
    matrices, masks, grams, energies, groups, sizes, scores, neighbors, dirty, noises, random,
    drop, shift, few, first, last,
):  # fmt: skip
    """Find group and score of the active pivots that are marked, in the given episodes.

    Only the `few` pivots with the lowest scores are brought up to date: a rotation rarely makes a
    group cheaper. Groups are those of the greedy selector, with noise on correlations as strong as
    the episode has it.
    """
    n, k = masks.shape[1], groups.shape[2]
    memory = new_memory()
    for b in range(first, last):
        choice = Choice(drop, k == 2, False, 0.0, noises[b], shift, False)
        memory[1][:] = -1
        p = _stale_pivot(scores[b], masks[b], dirty[b], few)
        while p >= 0:
            dirty[b, p] = False
            score_pivot(
                p, matrices[b], grams[b], energies[b], n, choice, random[b : b + 1],
                groups[b], sizes[b], scores[b], memory, 0,
            )  # fmt: skip
            neighbors[b, p] = _near(p, grams[b, p], energies[b])
            p = _stale_pivot(scores[b], masks[b], dirty[b], few)


@jit
def _stale_pivot(scores, mask, dirty, few):
    """The first pivot of the few lowest scores whose score is not up to date; -1 if all are."""
    if few >= mask.size:
        for p in range(mask.size):
            if dirty[p] and mask[p]:
                return p
        return -1
    for p in shortlist(scores, mask, few):
        if p >= 0 and dirty[p]:
            return p
    return -1


@jit
def shortlist(scores, mask, few):
    """The active rows with the lowest scores, lowest first, padded by -1; of equals the first."""
    rows = np.full(few, -1, np.int64)
    size = 0
    for p in range(mask.size):
        if not mask[p] or (size == few and not scores[p] < scores[rows[few - 1]]):
            continue
        size = min(size + 1, few)
        place = size - 1
        while place > 0 and scores[rows[place - 1]] > scores[p]:
            rows[place] = rows[place - 1]
            place -= 1
        rows[place] = p
    return rows


@jit
def _near(p, row, energy):
    """How many rows are correlated with pivot `p`."""
    count = 0
    limit = SIGNIFICANT * energy[p]
    for j in range(row.size):
        if j != p and row[j] * row[j] > limit * energy[j]:
            count += 1
    return count


@jit
def _members(action, marked, gram, count, scored):
    """The group of an action, without members orthogonal to the pivot if that can be told.

    Members that are marked stay: they may be the wavelets. Returns the group and its marks.
    """
    rows = np.empty(action.size, np.int64)
    marks = np.empty(action.size, np.bool_)
    given = 0
    for row in action:
        if row >= 0:
            given += 1
    size = 0
    for a in range(given):
        spare = size + given - a > count
        if not marked[a] and scored and spare and gram[action[0], action[a]] == 0.0:
            continue
        rows[size] = action[a]
        marks[size] = marked[a]
        size += 1
    return rows[:size], marks[:size]


@jit
def _added_error(matrix, dropped):
    """Twice the squares of the dropped rows outside themselves, once those among themselves."""
    weight = np.full(matrix.shape[0], 2.0)
    weight[dropped] = 1.0
    total = 0.0
    for t in dropped:
        for j in range(matrix.shape[0]):
            if j != t:
                total += weight[j] * matrix[t, j] * matrix[t, j]
    return total


@jit
def clear_rows(matrix, rows):
    """Set rows and columns of a symmetric matrix to zero."""
    for t in rows:
        for j in range(matrix.shape[0]):
            if matrix[t, j] != 0.0:
                matrix[t, j] = 0.0
                matrix[j, t] = 0.0
