"""Which rows a pivot of a dense matrix is grouped with, and what its wavelets would cost."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import put
from .blocks import gathered_blocks
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
from .local import quick_score
from .noise import normal, scrambled, uniform

__all__ = ["new_memory", "score_pivot"]

# Scores kept within a level, a power of two.
_MEMORY = 1024


@jit
def score_pivot(p, matrix, gram, energy, active, choice, rng, groups, sizes, scores, memory, level):
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
            put(groups[p], 0, rows)
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
    local_gram, local_block = gathered_blocks(matrix, gram, rows)
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
    for c in range(lengths.size):
        candidates[c, 0] = p
        lengths[c] = 1
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
