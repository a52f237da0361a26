"""Inner products of long vectors.

BLAS would use its own threads for them, which fight with ours over the cores and make the result
depend on their number.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["dot", "norm"]


@jit
def dot(x, y):
    """Inner product of two vectors."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@jit
def norm(x):
    """Euclidean norm of a vector."""
    return np.sqrt(dot(x, x))
