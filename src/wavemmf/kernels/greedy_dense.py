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
from .candidates import (
    CENTRED,
    HEAVY,
    ORTHOGONAL,
    SHIFTED,
    among,
    comparable,
    offer,
    pair_cost,
    same_members,
    wavelets_of,
)
from .local import complete_rotation, local_score, quick_score, quick_wavelet
from .noise import normal, scrambled, uniform
from .rotate import TILE, rotate_symmetric

__all__ = ["Choice", "greedy_levels", "move_last_row"]

# A dropped row's entries below this, relative to its norm, leave the Gram matrix as it is: their
# total effect is below what the scores can resolve.
NEGLIGIBLE = 1e-7
# A wavelet does not use a row if its entry is below this.
_UNUSED = 1e-6
# Scores kept within a level, a power of two.
_MEMORY = 1024
# Exchanges of rows tried on the group of a level.
_EXCHANGES = 8
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
    component = _components(matrix, labels, active, out_groups, out_sizes, level)
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
                rows = _with_heaviest(rows[0], energy, related, k)
        count = min(wavelets_of(rows.size, choice.drop), active - core)
        local_gram, local_block = _gather(matrix, gram, rows)
        score, basis = local_score(local_gram, local_block, count)
        if given == 0 and k > 2 and count == 1 and comparable(score) > 0.0:
            rows, basis = _exchange_rows(matrix, gram, rows, score, basis, active, k)
        if given == 0 and choice.trim:
            used = _used_rows(basis, count)
            if used.size < rows.size:
                # Rows that no wavelet needs stay as they are.
                rows = rows[used]
                local_gram, local_block = _gather(matrix, gram, rows)
                _, basis = local_score(local_gram, local_block, count)
        size = rows.size
        everywhere = np.ones(size, np.bool_)
        # Where the wavelet is a row as it is, the others stay as they are too.
        nearest = choice.nearest or (count == 1 and _is_axis(basis[0]))
        rotation, positions = complete_rotation(basis, count, everywhere, nearest)
        rotate_symmetric(matrix, rows, rotation, size, active, buffer, support)
        rotate_symmetric(gram, rows, rotation, size, active, buffer, support)

        out_sizes[level] = size
        out_drops[level] = count
        for a in range(size):
            out_groups[level, a] = labels[rows[a]]
            for b in range(size):
                out_blocks[level, a, b] = rotation[a, b]
        for q in range(count):
            out_wavelets[level, q] = labels[rows[positions[q]]]
        level += 1

        for row in rows:
            energy[row] = gram[row, row]
        _mark_touched(rows, active, groups, sizes, dirty)
        dropped = rows[positions]
        for q in range(count):
            _downdate_gram(matrix, gram, energy, dropped[q], active, scores, dirty)
        dropped.sort()
        for q in range(count - 1, -1, -1):
            active -= 1
            _move_last(
                dropped[q], active, matrix, gram, energy, labels, groups, sizes, scores, dirty
            )
    return active, level


@jit
def _components(matrix, labels, active, groups, sizes, levels):
    """A number for every coordinate, the same for those that are connected in the whole matrix.

    They are so in what is left of it, or have been rotated together.
    """
    parent = np.arange(labels.size)
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


@jit
def _with_heaviest(p, energy, related, k):
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
def _is_axis(wavelet):
    """Whether a wavelet is one of the rows of its group."""
    for a in range(wavelet.size):
        if abs(wavelet[a]) > 1.0 - 1e-12:
            return True
    return False


@jit
def _exchange_rows(matrix, gram, rows, score, basis, active, k):
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
            changed = np.append(_most_used(members, wavelet, kept), enters)
            changed, cost, turned = _grown(matrix, gram, changed, active, k)
            if comparable(cost) < comparable(best):
                best, members, wavelet = cost, changed, turned
                improved = True
                break
            kept = (kept + 1) // 2 if kept > 1 else 0
        if not improved:
            break
    if best < score:
        local_gram, local_block = _gather(matrix, gram, members)
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
    return rows[kept]


@jit
def _grown(matrix, gram, rows, active, k):
    """Add the rows that the wavelet of a group leaks into; the group, its cost and its wavelet."""
    while True:
        local_gram, local_block = _gather(matrix, gram, rows)
        cost, wavelet = quick_wavelet(local_gram, local_block)
        if rows.size == k:
            return rows, cost, wavelet
        enters = _largest_leak(matrix, rows, wavelet, active)
        if enters < 0:
            return rows, cost, wavelet
        rows = np.append(rows, enters)


@jit
def _used_rows(basis, count):
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
        used[:] = True
    return np.flatnonzero(used)


@jit
def _largest_leak(matrix, rows, wavelet, active):
    """The row outside a group that its wavelet has the largest entry with; -1 if there is none."""
    leak = np.zeros(active)
    for a in range(rows.size):
        for j in range(active):
            leak[j] += wavelet[a] * matrix[rows[a], j]
    leak[rows] = 0.0
    best = 0.0
    pick = -1
    for j in range(active):
        key = comparable(leak[j] * leak[j])
        if key > best:
            best = key
            pick = j
    return pick


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
def _gather(matrix, gram, rows):
    size = rows.size
    local_gram = np.empty((size, size))
    local_block = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            local_gram[a, b] = gram[rows[a], rows[b]]
            local_block[a, b] = matrix[rows[a], rows[b]]
    return local_gram, local_block


