"""Movement on the manifold of rotation blocks, all levels in one call."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["cayley_step", "cayley_velocity"]


@jit
def cayley_step(blocks, sizes, block_offsets, skew, step, out):
    """``out = (I - step/2 X)^{-1} (I + step/2 X) O`` for every block O and its skew matrix X.

    A Newton step towards the nearest orthogonal matrix follows, so that rounding errors do not
    pile up however many steps are taken.
    """
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        block = blocks[entry : entry + size * size].reshape((size, size))
        x = skew[entry : entry + size * size].reshape((size, size))
        left = np.empty((size, size), blocks.dtype)
        right = np.empty((size, size), blocks.dtype)
        half = blocks.dtype.type(0.5 * step)
        for a in range(size):
            for b in range(size):
                left[a, b] = -half * x[a, b]
                right[a, b] = half * x[a, b]
            left[a, a] += 1.0
            right[a, a] += 1.0
        moved = np.linalg.solve(left, right @ block)
        gram = moved @ moved.T
        for a in range(size):
            for b in range(size):
                gram[a, b] *= -0.5
            gram[a, a] += 1.5
        polished = gram @ moved
        for a in range(size):
            for b in range(size):
                out[entry + a * size + b] = polished[a, b]


@jit
def cayley_velocity(sizes, block_offsets, skew, step, out):
    """``out = X (I - step^2/4 X^2)^{-1}``: the velocity of `cayley_step`, left-trivialised."""
    for level in range(sizes.size):
        size = sizes[level]
        entry = block_offsets[level]
        x = skew[entry : entry + size * size].reshape((size, size))
        left = x @ x
        for a in range(size):
            for b in range(size):
                left[a, b] *= -0.25 * step * step
            left[a, a] += 1.0
        velocity = np.linalg.solve(left, x)
        for a in range(size):
            for b in range(size):
                out[entry + a * size + b] = velocity[a, b]
