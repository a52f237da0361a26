"""Eigenvectors of small symmetric matrices by Jacobi's method.

A library routine would give other last digits on every processor, and any vectors it likes inside
the space of a repeated eigenvalue. Here each step is written out, so the result is the same
everywhere, and decisions that exact arithmetic would leave open are not left to rounding.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import identity, stable_order

__all__ = ["diagonalize", "symmetric_eigen"]

# More than enough: Jacobi's method converges quadratically.
_SWEEPS = 30
# What the first sweep leaves alone, relative to the trace, and how much less each sweep after it.
_ROUGH = 1.0
_FINER = 1e-2
# Diagonal entries this close, relative to the trace, count as equal.
_EQUAL = 1e-12


@jit
def symmetric_eigen(matrix):
    """Eigenvalues in ascending order and eigenvectors as rows, to full precision."""
    size = matrix.shape[0]
    work = matrix.copy()
    rows = identity(size)
    diagonalize(work, rows, 1e-15)
    values = np.empty(size)
    scale = 0.0
    for a in range(size):
        values[a] = work[a, a]
        scale = max(scale, abs(values[a]))
    keys = np.zeros(size)
    if scale > 0.0:
        for a in range(size):  # equal ones keep their order
            keys[a] = np.floor(values[a] / (10.0 * _EQUAL * scale) + 0.5)
    order = stable_order(keys)
    vectors = np.empty((size, size))
    for e in range(size):
        values[e] = work[order[e], order[e]]
        for a in range(size):
            vectors[e, a] = rows[order[e], a]
    return values, vectors


@jit
def diagonalize(work, rows, negligible):
    """Rotate `work` until all entries off its diagonal are below `negligible` times its size.

    Only the upper triangle is used. The rotations are applied to `rows` as well.
    """
    size = work.shape[0]
    scale = 0.0
    for a in range(size):
        scale += abs(work[a, a])
        for b in range(a + 1, size):
            scale = max(scale, abs(work[a, b]))
    # Entries that matter little yet are left for later sweeps: most of them shrink on the way.
    least = _ROUGH * scale
    for _ in range(_SWEEPS):
        least = max(least * _FINER, negligible * scale)
        if not _sweep(work, rows, least, _EQUAL * scale) and least == negligible * scale:
            break


@jit
def _sweep(work, rows, negligible, equal):
    """Rotate away every entry above the diagonal once; whether there was one to rotate away."""
    size = work.shape[0]
    found = False
    for p in range(size - 1):
        for q in range(p + 1, size):
            if abs(work[p, q]) > negligible:
                found = True
                _rotate(work, rows, p, q, equal)
    return found


@jit
def _rotate(work, rows, p, q, equal):
    """Rotate away the entry (p, q)."""
    off = work[p, q]
    half = 0.5 * (work[q, q] - work[p, p])
    ascending = half >= -equal  # between equals rounding must not choose the direction
    longer = abs(half) + np.sqrt(half * half + off * off)
    scale = 1.0 / np.sqrt(longer * longer + off * off)
    c = longer * scale
    s = off * scale if ascending else -off * scale
    shift = off * off / longer if ascending else -off * off / longer
    if half < 0.0 and ascending:
        # The larger angle: as if the two diagonal entries stood the other way round.
        c, s = abs(off) * scale, longer * scale if off > 0.0 else -longer * scale
        shift = longer
    work[p, p] -= shift
    work[q, q] += shift
    work[p, q] = 0.0
    size = work.shape[0]
    for a in range(p):
        x, y = work[a, p], work[a, q]
        work[a, p] = c * x - s * y
        work[a, q] = s * x + c * y
    for a in range(p + 1, q):
        x, y = work[p, a], work[a, q]
        work[p, a] = c * x - s * y
        work[a, q] = s * x + c * y
    for a in range(q + 1, size):
        x, y = work[p, a], work[q, a]
        work[p, a] = c * x - s * y
        work[q, a] = s * x + c * y
    for a in range(rows.shape[1]):
        x, y = rows[p, a], rows[q, a]
        rows[p, a] = c * x - s * y
        rows[q, a] = s * x + c * y
