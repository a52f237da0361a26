"""Eigenvalues and eigenvectors of the small matrices that score groups.

Reflections to tridiagonal form, then the implicit QL method, with eigenvectors as rows. At these
sizes most of the time of a library call is overhead, and Jacobi rotations are several times as
many operations.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["symmetric_eigen"]

# Off-diagonal entries below this share of the norm are zero: rounding errors are larger.
_ZERO = 1e-16
# Turns per eigenvalue; two are usual.
_TURNS = 60


@jit
def symmetric_eigen(matrix, rows):
    """Return the eigenvalues of a symmetric matrix in no order; `rows` become the eigenvectors."""
    size = matrix.shape[0]
    work = matrix.copy()
    beside = np.zeros(size)
    _tridiagonal(work, rows, beside)
    values = np.empty(size)
    largest = 0.0
    for a in range(size):
        values[a] = work[a, a]
        largest = max(largest, abs(values[a]), abs(beside[a]))
    for first in range(size):
        for _ in range(_TURNS):
            last = first
            while last < size - 1 and abs(beside[last]) > _ZERO * largest:
                last += 1
            if last == first:
                break
            _ql_turn(values, beside, rows, first, last)
    return values


@jit
def _tridiagonal(work, rows, beside):
    """Reflect `work` to tridiagonal form; `rows` become the product of the reflections.

    The diagonal is left in `work`, the entries beside it in `beside`.
    """
    size = work.shape[0]
    mirror = np.empty(size)
    image = np.empty(size)
    for a in range(size):
        for b in range(size):
            rows[a, b] = 1.0 if a == b else 0.0
    for c in range(size - 1):
        below = 0.0
        for a in range(c + 2, size):
            below += work[c, a] * work[c, a]
        head = work[c, c + 1]
        beside[c] = head
        if below == 0.0:
            continue
        length = np.sqrt(head * head + below)
        mirror[c + 1] = head + length if head >= 0.0 else head - length
        beside[c] = -length if head >= 0.0 else length
        for a in range(c + 2, size):
            mirror[a] = work[c, a]
        weight = 1.0 / (length * (length + abs(head)))
        _reflect(work, mirror, image, weight, c + 1)
        for b in range(size):
            image[b] = 0.0
        for a in range(c + 1, size):
            for b in range(size):
                image[b] += mirror[a] * rows[a, b]
        for a in range(c + 1, size):
            factor = weight * mirror[a]
            for b in range(size):
                rows[a, b] -= factor * image[b]


@jit
def _reflect(work, mirror, image, weight, first):
    """``(I - weight v v^T) work (I - weight v v^T)`` on the coordinates from `first` on."""
    size = work.shape[0]
    for b in range(first, size):
        image[b] = 0.0
    for a in range(first, size):
        factor = weight * mirror[a]
        for b in range(first, size):
            image[b] += factor * work[a, b]
    total = 0.0
    for b in range(first, size):
        total += mirror[b] * image[b]
    total *= 0.5 * weight
    for b in range(first, size):
        image[b] -= total * mirror[b]
    for a in range(first, size):
        for b in range(first, size):
            work[a, b] -= mirror[a] * image[b] + image[a] * mirror[b]


@jit
def _ql_turn(values, beside, rows, first, last):
    """One implicit step from `last` up to `first`, with Wilkinson's shift."""
    g = (values[first + 1] - values[first]) / (2.0 * beside[first])
    r = np.sqrt(g * g + 1.0)
    g = values[last] - values[first] + beside[first] / (g + r if g >= 0.0 else g - r)
    s = 1.0
    c = 1.0
    p = 0.0
    for i in range(last - 1, first - 1, -1):
        f = s * beside[i]
        b = c * beside[i]
        r = np.sqrt(f * f + g * g)
        beside[i + 1] = r
        if r == 0.0:
            values[i + 1] -= p
            beside[last] = 0.0
            return
        inverse = 1.0 / r
        s = f * inverse
        c = g * inverse
        g = values[i + 1] - p
        r = (values[i] - g) * s + 2.0 * c * b
        p = s * r
        values[i + 1] = g + p
        g = c * r - b
        for a in range(rows.shape[1]):
            x, y = rows[i, a], rows[i + 1, a]
            rows[i, a] = c * x - s * y
            rows[i + 1, a] = s * x + c * y
    values[first] -= p
    beside[first] = g
    beside[last] = 0.0
