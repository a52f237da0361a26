"""Compact levels: a level that drops one wavelet is one vector.

All that such a level must say is its wavelet w, a unit vector with the wavelet's own coordinate
first. The rotation is the one in the plane of w and of that axis e which takes w to e,

    U = I - (e + w)(e + w)^T / (1 + w_0) + 2 e w^T,

the basis of the complement of w nearest to the coordinates. It is the Cayley transform of a skew
matrix with one row and one column, so ``z = w / (1 + w_0)``, without its first entry, are
coordinates of the level without any constraint (the stereographic projection of the sphere).
Wavelets are optimised in them: straight lines are curves on the sphere.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .rotate import mirror_rows
from .simd import fused
from .vectors import dot

__all__ = [
    "by_coordinates",
    "expand_planes",
    "extract_planes",
    "move_planes",
    "plane_defect",
    "turn_rows",
    "turn_symmetric",
]

# Wavelets keep this far from the axis opposite to their own, where the rotation is not defined.
_FARTHEST = 1e3


@jit
def plane_defect(vectors, entry, size):
    """How far the rotation of a level is from being orthogonal, about; NaN counts as far."""
    head = 1.0 + vectors[entry]
    own = vectors[entry : entry + size]
    if not head > 0.0:
        return np.inf
    return abs(dot(own, own) - 1.0) / head


@jit
def expand_planes(offsets, vectors, block_offsets, out):
    """Write the rotation of every level as a full block."""
    for level in range(offsets.size - 1):
        first, size = offsets[level], offsets[level + 1] - offsets[level]
        inverse = 1.0 / (1.0 + vectors[first])
        block = out[block_offsets[level] : block_offsets[level + 1]].reshape((size, size))
        block[0] = vectors[first : first + size]
        for a in range(1, size):
            weight = inverse * vectors[first + a]
            block[a, 0] = -vectors[first + a]
            for b in range(1, size):
                block[a, b] = -weight * vectors[first + b]
            block[a, a] += 1.0


@jit
def extract_planes(
    offsets, groups, wavelets, block_offsets, blocks, tolerance, out_groups, out_vectors
):
    """Write the groups with the wavelets first, and the wavelets of full blocks.

    Returns the first level that is not the rotation of its wavelet, or -1.
    """
    for level in range(offsets.size - 1):
        first, size = offsets[level], offsets[level + 1] - offsets[level]
        block = blocks[block_offsets[level] : block_offsets[level + 1]].reshape((size, size))
        order = np.empty(size, np.int64)
        count = 1
        for a in range(size):
            if groups[first + a] == wavelets[level]:
                order[0] = a
            else:
                order[count] = a
                count += 1
        own = order[0]
        inverse = 1.0 / (1.0 + block[own, own])
        for a in range(size):
            out_groups[first + a] = groups[first + order[a]]
            out_vectors[first + a] = block[own, order[a]]
        for a in order[1:]:
            for b in range(size):
                expected = -block[own, a]
                if b != own:
                    expected *= inverse * block[own, b]
                if a == b:
                    expected += 1.0
                if not abs(block[a, b] - expected) <= tolerance:
                    return level
    return -1


@jit
def turn_rows(x, rows, vector, size, width):
    """Turn the leading `size` rows of x by the rotation of a level, in their first columns."""
    head = vector[0]
    inverse = 1.0 / (1.0 + head)
    total = np.zeros(width)
    for a in range(1, size):
        weight, row = vector[a], x[rows[a], :width]
        for j in range(width):
            total[j] = fused(weight, row[j], total[j])
    own = x[rows[0], :width]
    for j in range(width):
        along = total[j]
        total[j] = -fused(inverse, along, own[j])
        own[j] = fused(head, own[j], along)
    for a in range(1, size):
        weight, row = vector[a], x[rows[a], :width]
        for j in range(width):
            row[j] = fused(weight, total[j], row[j])


@jit
def turn_symmetric(matrix, rows, vector, size, active, support):
    """``U @ matrix @ U.T`` on the leading part, as `rotate.rotate_symmetric` does with blocks."""
    turn_rows(matrix, rows, vector, size, active)
    corner = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            corner[b, a] = matrix[rows[a], rows[b]]
    turn_rows(corner, np.arange(size), vector, size, size)
    mirror_rows(matrix, rows, corner, size, active, support)


@jit
def by_coordinates(offsets, vectors, gradient):
    """Turn derivatives by the wavelets into half of those by the coordinates, in place.

    Half, because the skew matrix of a level has every coordinate twice: so gradients mean the same
    as for full blocks. The entries of the wavelets' own coordinates become zero.
    """
    for level in range(offsets.size - 1):
        first, last = offsets[level], offsets[level + 1]
        head = 1.0 + vectors[first]
        along = head * gradient[first]
        for i in range(first + 1, last):
            along += vectors[i] * gradient[i]
        gradient[first] = 0.0
        for i in range(first + 1, last):
            gradient[i] = 0.5 * (head * gradient[i] - vectors[i] * along)


@jit
def move_planes(offsets, vectors, direction, step, out):
    """Move the wavelets of all levels along straight lines of their coordinates."""
    for level in range(offsets.size - 1):
        first, last = offsets[level], offsets[level + 1]
        inverse = 1.0 / (1.0 + vectors[first])
        squared = 0.0
        for i in range(first + 1, last):
            out[i] = vectors[i] * inverse + step * direction[i]
            squared += out[i] * out[i]
        if squared > _FARTHEST * _FARTHEST:
            factor = _FARTHEST / np.sqrt(squared)
            squared = _FARTHEST * _FARTHEST
            for i in range(first + 1, last):
                out[i] *= factor
        head = 2.0 / (1.0 + squared)
        out[first] = head - 1.0
        for i in range(first + 1, last):
            out[i] *= head
