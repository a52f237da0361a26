"""Check the constraints of a factorization (Definition 3 of the paper) in one pass."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .planes import plane_defect

__all__ = ["first_violation"]


@jit
def first_violation(n, offsets, groups, block_offsets, blocks, drop_offsets, wavelets, tolerance):
    """Return (code, level, detail) of the first broken constraint; code 0 means none.

    1 index out of range, 2 index already dropped, 3 index twice in a group, 4 wavelet not in its
    group, 5 wavelet named twice, 6 block not orthogonal (detail: the largest deviation), 7 wavelet
    of a compact level not first in its group, 8 no unit vector (detail: as for 6).
    """
    active = np.ones(n, np.bool_)
    last_seen = np.full(n, -1, np.int64)
    for level in range(offsets.size - 1):
        first, stop = offsets[level], offsets[level + 1]
        size = stop - first
        for q in range(first, stop):
            index = groups[q]
            if index < 0 or index >= n:
                return 1, level, float(index)
            if not active[index]:
                return 2, level, float(index)
            if last_seen[index] == level:
                return 3, level, float(index)
            last_seen[index] = level
        for q in range(drop_offsets[level], drop_offsets[level + 1]):
            index = wavelets[q]
            if index < 0 or index >= n or last_seen[index] != level:
                return 4, level, float(index)
            if not active[index]:
                return 5, level, float(index)
            active[index] = False
        entry = block_offsets[level]
        if block_offsets[level + 1] - entry < size * size:
            if wavelets[drop_offsets[level]] != groups[first]:
                return 7, level, float(groups[first])
            deviation = plane_defect(blocks, entry, size)
            if not deviation <= tolerance:
                return 8, level, deviation
            continue
        deviation = _orthogonality_defect(blocks, entry, size)
        if not deviation <= tolerance:  # also true for NaN
            return 6, level, deviation
    return 0, -1, 0.0


@jit
def _orthogonality_defect(blocks, entry, size):
    worst = 0.0
    for a in range(size):
        for b in range(a + 1):
            total = 0.0
            for c in range(size):
                total += blocks[entry + a * size + c] * blocks[entry + b * size + c]
            if a == b:
                total -= 1.0
            if np.isnan(total):  # not comparable: later products would take its place
                return total
            worst = max(worst, abs(total))
    return worst
