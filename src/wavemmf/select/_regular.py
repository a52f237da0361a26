"""Index sets that follow the order of the rows, for matrices built like tensor products."""

from __future__ import annotations

import numpy as np

from .._validation import Matrix
from ..factorization import Rotations
from ._heuristics import explicit
from ._plan import Task

__all__ = ["regular", "regular_indices"]


def regular(matrix: Matrix, task: Task) -> Rotations:
    """Rotate neighbours in the order of the rows, then like positions of all groups together."""
    return explicit(matrix, task, regular_indices(matrix.shape[0], task.core, task.k, task.drop))


def regular_indices(
    n: int, core: int, k: int, drop: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return index sets ``(I, T)`` in rounds of disjoint groups.

    In each round the active rows are cut into groups of k in their present order, and every group
    drops its last `drop` rows. For the next round the survivors are ordered by their position
    inside the group first: rows that play the same part in different groups come together. If
    the rows of a Kronecker product are numbered as usual, the rounds work through its factors.

    Parameters
    ----------
    n, core, k, drop : int
        As for `wavemmf.factorize`.

    Returns
    -------
    (list of list of int, list of list of int)

    Examples
    --------
    >>> groups, dropped = regular_indices(8, core=2, k=4, drop=2)
    >>> groups
    [[0, 1, 2, 3], [4, 5, 6, 7], [0, 4, 1, 5]]
    >>> dropped
    [[2, 3], [6, 7], [1, 5]]
    """
    active = list(range(n))
    groups: list[list[int]] = []
    dropped: list[list[int]] = []
    remaining = n
    while remaining > core:
        size = min(k, len(active))
        kept: list[list[int]] = []
        full = len(active) // size
        for group in np.array(active[: full * size]).reshape(full, size).tolist():
            count = min(drop, max(size - 1, 1), remaining - core)
            if count > 0:
                groups.append(group)
                dropped.append(group[size - count :])
                remaining -= count
            kept.append(group[: size - count])
        longest = max(map(len, kept))
        regrouped = [row[place] for place in range(longest) for row in kept if place < len(row)]
        active = regrouped + active[full * size :]
    return groups, dropped
