"""Best-first merging of pairs: drop the combination of two rows on which an operator is smallest.

The operator is positive definite and large on smooth signals. Of two rows it has a block of two by
two; the eigenvector of its smaller eigenvalue is what smooth signals have least of, and becomes a
wavelet, the other one stays as a row. The cost of a pair is that eigenvalue, so nothing but the
entries of the operator is needed: no Gram matrix, and the work of a level is that of two rows.

Rows live in an arena (`wavemmf.kernels.sparse_rows`) without their diagonal entries, which stand
in an array of their own.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .candidates import comparable
from .heap import heap_remove, heap_update
from .sparse_rows import ensure_room, remove_entry, set_entry

__all__ = ["merge_pairs", "score_pairs"]


@jit
def score_pairs(store, diagonal, costs, partners):
    """Find the cheapest partner of every row; a row without entries is its own."""
    for row in range(diagonal.size):
        _score(row, store, diagonal, costs, partners)


@jit
def merge_pairs(
    columns, values, start, length, room, used,
    diagonal, costs, partners, heap, place, active, core, tolerance, lost,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks, level, max_levels,
):  # fmt: skip
    """Run up to `max_levels` levels; returns the arena, the active size and the level count.

    Entries up to `tolerance` times the root of both diagonal entries are discarded. To
    ``lost[0]`` is added the squared norm of what lies beside the diagonal in dropped rows, to
    ``lost[1]`` the norms of what was discarded.
    """
    union = np.empty(diagonal.size, np.int64)
    kept_values, left_values = np.empty(diagonal.size), np.empty(diagonal.size)
    stop = level + max_levels
    while active > core and level < stop:
        row = heap[0]
        out_drops[level] = 1
        if partners[row] == row:
            out_sizes[level] = 1
            out_groups[level, 0] = out_wavelets[level, 0] = row
            out_blocks[level, 0, 0] = 1.0
            level += 1
            heap_remove(heap, place, costs, row, active)
            active -= 1
            continue
        keep, leave = _in_order(row, partners[row], diagonal)
        store = (columns, values, start, length)
        width, between = _both_rows(keep, leave, store, union, kept_values, left_values)
        c, s = _rotation(diagonal[keep], between, diagonal[leave])
        out_sizes[level] = 2
        out_groups[level, 0], out_groups[level, 1] = keep, leave
        out_wavelets[level, 0] = leave
        out_blocks[level, 0, 0], out_blocks[level, 0, 1] = c, s
        out_blocks[level, 1, 0], out_blocks[level, 1, 1] = -s, c
        level += 1

        first, last = diagonal[keep], diagonal[leave]
        diagonal[keep] = c * c * first + 2.0 * c * s * between + s * s * last
        diagonal[leave] = s * s * first - 2.0 * c * s * between + c * c * last
        least = tolerance * tolerance * diagonal[keep]
        discarded = 0.0
        for q in range(width):
            other = union[q]
            value = c * kept_values[q] + s * left_values[q]
            wavelet = c * left_values[q] - s * kept_values[q]
            lost[0] += 2.0 * wavelet * wavelet
            remove_entry(columns, values, start, length, room, other, leave)
            if value * value <= least * diagonal[other]:
                discarded += 2.0 * value * value
                value = 0.0
                remove_entry(columns, values, start, length, room, other, keep)
            else:
                columns, values, used = ensure_room(
                    columns, values, start, length, room, used, other, length[other] + 1
                )
                set_entry(columns, values, start, length, other, keep, value)
            kept_values[q] = value
        lost[1] += np.sqrt(discarded)
        length[keep] = 0
        length[leave] = 0
        columns, values, used = ensure_room(columns, values, start, length, room, used, keep, width)
        _write_row(keep, union, kept_values, width, columns, values, start, length)
        heap_remove(heap, place, costs, leave, active)
        active -= 1
        _rescore(
            keep, leave, (columns, values, start, length), union, kept_values, width,
            diagonal, costs, partners, heap, place, active,
        )  # fmt: skip
    return columns, values, used, active, level


@jit
def _in_order(row, partner, diagonal):
    """The row with the larger diagonal entry stays; of equal ones, the smaller number."""
    a, b = comparable(diagonal[row]), comparable(diagonal[partner])
    if b > a or (b == a and partner < row):
        return partner, row
    return row, partner


@jit
def _radius(x, y):
    """Length of a vector of two numbers, also where their squares are no numbers."""
    largest = max(abs(x), abs(y))
    if largest == 0.0:
        return 0.0
    x /= largest
    y /= largest
    return largest * np.sqrt(x * x + y * y)


@jit
def _rotation(a, b, d):
    """Cosine and sine of the larger eigenvector of ``[[a, b], [b, d]]``, b not zero.

    The larger of both is computed first: rows count as equal before their entries are, so a may be
    a little smaller than d.
    """
    half = 0.5 * (a - d)
    radius = _radius(half, b)
    if half >= 0.0:
        c = np.sqrt(0.5 * (1.0 + half / radius))
        return c, b / (2.0 * radius * c)
    s = np.sqrt(0.5 * (1.0 - half / radius))
    if b < 0.0:
        s = -s
    return b / (2.0 * radius * s), s


@jit
def _smaller_eigenvalue(a, b, d):
    larger = 0.5 * (a + d) + _radius(0.5 * (a - d), b)
    return (a * d - b * b) / larger if larger > 0.0 else 0.0


@jit
def _score(row, store, diagonal, costs, partners):
    """Find the cheapest partner of one row."""
    columns, values, start, length = store
    best = comparable(diagonal[row])
    partner = row
    for q in range(start[row], start[row] + length[row]):
        cost = comparable(_smaller_eigenvalue(diagonal[row], values[q], diagonal[columns[q]]))
        if cost < best or partner == row:
            best = cost
            partner = columns[q]
    costs[row] = best
    partners[row] = partner


@jit
def _both_rows(keep, leave, store, union, kept_values, left_values):
    """Write two rows side by side, columns ascending, without the two columns of their own.

    Returns how many columns they have together, and the entry between them.
    """
    columns, values, start, length = store
    a, b = start[keep], start[leave]
    last_a, last_b = a + length[keep], b + length[leave]
    width = 0
    between = 0.0
    while a < last_a or b < last_b:
        column = columns[a] if a < last_a else columns[b]
        if b < last_b and columns[b] < column:
            column = columns[b]
        first = second = 0.0
        if a < last_a and columns[a] == column:
            first = values[a]
            a += 1
        if b < last_b and columns[b] == column:
            second = values[b]
            b += 1
        if column == leave:
            between = first
        elif column != keep:
            union[width] = column
            kept_values[width] = first
            left_values[width] = second
            width += 1
    return width, between


@jit
def _write_row(row, union, row_values, width, columns, values, start, length):
    at = start[row]
    for q in range(width):
        if row_values[q] != 0.0:
            columns[at] = union[q]
            values[at] = row_values[q]
            at += 1
    length[row] = at - start[row]


@jit
def _rescore(
    keep, leave, store, union, kept_values, width, diagonal, costs, partners, heap, place, active
):
    """Find partners again for the merged row, and for rows whose partner is no more what it was."""
    _score(keep, store, diagonal, costs, partners)
    heap_update(heap, place, costs, keep, active)
    for q in range(width):
        other = union[q]
        if partners[other] == keep or partners[other] == leave:
            _score(other, store, diagonal, costs, partners)
        elif kept_values[q] != 0.0:
            cost = comparable(_smaller_eigenvalue(diagonal[other], kept_values[q], diagonal[keep]))
            if cost > costs[other] or (cost == costs[other] and keep > partners[other]):
                continue
            costs[other] = cost
            partners[other] = keep
        else:
            continue
        heap_update(heap, place, costs, other, active)
