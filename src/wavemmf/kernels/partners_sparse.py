"""Which rows of sparse storage a pivot has most in common with: its Gram row, and the best of it.

Arrays travel in the tuples of `greedy_sparse`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .candidates import CENTRED, ORTHOGONAL, SHIFTED, among, comparable, offer, pair_cost
from .listed import add_listed
from .sparse_rows import find_entry

__all__ = [
    "HUB",
    "LITTLE",
    "best_partner",
    "clear",
    "fill_up",
    "gram_row",
    "most_correlated",
]

# Entries below this share of the norm of their row do not look for partners.
LITTLE = 0.1
# Through a longer row a pivot meets only this many rows: those next to it there.
HUB = 1024


@jit
def clear(workspace, seen, count):
    for q in range(count):
        workspace[seen[q]] = 0.0


@jit
def gram_row(p, store, least, workspace, seen):
    """Add up the rows of the neighbours of `p` in `workspace`; `seen` lists what was written.

    Neighbours with a squared weight below `least` are left out: rows have many small entries, and
    the sum only ranks partners; scores come from exact Gram blocks. For the same reason a hub
    shows only a part of its row, and a different one to each pivot: otherwise each of its
    neighbours would cost as much as all of them, and all would want the same partners.
    """
    columns, values, start, length = store
    count = 0
    for q in range(start[p], start[p] + length[p]):
        c = columns[q]
        weight = values[q]
        if weight * weight < least:
            continue
        z, shown = _shown(c, p, store)
        for _ in range(shown):
            count = add_listed(workspace, seen, count, columns[z], weight * values[z])
            z += 1
            if z == start[c] + length[c]:
                z = start[c]
    return count


@jit
def _centre(workspace, p, shift, store):
    """Make the Gram row of `p`, where it is listed, that of the matrix less a shift."""
    if shift == 0.0:
        return
    columns, values, start, length = store
    for q in range(start[p], start[p] + length[p]):
        if workspace[columns[q]] != 0.0:
            workspace[columns[q]] -= 2.0 * shift * values[q]


@jit
def _shown(c, p, store):
    """Where the entries of row `c` begin that its neighbour `p` meets, and how many there are.

    Behind the last entry comes the first, so of two rows each meets the other or neither does.
    """
    columns, _, start, length = store
    if length[c] <= HUB:
        return start[c], length[c]
    own = find_entry(columns, start, length, c, p) - start[c]
    return start[c] + (own - HUB // 2) % length[c], HUB + 1


@jit
def most_correlated(p, store, rows, shift, candidates, workspace, seen, count):
    """Pivot `p` and its up to k-1 best partners, by the two measures; returns how many each."""
    energy, own, free = rows
    keys = np.zeros(candidates.shape)
    lengths = np.ones(2, np.int64)
    candidates[:, 0] = p
    least = ORTHOGONAL * energy[p]
    for q in range(count):
        j = seen[q]
        squared = workspace[j] * workspace[j]
        if j != p and free[j] and squared > least * energy[j]:
            offer(keys, candidates, lengths, SHIFTED, squared / energy[j], j)
    _centre(workspace, p, shift, store)
    for q in range(count):
        j = seen[q]
        squared = workspace[j] * workspace[j]
        rest = energy[j] - 2.0 * shift * own[j] + shift * shift
        if j != p and free[j] and squared > least * energy[j] and rest > 0.0:
            offer(keys, candidates, lengths, CENTRED, squared / rest, j)
    return lengths


@jit
def fill_up(store, rows, shift, group, size, scratch):
    """Complete a group by the rows that are most correlated with its members, taken together."""
    if size == 1 or size == group.size:
        return size
    total, listed = scratch[2], scratch[3]
    count = 0
    for a in range(size):
        count = _add_correlations(group[a], store, rows, shift, scratch, count)
    while size < group.size:
        best = 0.0
        pick = -1
        for q in range(count):
            key = comparable(total[listed[q]])
            if key > best and not among(group, size, listed[q]):
                best = key
                pick = listed[q]
        if pick < 0:
            break
        group[size] = pick
        size += 1
        count = _add_correlations(pick, store, rows, shift, scratch, count)
    clear(total, listed, count)
    return size


@jit
def _add_correlations(member, store, rows, shift, scratch, count):
    """Add what rows have in common with a member to their totals; `count` rows have one."""
    energy, own, free = rows
    # The rows the pivot correlates with stay listed in ``scratch[1]``, so these go elsewhere.
    workspace, total, listed = scratch[0], scratch[2], scratch[3]
    least = LITTLE * LITTLE * energy[member]
    seen = np.empty(_reach(member, store, least), np.int64)
    found = gram_row(member, store, least, workspace, seen)
    _centre(workspace, member, shift, store)
    for q in range(found):
        j = seen[q]
        squared = workspace[j] * workspace[j]
        workspace[j] = 0.0
        rest = energy[j] - 2.0 * shift * own[j] + shift * shift
        if free[j] and squared > ORTHOGONAL * energy[member] * energy[j] and rest > 0.0:
            if total[j] == 0.0:
                listed[count] = j
                count += 1
            total[j] += squared / rest
    return count


@jit
def _reach(p, store, least):
    """How many entries the rows of the neighbours of `p` have, those too weak left out."""
    columns, values, start, length = store
    total = 0
    for q in range(start[p], start[p] + length[p]):
        if values[q] * values[q] >= least:
            total += min(length[columns[q]], HUB + 1)
    return total


@jit
def best_partner(p, store, rows, workspace, seen, count):
    """The cheapest pair with `p`: its score, the group size, and the partner."""
    energy, own, free = rows
    best = np.inf
    partner = -1
    for q in range(count):
        j = seen[q]
        if j != p and free[j]:
            between = _entry(store, p, j)
            cost = comparable(
                pair_cost(energy[p], workspace[j], energy[j], own[p], between, own[j], best)
            )
            if cost < best:
                best = cost
                partner = j
    if partner < 0:
        return max(energy[p] - own[p] * own[p], 0.0), 1, p
    return best, 2, partner


@jit
def _entry(store, row, column):
    columns, values, start, length = store
    at = find_entry(columns, start, length, row, column)
    if at < start[row] + length[row] and columns[at] == column:
        return values[at]
    return 0.0
