"""Small pieces that the dense and the sparse greedy selection share."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["insert_sorted", "pair_cost", "same_members", "wavelets_of"]


@jit
def wavelets_of(size, drop):
    """A group smaller than asked for drops all but one of its rows (or its only row)."""
    return min(drop, max(size - 1, 1))


@jit
def insert_sorted(keys, members, position, key, member):
    """Insert into a list sorted by decreasing key that begins after the pivot."""
    while position > 1 and keys[position - 1] < key:
        keys[position] = keys[position - 1]
        members[position] = members[position - 1]
        position -= 1
    keys[position] = key
    members[position] = member


@jit
def same_members(first, second, size):
    for a in range(size):
        found = False
        for b in range(size):
            if first[a] == second[b]:
                found = True
                break
        if not found:
            return False
    return True


@jit
def pair_cost(g11, g12, g22, a11, a12, a22):
    """Smallest half squared error among the two eigenvectors of a 2-by-2 Gram block."""
    half = 0.5 * (g11 - g22)
    radius = np.sqrt(half * half + g12 * g12)
    # (c, s) spans the larger eigenvalue; the branch avoids cancellation.
    if half >= 0.0:
        c, s = half + radius, g12
    else:
        c, s = g12, radius - half
    squared = c * c + s * s
    if squared == 0.0:
        c, s, squared = 1.0, 0.0, 1.0
    cc, cs, ss = c * c / squared, c * s / squared, s * s / squared
    large = cc * a11 + 2.0 * cs * a12 + ss * a22
    small = ss * a11 - 2.0 * cs * a12 + cc * a22
    g_large = cc * g11 + 2.0 * cs * g12 + ss * g22
    g_small = ss * g11 - 2.0 * cs * g12 + cc * g22
    return max(min(g_large - large * large, g_small - small * small), 0.0)
