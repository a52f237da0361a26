"""Make room for those who optimise: rows that are wavelets as they are wait until they are of use.

A row that is orthogonal to all others may be dropped at any level, with any rows in its group: its
rotation is the identity, and the error the same. To an optimiser the rotation is free angles. They
are of most use right before a level that costs much, between what the wavelet of that level uses
and what it leaks into: the wavelet then reaches rows outside its group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations
from ..kernels.room import costs_and_company
from ..parallel.interrupts import deferred_interrupts
from ._order import in_canonical_order, renumbered
from ._plan import as_dense

__all__ = ["with_room", "with_room_in_order"]

# Blocks that differ from the identity by less leave their rows as they are.
_IDENTITY = 1e-9


def with_room(matrix: Any, rotations: Rotations, k: int) -> Rotations:
    """Return rotations of the same error in which idle rows are dropped where they are of use.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    rotations : Rotations
        What was chosen for it.
    k : int
        The largest size of a group.

    Returns
    -------
    Rotations

    Examples
    --------
    >>> import wavemmf as wm
    >>> import networkx as nx
    >>> tree = wm.graphs.as_matrix(nx.balanced_tree(3, 3)).toarray()
    >>> chosen = wm.select.greedy(tree, wm.select.Task(8, 4, 1), "exhaustive", "auto")
    >>> moved = with_room(tree, chosen, k=4)
    >>> before, after = (wm.Factorization.from_rotations(tree, r) for r in (chosen, moved))
    >>> bool(np.isclose(before.error(), after.error(), rtol=1e-9))
    True
    >>> optimised = [wm.refine(f, tree).error() for f in (before, after)]
    >>> optimised[1] < 0.6 * optimised[0]
    True
    """
    if not _waits(rotations).any():
        return rotations
    ordered, order = in_canonical_order(as_dense(matrix))
    there = renumbered(rotations, np.argsort(order))
    return renumbered(with_room_in_order(ordered, there, k), order)


def with_room_in_order(matrix: Any, rotations: Rotations, k: int) -> Rotations:
    """Do what `with_room` does with a matrix of entries around one, in canonical order."""
    waits = _waits(rotations)
    if not waits.any():
        return rotations
    full = rotations.to_full()
    with deferred_interrupts():
        costs, company = costs_and_company(
            np.array(matrix),
            full.offsets,
            full.groups.copy(),
            full.block_offsets,
            full.blocks,
            full.drop_offsets,
            full.wavelets,
            waits,
            k,
        )
    moved = _moved(full, _hosts(waits, costs), company)
    return moved.to_compact() if rotations.kind == "compact" else moved


def _waits(rotations: Rotations) -> npt.NDArray[np.bool_]:
    """Return which levels drop one row and leave all rows as they are."""
    levels = range(1, rotations.num_levels + 1)
    idle = [
        rotations.dropped(level).size == 1 and np.abs(block - np.eye(len(block))).max() <= _IDENTITY
        for level in levels
        for block in [rotations.block(level)]
    ]
    return np.array(idle, np.bool_)


def _hosts(waits: npt.NDArray[np.bool_], costs: npt.NDArray[np.float64]) -> dict[int, list[int]]:
    """Return which levels wait for which other: the latest for the dearest, one each, then again.

    A level may only move back, for its row is not idle before.
    """
    dearest = [int(level) for level in np.argsort(-costs, kind="stable") if costs[level] > 0.0]
    left = np.flatnonzero(waits).tolist()
    guests: dict[int, list[int]] = {}
    count = -1
    while left and len(left) != count:
        count = len(left)
        for host in dearest:
            earlier = [level for level in left if level < host]
            if earlier:
                left.remove(earlier[-1])
                guests.setdefault(host, []).append(earlier[-1])
    return guests


def _moved(rotations: Rotations, guests: dict[int, list[int]], company: Any) -> Rotations:
    """Return the levels with guests right before their hosts, and in the company found there."""
    moving = {level for levels in guests.values() for level in levels}
    groups, blocks, wavelets = [], [], []
    for level in range(rotations.num_levels):
        if level in moving:
            continue
        around = company[level][company[level] >= 0]
        for guest in guests.get(level, []):
            row = rotations.dropped(guest + 1)
            groups.append(np.concatenate([row, around]))
            blocks.append(np.eye(1 + around.size))
            wavelets.append(row)
        groups.append(rotations.group(level + 1))
        blocks.append(rotations.block(level + 1))
        wavelets.append(rotations.dropped(level + 1))
    return Rotations.from_levels(rotations.n, groups, blocks, wavelets)
