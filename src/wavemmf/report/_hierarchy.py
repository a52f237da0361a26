"""Which coordinates were merged into which, as a tree that can be drawn without crossings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..factorization import Factorization

__all__ = ["drop_levels", "heirs", "tree_order"]

Integers = NDArray[np.int64]


def drop_levels(f: Factorization) -> Integers:
    """Return the level that set each coordinate aside, from 1; 0 for the core.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.path(4), core=1, k=2)
    >>> sorted(drop_levels(f).tolist())
    [0, 1, 2, 3]
    """
    levels = np.zeros(f.n, np.int64)
    counts = np.diff(f.rotations.drop_offsets)
    levels[f.rotations.wavelets] = np.repeat(np.arange(1, f.num_levels + 1), counts)
    return levels


def heirs(f: Factorization) -> Integers:
    """Return for each coordinate the one it was merged into; itself for the core.

    A rotation spreads a coordinate that is then dropped over all that survive. Its heir is the
    survivor that takes the largest share of it, the first of them if several do.

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.Rotations.from_levels(3, [[0, 1, 2]], [np.eye(3)[[1, 0, 2]]], [[1]])
    >>> heirs(wm.Factorization.from_rotations(np.eye(3), r)).tolist()
    [0, 0, 2]
    """
    r = f.rotations
    result = np.arange(f.n)
    for level in range(f.num_levels):
        group, shares = r.group(level + 1), np.abs(r.block(level + 1))
        dropped = np.isin(group, r.dropped(level + 1))
        if dropped.all():  # nothing of the group is left to inherit
            continue
        survivors = group[~dropped]
        result[group[dropped]] = survivors[shares[~dropped][:, dropped].argmax(axis=0)]
    return result


def tree_order(f: Factorization) -> Integers:
    """Return all coordinates in an order in which no two branches of the tree cross.

    Each coordinate is followed by what was merged into it, earliest first. Whatever stands
    between a coordinate and its heir has then ended before the two were merged.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> sorted(tree_order(f).tolist()) == list(range(34))
    True
    """
    parents = heirs(f)
    children: list[list[int]] = [[] for _ in range(f.n)]
    for coordinate in f.rotations.wavelets.tolist():
        if parents[coordinate] != coordinate:
            children[parents[coordinate]].append(coordinate)
    roots = np.flatnonzero(parents == np.arange(f.n)).tolist()
    order, waiting = [], roots[::-1]
    while waiting:
        coordinate = waiting.pop()
        order.append(coordinate)
        waiting.extend(reversed(children[coordinate]))
    return np.array(order, dtype=np.int64)
