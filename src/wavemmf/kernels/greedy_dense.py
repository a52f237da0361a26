"""Best-first greedy index selection on a dense matrix.

The active matrix and its Gram matrix are kept up to date in place. Every active row is a pivot
with a candidate group and a score (half the squared error its wavelets would cost); each level
rotates the group of the best pivot, and afterwards only pivots whose group was touched are scored
again. The last active row moves into the place of a dropped one, so the active part is always
the leading block and every inner loop runs over contiguous memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit
from .arrays import stable_order, taken_from
from .blocks import gathered_blocks, record_level
from .candidates import comparable, wavelets_of
from .local import complete_rotation, local_score
from .pivots import new_memory, score_pivot
from .regrow import components, exchange_rows, is_axis, used_rows, with_heaviest
from .rotate import TILE, rotate_symmetric

__all__ = ["Choice", "greedy_levels", "move_last_row"]

# A dropped row's entries below this, relative to its norm, leave the Gram matrix as it is: their
# total effect is below what the scores can resolve.
NEGLIGIBLE = 1e-7
# A row loses this share of its own energy, or more, to a dropped column: score it again.
NOTICEABLE = 1e-3


class Choice(NamedTuple):
    """How groups are chosen.

    Wavelets per level; whether all pairs are tried (for groups of two); whether survivors are those
    nearest to the axes; the strength of the noise on scores and on correlations; the mean of the
    diagonal (`wavemmf.kernels.centre`); and whether rows that no wavelet uses leave the group.
    """

    drop: int
    exhaustive: bool
    nearest: bool
    score_noise: float
    correlation_noise: float
    shift: float
    trim: bool


@jit
def greedy_levels(
    matrix, gram, energy, labels, groups, sizes, scores, dirty,
    active, core, choice, rng, given_groups, given_sizes,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks, level, max_levels,
):  # fmt: skip
    """Run up to `max_levels` levels; return the new active size and level count.

    `matrix` and `gram` are the active matrix and its square in moved order, `energy` the diagonal
    of the latter, `labels` the original coordinates. `groups[p, :sizes[p]]` is the candidate
    group of pivot p, by position. Noise on scores and correlations makes runs differ; `rng` is its
    state (`wavemmf.kernels.noise`). Level l takes `given_groups[l, :given_sizes[l]]` (coordinates)
    if all of them are still active.
    """
    k = groups.shape[1]
    buffer = np.empty((k, TILE))
    support = np.empty(labels.size, np.int64)
    fresh = np.full(labels.size, -1, np.int64)
    memory = new_memory()
    component = components(matrix, labels, active, out_groups, out_sizes, level)
    stop = level + max_levels
    while active > core and level < stop:
        rows = _given_rows(labels, active, given_groups, given_sizes, level)
        given = rows.size
        if given == 0:
            p = _best_pivot(
                matrix, gram, energy, active, choice, rng,
                groups, sizes, scores, dirty, fresh, memory, level,
            )  # fmt: skip
            rows = groups[p, : sizes[p]].copy()
            if rows.size == 1 and k > 2 and choice.drop == 1 and not choice.trim:
                related = component[labels[:active]] == component[labels[rows[0]]]
                rows = with_heaviest(rows[0], energy, related, k)
        count = min(wavelets_of(rows.size, choice.drop), active - core)
        local_gram, local_block = gathered_blocks(matrix, gram, rows)
        score, basis = local_score(local_gram, local_block, count)
        if given == 0 and k > 2 and count == 1 and comparable(score) > 0.0:
            rows, basis = exchange_rows(matrix, gram, rows, score, basis, active, k)
        if given == 0 and choice.trim:
            used = used_rows(basis, count)
            if used.size < rows.size:
                # Rows that no wavelet needs stay as they are.
                rows = taken_from(rows, used)
                local_gram, local_block = gathered_blocks(matrix, gram, rows)
                _, basis = local_score(local_gram, local_block, count)
        size = rows.size
        everywhere = np.ones(size, np.bool_)
        # Where the wavelet is a row as it is, the others stay as they are too.
        nearest = choice.nearest or (count == 1 and is_axis(basis[0]))
        rotation, positions = complete_rotation(basis, count, everywhere, nearest)
        rotate_symmetric(matrix, rows, rotation, size, active, buffer, support)
        rotate_symmetric(gram, rows, rotation, size, active, buffer, support)

        record_level(
            level, rows, labels, rotation, positions,
            out_groups, out_sizes, out_wavelets, out_drops, out_blocks,
        )  # fmt: skip
        level += 1

        for row in rows:
            energy[row] = gram[row, row]
        _mark_touched(rows, active, groups, sizes, dirty)
        dropped = taken_from(rows, positions)
        for q in range(count):
            _downdate_gram(matrix, gram, energy, dropped[q], active, scores, dirty)
        ascending = stable_order(dropped)
        for q in range(count - 1, -1, -1):
            active -= 1
            _move_last(
                dropped[ascending[q]],
                active,
                matrix,
                gram,
                energy,
                labels,
                groups,
                sizes,
                scores,
                dirty,
            )
    return active, level


@jit
def _given_rows(labels, active, given_groups, given_sizes, level):
    """Where the rows of the group given for this level are; none unless all are active."""
    size = given_sizes[level] if level < given_sizes.size else 0
    rows = np.empty(size, np.int64)
    for a in range(size):
        rows[a] = -1
        for i in range(active):
            if labels[i] == given_groups[level, a]:
                rows[a] = i
                break
        if rows[a] < 0:
            return rows[:0]
    return rows


@jit
def _best_pivot(
    matrix, gram, energy, active, choice, rng, groups, sizes, scores, dirty, fresh, memory, level
):
    """The pivot with the smallest score, after re-scoring it if its score is not of this level.

    No score is below zero, so the first pivot that costs nothing is the one: the others stay
    dirty. Leaves of a hub are such pivots, and all have the same partners.
    """
    for p in range(active):
        if dirty[p] or scores[p] == 0.0:
            score_pivot(
                p, matrix, gram, energy, active, choice, rng, groups, sizes, scores, memory, level
            )
            dirty[p] = False
            fresh[p] = level
            if scores[p] == 0.0:
                return p
    while True:
        p = 0
        for i in range(1, active):
            if scores[i] < scores[p]:
                p = i
        if fresh[p] == level:
            return p
        before = scores[p]
        score_pivot(
            p, matrix, gram, energy, active, choice, rng, groups, sizes, scores, memory, level
        )
        fresh[p] = level
        if scores[p] <= before:
            return p


@jit
def _mark_touched(rows, active, groups, sizes, dirty):
    for p in range(active):
        for a in range(sizes[p]):
            member = groups[p, a]
            for row in rows:
                if member == row:
                    dirty[p] = True


@jit
def _downdate_gram(matrix, gram, energy, t, active, scores, dirty):
    """Take column `t` out of the Gram matrix of the rows that stay."""
    column = matrix[t, :active]
    limit = NEGLIGIBLE * NEGLIGIBLE * max(gram[t, t], 0.0)
    support = np.empty(active, np.int64)
    count = 0
    for j in range(active):
        if j != t and column[j] * column[j] > limit:
            support[count] = j
            count += 1
            if column[j] * column[j] > NOTICEABLE * scores[j]:
                dirty[j] = True
    for a in range(count):
        row = gram[support[a]]
        weight = column[support[a]]
        if count == active - 1:
            for j in range(active):
                row[j] -= weight * column[j]
        else:
            for b in range(count):
                row[support[b]] -= weight * column[support[b]]
        energy[support[a]] = row[support[a]]


@jit
def _move_last(t, last, matrix, gram, energy, labels, groups, sizes, scores, dirty):
    """Let the last active row take the place of the dropped row `t`."""
    if t == last:
        return
    move_last_row(matrix, t, last)
    move_last_row(gram, t, last)
    energy[t] = energy[last]
    labels[t] = labels[last]
    groups[t] = groups[last]
    sizes[t] = sizes[last]
    scores[t] = scores[last]
    dirty[t] = dirty[last]
    for p in range(last):
        for a in range(sizes[p]):
            if groups[p, a] == last:
                groups[p, a] = t


@jit
def move_last_row(matrix, t, last):
    """Overwrite row and column `t` with row and column `last` of a symmetric matrix."""
    corner = matrix[last, last]
    for j in range(last):
        value = matrix[last, j]
        if value != matrix[t, j]:
            matrix[t, j] = value
            matrix[j, t] = value
    matrix[t, t] = corner
