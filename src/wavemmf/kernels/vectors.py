"""Inner products of long vectors.

BLAS would use its own threads for them, which fight with ours over the cores and make the result
depend on their number.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .simd import fused

__all__ = ["dot", "norm"]


@jit
def dot(x, y):
    """Inner product of two vectors, in eight sums that fill a vector register."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = x.size - x.size % 8
    for i in range(0, whole, 8):
        s0 = fused(x[i], y[i], s0)
        s1 = fused(x[i + 1], y[i + 1], s1)
        s2 = fused(x[i + 2], y[i + 2], s2)
        s3 = fused(x[i + 3], y[i + 3], s3)
        s4 = fused(x[i + 4], y[i + 4], s4)
        s5 = fused(x[i + 5], y[i + 5], s5)
        s6 = fused(x[i + 6], y[i + 6], s6)
        s7 = fused(x[i + 7], y[i + 7], s7)
    for i in range(whole, x.size):
        s0 = fused(x[i], y[i], s0)
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def norm(x):
    """Euclidean norm of a vector."""
    return np.sqrt(dot(x, x))
