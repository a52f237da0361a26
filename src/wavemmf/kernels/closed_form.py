"""Closed-form rotations, level by level, for groups that are given or drawn at random."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .blocks import dense_blocks, record_level
from .candidates import wavelets_of
from .greedy_dense import move_last_row
from .local import complete_rotation, local_score
from .rotate import TILE, rotate_symmetric

__all__ = ["EXPLICIT", "NEIGHBORS", "RANDOM", "closed_form_levels"]

EXPLICIT, RANDOM, NEIGHBORS = 0, 1, 2


@jit
def closed_form_levels(
    matrix, labels, position, active, core, k, drop, choice, rng, nearest,
    given_groups, given_sizes, given_wavelets, given_drops,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks, level, max_levels,
):  # fmt: skip
    """Run up to `max_levels` levels on the active matrix, in place.

    With `choice` EXPLICIT the groups and wavelets are those given; otherwise the group is drawn
    (`rng`) and the wavelets are those with the smallest residual. Returns the new active
    size and level count.
    """
    n = labels.size
    buffer = np.empty((k, TILE))
    support = np.empty(n, np.int64)
    stop = level + max_levels
    while active > core and level < stop:
        if choice == EXPLICIT:
            size = given_sizes[level]
            rows = position[given_groups[level, :size]]
            count = given_drops[level]
        elif choice == RANDOM:
            rows = _draw_rows(active, min(k, active), rng)
        else:
            rows = _draw_neighbors(matrix, active, min(k, active), rng)
        size = rows.size
        allowed = np.ones(size, np.bool_)
        if choice == EXPLICIT:
            for a in range(size):
                allowed[a] = False
                for q in range(count):
                    if given_wavelets[level, q] == given_groups[level, a]:
                        allowed[a] = True
        else:
            count = min(wavelets_of(size, drop), active - core)
        gram, block = dense_blocks(matrix, rows, active)
        _, basis = local_score(gram, block, count)
        rotation, places = complete_rotation(basis, count, allowed, nearest)
        rotate_symmetric(matrix, rows, rotation, size, active, buffer, support)
        record_level(
            level, rows, labels, rotation, places,
            out_groups, out_sizes, out_wavelets, out_drops, out_blocks,
        )  # fmt: skip
        level += 1
        dropped = rows[places]
        dropped.sort()
        for q in range(count - 1, -1, -1):
            active -= 1
            move_last_row(matrix, dropped[q], active)
            labels[dropped[q]] = labels[active]
            position[labels[active]] = dropped[q]
    return active, level


@jit
def _draw_rows(active, size, rng):
    """`size` different active rows, uniformly: a partial Fisher-Yates shuffle."""
    rows = np.arange(active)
    for a in range(size):
        b = a + int(rng.random() * (active - a))
        rows[a], rows[b] = rows[b], rows[a]
    return rows[:size].copy()


@jit
def _draw_neighbors(matrix, active, size, rng):
    """A random row and those around it in the active graph, heaviest edges first.

    Neighbours of neighbours follow when there are not enough; the group stays smaller only if
    the whole component is.
    """
    rows = np.empty(size, np.int64)
    taken = np.zeros(active, np.bool_)
    rows[0] = int(rng.random() * active)
    taken[rows[0]] = True
    count = 1
    center = 0
    while center < count and count < size:
        row = matrix[rows[center], :active]
        while count < size:
            best = -1
            for j in range(active):
                if not taken[j] and row[j] != 0.0 and (best < 0 or abs(row[j]) > abs(row[best])):
                    best = j
            if best < 0:
                break
            taken[best] = True
            rows[count] = best
            count += 1
        center += 1
    return rows[:count].copy()
