"""Rotations made from a few digits: what is stored is rounded, what is made of it is orthogonal.

All operations are elementary and in a fixed order, so a file gives the same rotations everywhere.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["nearest_rotations", "unit_vectors"]

# Newton's method for the nearest orthogonal matrix squares the deviation in each step.
_STEPS = 4


@jit
def unit_vectors(offsets, vectors):
    """Divide the vector of every level by its length, in place."""
    for level in range(offsets.size - 1):
        squared = 0.0
        for i in range(offsets[level], offsets[level + 1]):
            squared += vectors[i] * vectors[i]
        length = np.sqrt(squared)
        for i in range(offsets[level], offsets[level + 1]):
            vectors[i] /= length


@jit
def nearest_rotations(sizes, block_offsets, blocks):
    """Make blocks that are nearly orthogonal so, in place: ``O <- O (3 - O^T O) / 2``."""
    largest = 0
    for size in sizes:
        largest = max(largest, size)
    gram = np.empty((largest, largest))
    row = np.empty(largest)
    for level in range(sizes.size):
        size, entry = sizes[level], block_offsets[level]
        block = blocks[entry : entry + size * size].reshape((size, size))
        for _ in range(_STEPS):
            for a in range(size):
                for b in range(size):
                    total = 3.0 if a == b else 0.0
                    for c in range(size):
                        total -= block[c, a] * block[c, b]
                    gram[a, b] = 0.5 * total
            for a in range(size):
                for b in range(size):
                    total = 0.0
                    for c in range(size):
                        total += block[a, c] * gram[c, b]
                    row[b] = total
                block[a] = row[:size]
