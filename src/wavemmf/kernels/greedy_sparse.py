"""Best-first greedy index selection on sparse rows: nothing n-by-n is ever formed.

The same algorithm as on dense storage. The Gram row of a pivot is the combination of its
neighbours' rows, formed when the pivot is scored; a heap holds the scores. Entries that are
negligible beside both of their rows are discarded, which keeps the rows short; the rotations
found are exact rotations all the same, and the caller computes their exact error from the
original matrix.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .candidates import insert_sorted, pair_cost, same_members, wavelets_of
from .heap import heap_remove, heap_update
from .local import complete_rotation, local_score, smallest_cost
from .sparse_rotation import gather_rows, union_of_rows, write_back
from .sparse_rows import find_entry

__all__ = ["score_all", "sparse_greedy_levels"]

# Entries below this share of the norm of their row do not look for partners.
_LITTLE = 0.1
# Marks pivots that will be scored again at the end of the level.
_WAITING = -1


@jit
def score_all(
    columns, values, start, length, energy, free, drop, pairwise, both,
    groups, sizes, scores, version, stamp, first, last,
):  # fmt: skip
    """Score the pivots from `first` up to `last` of the untouched matrix.

    Rows that are not `free` belong to no group; as pivots they come last, at an infinite cost.
    """
    n = start.size
    workspace = np.zeros(n)
    seen = np.empty(n, np.int64)
    for p in range(first, last):
        if free[p]:
            _score_pivot(
                p, columns, values, start, length, energy, free, drop, pairwise, both,
                groups, sizes, scores, version, stamp, workspace, seen,
            )  # fmt: skip
        else:
            scores[p] = np.inf


@jit
def sparse_greedy_levels(
    columns, values, start, length, room, used,
    energy, free, groups, sizes, scores, version, stamp, heap, place,
    active, core, drop, pairwise, nearest, tolerance, diagonal, lost,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks, level, max_levels,
):  # fmt: skip
    """Run up to `max_levels` levels; returns the arena, the active size and the level count.

    Fewer if no free row is left. `diagonal` receives the diagonal entry of every row as it is
    dropped. To ``lost[0]`` is added the squared error, to ``lost[1]`` the norms of what was
    discarded.
    """
    n = start.size
    both = not nearest
    workspace = np.zeros(n)
    slot = np.full(n, -1, np.int64)
    seen = np.empty(n, np.int64)
    union = np.empty(n, np.int64)
    touched = np.empty(n, np.int64)
    stop = level + max_levels
    while active > core and level < stop:
        p = heap[0]
        if not free[p]:
            break
        if stamp[p] != _stamp_of(groups[p, : sizes[p]], version):
            _score_pivot(
                p, columns, values, start, length, energy, free, drop, pairwise, both,
                groups, sizes, scores, version, stamp, workspace, seen,
            )  # fmt: skip
            heap_update(heap, place, scores, p, active)
            continue
        size = sizes[p]
        rows = groups[p, :size].copy()
        width = union_of_rows(columns, start, length, rows, slot, union)
        dense = gather_rows(columns, values, start, length, rows, slot, width)
        block = np.empty((size, size))
        for a in range(size):
            for b in range(size):
                block[a, b] = dense[a, slot[rows[b]]]
        count = min(wavelets_of(size, drop), active - core)
        _, vectors, chosen = local_score(dense @ dense.T, block, count)
        rotation, positions = complete_rotation(
            vectors, chosen, block, np.ones(size, np.bool_), nearest
        )
        rotated = rotation @ dense
        corner = rotation @ block @ rotation.T
        for a in range(size):
            for b in range(size):
                rotated[a, slot[rows[b]]] = 0.5 * (corner[a, b] + corner[b, a])

        out_sizes[level] = size
        out_drops[level] = count
        out_groups[level, :size] = rows
        out_blocks[level, :size, :size] = rotation
        leaving = np.zeros(size, np.bool_)
        for q in range(count):
            leaving[positions[q]] = True
            out_wavelets[level, q] = rows[positions[q]]
        level += 1
        for a in range(size):
            if leaving[a]:
                diagonal[rows[a]] = rotated[a, slot[rows[a]]]
                lost[0] += _dropped_energy(rotated, a, leaving, width)

        columns, values, used, discarded = write_back(
            columns, values, start, length, room, used,
            energy, rows, leaving, rotated, union, width, slot, tolerance,
        )  # fmt: skip
        lost[1] += np.sqrt(discarded)
        for q in range(width):
            slot[union[q]] = -1
        for row in rows:
            version[row] += 1
        for q in range(count):
            row = rows[positions[q]]
            length[row] = 0
            heap_remove(heap, place, scores, row, active)
            active -= 1
        _rescore_around(
            columns, values, start, length, energy, free, drop, pairwise, both,
            groups, sizes, scores, version, stamp, heap, place, active,
            rows, leaving, workspace, seen, touched,
        )  # fmt: skip
    return columns, values, used, active, level


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
    columns, values, start, length, energy, free, drop, pairwise, both,
    groups, sizes, scores, version, stamp, heap, place, active,
    rows, leaving, workspace, seen, touched,
):  # fmt: skip
    """Score the surviving rows again, and the pivots nearby whose group was touched."""
    waiting = 0
    for a in range(rows.size):
        stamp[rows[a]] = _WAITING
    for a in range(rows.size):
        if leaving[a]:
            continue
        count = _score_pivot(
            rows[a], columns, values, start, length, energy, free, drop, pairwise, both,
            groups, sizes, scores, version, stamp, workspace, seen,
        )  # fmt: skip
        heap_update(heap, place, scores, rows[a], active)
        for q in range(count):
            other = seen[q]
            if place[other] < 0 or not free[other] or stamp[other] == _WAITING:
                continue
            if stamp[other] != _stamp_of(groups[other, : sizes[other]], version):
                stamp[other] = _WAITING
                touched[waiting] = other
                waiting += 1
    for q in range(waiting):
        other = touched[q]
        _score_pivot(
            other, columns, values, start, length, energy, free, drop, pairwise, both,
            groups, sizes, scores, version, stamp, workspace, seen,
        )  # fmt: skip
        heap_update(heap, place, scores, other, active)


@jit
def _stamp_of(group, version):
    """Changes whenever a row of the group was rotated or dropped, since versions only grow."""
    total = 0
    for row in group:
        total += version[row]
    return total


@jit
def _score_pivot(
    p, columns, values, start, length, energy, free, drop, pairwise, both,
    groups, sizes, scores, version, stamp, workspace, seen,
):  # fmt: skip
    """Find the best group of pivot `p`, and its score; `seen` lists the rows it correlates with."""
    k = groups.shape[1]
    # Pairs are tried by true residual, so none may be missing.
    least = 0.0 if pairwise else _LITTLE * _LITTLE * energy[p]
    count = _gram_row(p, columns, values, start, length, least, workspace, seen)
    if pairwise:
        scores[p], sizes[p], groups[p, 1] = _best_partner(
            p, columns, values, start, length, energy, free, workspace, seen, count
        )
        groups[p, 0] = p
        for q in range(count):
            workspace[seen[q]] = 0.0
    else:
        relative = np.empty(k, np.int64)
        absolute = np.empty(k, np.int64)
        size = _most_correlated(p, energy, free, k, relative, absolute, workspace, seen, count)
        for q in range(count):
            workspace[seen[q]] = 0.0
        scores[p] = np.inf
        for candidate in range(2):
            rows = relative[:size] if candidate == 0 else absolute[:size]
            if candidate == 1 and not (both and not same_members(relative, absolute, size)):
                break
            gram, block = _local_matrices(columns, values, start, length, energy, rows, workspace)
            wavelets = wavelets_of(size, drop)
            if wavelets == 1:
                score = smallest_cost(gram, block)
            else:
                score, _, _ = local_score(gram, block, wavelets)
            if score / wavelets < scores[p]:
                scores[p] = score / wavelets
                sizes[p] = size
                groups[p, :size] = rows
    stamp[p] = _stamp_of(groups[p, : sizes[p]], version)
    return count


@jit
def _gram_row(p, columns, values, start, length, least, workspace, seen):
    """Add up the rows of the neighbours of `p` in `workspace`; `seen` lists what was written.

    Neighbours with a squared weight below `least` are left out: rows have many small entries, and
    the sum only ranks partners; scores come from exact Gram blocks.
    """
    count = 0
    for q in range(start[p], start[p] + length[p]):
        c = columns[q]
        weight = values[q]
        if weight * weight < least:
            continue
        for z in range(start[c], start[c] + length[c]):
            j = columns[z]
            if workspace[j] == 0.0:
                seen[count] = j
                count += 1
            workspace[j] += weight * values[z]
            if workspace[j] == 0.0:
                workspace[j] = 1e-300  # cancelled: keep it listed once only
    return count


@jit
def _most_correlated(p, energy, free, k, relative, absolute, workspace, seen, count):
    """Pivot `p` and its k-1 best partners by ``g_pj^2 / g_jj`` and by ``g_pj^2``."""
    best_relative = np.zeros(k)
    best_absolute = np.zeros(k)
    relative[0] = p
    absolute[0] = p
    size = 1
    for q in range(count):
        j = seen[q]
        squared = workspace[j] * workspace[j]
        if j == p or squared == 0.0 or energy[j] <= 0.0 or not free[j]:
            continue
        if size < k:
            size += 1
            insert_sorted(best_relative, relative, size - 1, squared / energy[j], j)
            insert_sorted(best_absolute, absolute, size - 1, squared, j)
        else:
            if squared > best_absolute[k - 1]:
                insert_sorted(best_absolute, absolute, k - 1, squared, j)
            if squared > best_relative[k - 1] * energy[j]:
                insert_sorted(best_relative, relative, k - 1, squared / energy[j], j)
    return size


@jit
def _best_partner(p, columns, values, start, length, energy, free, workspace, seen, count):
    """The cheapest pair with `p`: its score, the group size, and the partner."""
    own = _entry(columns, values, start, length, p, p)
    best = np.inf
    partner = -1
    for q in range(count):
        j = seen[q]
        if j != p and free[j]:
            cost = pair_cost(
                energy[p], workspace[j], energy[j], own,
                _entry(columns, values, start, length, p, j),
                _entry(columns, values, start, length, j, j),
            )  # fmt: skip
            if cost < best:
                best = cost
                partner = j
    if partner < 0:
        return max(energy[p] - own * own, 0.0), 1, p
    return best, 2, partner


@jit
def _entry(columns, values, start, length, row, column):
    at = find_entry(columns, start, length, row, column)
    if at < start[row] + length[row] and columns[at] == column:
        return values[at]
    return 0.0


@jit
def _local_matrices(columns, values, start, length, energy, rows, workspace):
    """Gram block and block of a few rows; `workspace` is zero before and after."""
    size = rows.size
    gram = np.empty((size, size))
    block = np.empty((size, size))
    for a in range(size):
        row = rows[a]
        for q in range(start[row], start[row] + length[row]):
            workspace[columns[q]] = values[q]
        gram[a, a] = energy[row]
        block[a, a] = workspace[row]
        for b in range(a + 1, size):
            other = rows[b]
            total = 0.0
            for q in range(start[other], start[other] + length[other]):
                total += values[q] * workspace[columns[q]]
            gram[a, b] = total
            gram[b, a] = total
            block[a, b] = workspace[other]
            block[b, a] = workspace[other]
        for q in range(start[row], start[row] + length[row]):
            workspace[columns[q]] = 0.0
    return gram, block
