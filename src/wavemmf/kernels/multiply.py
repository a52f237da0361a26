"""Products of dense matrices, a few columns at a time, added up in the same order everywhere.

A library chooses the order of summation by the processor and the number of threads. What selects
indices, or is learned from a gradient, must not depend on either.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .simd import multiply_rows

__all__ = ["PANEL", "multiply"]

# Columns that are packed and multiplied together.
PANEL = 32


@jit
def multiply(left, right, rows, inner, out, first, last):
    """``out[:rows, first:last] = left[:rows, :inner] @ right[:inner, first:last]``.

    `left` and `right` are in C order. The columns of `right` are packed `PANEL` at a time, and four
    rows of the product are added up in registers.
    """
    if inner == 0:
        out[:rows, first:last] = 0.0
        return
    packed = np.zeros((inner, PANEL), right.dtype)
    result = np.empty((rows, PANEL), right.dtype)
    step = np.uint64(left.shape[1])
    one, count, width = np.uint64(1), np.uint64(inner), np.uint64(PANEL)
    fours = rows - rows % 4
    for start in range(first, last, PANEL):
        columns = min(PANEL, last - start)
        for i in range(inner):
            for j in range(columns):
                packed[i, j] = right[i, start + j]
        for a in range(0, fours, 4):
            place = np.uint64(a) * width
            places = (place, place + width, place + width + width, place + width + width + width)
            entry = np.uint64(a) * step
            multiply_rows(packed, count, left, entry, step, one, result, places, 32)
        for a in range(fours, rows):
            alone = (np.uint64(a) * width,)
            multiply_rows(packed, count, left, np.uint64(a) * step, step, one, result, alone, 32)
        for a in range(rows):
            for j in range(columns):
                out[a, start + j] = result[a, j]
