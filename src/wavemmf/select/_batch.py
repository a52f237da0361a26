"""Greedy selection on many small matrices at a time, without a Python loop over levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..factorization import Rotations
from ..kernels.greedy_many import greedy_many
from ..parallel.interrupts import deferred_interrupts
from ._order import prepared

__all__ = ["LARGEST", "greedy_batch"]

#: Matrices up to this many rows are worked on in one call.
LARGEST = 256


def greedy_batch(
    matrices: Sequence[Any],
    cores: Sequence[int],
    k: int,
    drop: int,
    pairs: str = "exhaustive",
    survivors: str = "auto",
) -> list[Rotations]:
    """Do what `wavemmf.select.greedy` does with every matrix, all in one call.

    Parameters
    ----------
    matrices : sequence of ndarray
        Symmetric, dense, of at most `LARGEST` rows.
    cores : sequence of int
        The size of the core of each.
    k, drop, pairs, survivors
        As for `wavemmf.select.greedy`.

    Returns
    -------
    list of Rotations

    Examples
    --------
    >>> [r.num_levels for r in greedy_batch([np.eye(3), np.ones((4, 4))], [1, 1], k=2, drop=1)]
    [2, 3]
    """
    ready = [prepared(matrix).ravel() for matrix in matrices]
    orders = np.array([len(matrix) for matrix in matrices], np.int64)
    kept = np.array(cores, np.int64)
    starts = np.concatenate([[0], np.cumsum(orders - kept)])
    total = int(starts[-1])
    levels = np.zeros(orders.size, np.int64)
    sizes, drops, wavelets = (np.zeros(total, np.int64) for _ in range(3))
    groups, blocks = np.zeros(total * k, np.int64), np.zeros(total * k * k)
    exhaustive = pairs == "exhaustive" and k == 2
    # A pair has one survivor, which is of both kinds.
    kinds = (survivors != "nearest" or k == 2, survivors != "eigenvectors" and k > 2)
    with deferred_interrupts():
        greedy_many(
            np.concatenate([np.empty(0), *ready]), orders, kept, k, drop, exhaustive,
            *kinds,
            levels, sizes, groups, blocks, drops, wavelets,
        )  # fmt: skip
    chosen = []
    for g, order in enumerate(orders.tolist()):
        first, last = int(starts[g]), int(starts[g] + levels[g])
        offsets = _offsets(sizes[first:last])
        entries = int(np.sum(sizes[first:last] ** 2))
        chosen.append(
            Rotations(
                n=order,
                offsets=offsets,
                groups=groups[first * k : first * k + int(offsets[-1])],
                blocks=blocks[first * k * k : first * k * k + entries],
                drop_offsets=_offsets(drops[first:last]),
                wavelets=wavelets[first : int(starts[g + 1])],
            )
        )
    return chosen


def _offsets(lengths: Any) -> Any:
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
