"""Copies and orders of short arrays, as loops: NumPy's are general, and take long to compile."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = [
    "appended",
    "copy_into",
    "diagonal",
    "identity",
    "marked",
    "numbers",
    "offsets_of",
    "put",
    "stable_order",
    "taken_from",
]

# Runs of this many are sorted by insertion before they are merged.
_RUN = 16


@jit
def put(out, start, values):
    """``out[start : start + values.size] = values``."""
    for i in range(values.size):
        out[start + i] = values[i]


@jit
def copy_into(out, start, rows):
    """``out[start : start + count] = rows`` for matrices with the same columns."""
    for a in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[start + a, j] = rows[a, j]


@jit
def numbers(n):
    """The numbers from 0 to n - 1."""
    result = np.empty(n, np.int64)
    for i in range(n):
        result[i] = i
    return result


@jit
def appended(values, last):
    """The integers and one more."""
    result = np.empty(values.size + 1, np.int64)
    put(result, 0, values)
    result[values.size] = last
    return result


@jit
def diagonal(matrix):
    """A copy of the diagonal."""
    result = np.empty(matrix.shape[0])
    for i in range(result.size):
        result[i] = matrix[i, i]
    return result


@jit
def identity(n):
    """The identity matrix."""
    result = np.zeros((n, n))
    for i in range(n):
        result[i, i] = 1.0
    return result


@jit
def marked(marks):
    """Where the marks are true."""
    count = 0
    for mark in marks:
        if mark:
            count += 1
    result = np.empty(count, np.int64)
    at = 0
    for i in range(marks.size):
        if marks[i]:
            result[at] = i
            at += 1
    return result


@jit
def taken_from(values, places):
    """The integers in these places."""
    result = np.empty(places.size, np.int64)
    for i in range(places.size):
        result[i] = values[places[i]]
    return result


@jit
def offsets_of(lengths):
    """Where pieces of these lengths begin if they stand back to back, and where the last ends."""
    result = np.empty(lengths.size + 1, np.int64)
    result[0] = 0
    for i in range(lengths.size):
        result[i + 1] = result[i] + lengths[i]
    return result


@jit
def stable_order(keys):
    """Where the keys stand in ascending order; equal ones stay in the order they had."""
    count = keys.size
    order = numbers(count)
    for start in range(0, count, _RUN):
        for i in range(start + 1, min(start + _RUN, count)):
            moving = order[i]
            j = i
            while j > start and keys[order[j - 1]] > keys[moving]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = moving
    other = np.empty(count, np.int64)
    width = _RUN
    while width < count:
        for start in range(0, count, 2 * width):
            _merge(keys, order, other, start, min(start + width, count), width)
        order, other = other, order
        width *= 2
    return order


@jit
def _merge(keys, order, out, start, middle, width):
    """Merge two sorted runs of `order` into `out`."""
    stop = min(middle + width, order.size)
    left, right = start, middle
    for at in range(start, stop):
        if right >= stop or (left < middle and keys[order[left]] <= keys[order[right]]):
            out[at] = order[left]
            left += 1
        else:
            out[at] = order[right]
            right += 1