@jit
def _score_pivot(
    p, matrix, gram, energy, active, choice, rng, groups, sizes, scores, memory, level
):
    """Find the best candidate group of pivot `p` and its score per wavelet."""
    k = groups.shape[1]
    if choice.exhaustive:
        partner, score = _best_partner(p, matrix, gram, energy, active)
        groups[p, 0] = p
        sizes[p] = 1
        if partner >= 0:
            groups[p, 1] = partner
            sizes[p] = 2
        scores[p] = _perturbed(comparable(score), choice.score_noise, rng)
        return
    candidates = np.empty((3, k), np.int64)
    lengths = np.empty(3, np.int64)
    _most_correlated(p, matrix, gram, energy, active, choice, rng, candidates, lengths)
    scores[p] = np.inf
    for c in range(3):
        # Rows of no use to the pivot may be of use to the others.
        offset = -choice.shift if c == CENTRED else 0.0
        size = _fill_up(matrix, gram, energy, active, offset, candidates[c], lengths[c])
        rows = candidates[c, :size]
        if c > 0 and size == sizes[p] and same_members(rows, groups[p], size):
            continue
        score = _score_group(matrix, gram, rows, choice.drop, memory, level)
        if score < scores[p]:
            scores[p] = score
            sizes[p] = size
            groups[p, :size] = rows
    scores[p] = _perturbed(scores[p], choice.score_noise, rng)


@jit
def new_memory():
    """Scores of groups met in a level: members as one number, the level, the score."""
    return np.zeros(_MEMORY, np.uint64), np.full(_MEMORY, -1, np.int64), np.empty(_MEMORY)


@jit
def _score_group(matrix, gram, rows, drop, memory, level):
    """The score per wavelet, to nine digits; the groups of neighbours are often the same."""
    members, levels, scores = memory
    key = np.uint64(rows.size)
    for row in rows:
        key += scrambled(np.uint64(row + 1))
    place = np.int64(key & np.uint64(_MEMORY - 1))
    if levels[place] == level and members[place] == key:
        return scores[place]
    local_gram, local_block = _gather(matrix, gram, rows)
    count = wavelets_of(rows.size, drop)
    score = quick_score(local_gram, local_block, count)
    members[place] = key
    levels[place] = level
    scores[place] = comparable(score / count)
    return scores[place]


@jit
def _perturbed(score, noise, rng):
    """The score times the exponential of Gumbel noise: a random choice among good groups."""
    if noise == 0.0:
        return score
    return comparable((score + 1e-9) * np.exp(noise * np.log(-np.log(uniform(rng)))))


@jit
def _most_correlated(p, matrix, gram, energy, active, choice, rng, candidates, lengths):
    """Pivot `p` and its up to k-1 best partners, by three measures.

    By ``g_pj^2 / g_jj``, which prefers rows parallel to the pivot; by the same with the shift taken
    out of the diagonal; and by ``g_pj^2``, which prefers heavy rows. None is best everywhere. Rows
    orthogonal to the pivot are left out.
    """
    keys = np.zeros(candidates.shape)
    candidates[:, 0] = p
    lengths[:] = 1
    shift = choice.shift
    noise = choice.correlation_noise
    row = gram[p, :active]
    entries = matrix[p, :active]
    least = ORTHOGONAL * energy[p]
    for j in range(active):
        if j == p:
            continue
        factor = np.exp(2.0 * noise * normal(rng)) if noise > 0.0 else 1.0
        squared = row[j] * row[j]
        if squared > least * energy[j]:
            offer(keys, candidates, lengths, SHIFTED, squared * factor / energy[j], j)
            offer(keys, candidates, lengths, HEAVY, squared * factor, j)
        centred = row[j] - 2.0 * shift * entries[j]
        squared = centred * centred
        rest = energy[j] - 2.0 * shift * matrix[j, j] + shift * shift
        if squared > least * energy[j] and rest > 0.0:
            offer(keys, candidates, lengths, CENTRED, squared * factor / rest, j)


@jit
def _fill_up(matrix, gram, energy, active, offset, group, size):
    """Complete a group by the rows that are most correlated with its members, taken together."""
    if size == 1 or size == group.size:
        return size
    total = np.zeros(active)
    for a in range(size):
        _add_correlations(matrix, gram, energy, active, offset, group[a], total)
    while size < group.size:
        best = 0.0
        pick = -1
        for j in range(active):
            key = comparable(total[j])
            if key > best and not among(group, size, j):
                best = key
                pick = j
        if pick < 0:
            break
        group[size] = pick
        size += 1
        _add_correlations(matrix, gram, energy, active, offset, pick, total)
    return size


@jit
def _add_correlations(matrix, gram, energy, active, offset, member, total):
    for j in range(active):
        g = gram[member, j] + 2.0 * offset * matrix[member, j]
        rest = energy[j] + 2.0 * offset * matrix[j, j] + offset * offset
        if g * g > ORTHOGONAL * energy[member] * energy[j] and rest > 0.0:
            total[j] += g * g / rest


@jit
def _best_partner(p, matrix, gram, energy, active):
    """The row whose rotation with `p` costs least, trying both eigenvectors of every pair."""
    partner = -1
    best = np.inf
    for j in range(active):
        g = gram[p, j]
        if j == p or (g == 0.0 and matrix[p, j] == 0.0):
            continue
        cost = comparable(
            pair_cost(energy[p], g, energy[j], matrix[p, p], matrix[p, j], matrix[j, j], best)
        )
        if cost < best:
            best = cost
            partner = j
    if partner < 0:  # orthogonal to every other row: dropped as it is
        best = max(gram[p, p] - matrix[p, p] * matrix[p, p], 0.0)
    return partner, best


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
            _score_pivot(
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
        _score_pivot(
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
