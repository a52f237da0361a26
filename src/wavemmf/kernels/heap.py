"""A binary heap of row numbers by key, with one entry a row and a key that may change."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["heap_build", "heap_remove", "heap_update"]


@jit
def _before(keys, a, b):
    # Ties go to the smaller row number, so that runs repeat exactly.
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@jit
def heap_build(keys):
    """Return the heap of all rows and each row's place in it."""
    n = keys.size
    heap = np.arange(n)
    place = np.arange(n)
    for position in range(n // 2 - 1, -1, -1):
        _sift_down(heap, place, keys, position, n)
    return heap, place


@jit
def heap_update(heap, place, keys, row, count):
    """Restore the order of the first `count` entries after ``keys[row]`` changed."""
    position = _sift_up(heap, place, keys, place[row])
    _sift_down(heap, place, keys, position, count)


@jit
def heap_remove(heap, place, keys, row, count):
    """Take `row` out; the heap then has ``count - 1`` entries."""
    position = place[row]
    last = heap[count - 1]
    heap[position] = last
    place[last] = position
    place[row] = -1
    if position < count - 1:
        position = _sift_up(heap, place, keys, position)
        _sift_down(heap, place, keys, position, count - 1)


@jit
def _sift_up(heap, place, keys, position):
    row = heap[position]
    while position > 0:
        parent = (position - 1) // 2
        if not _before(keys, row, heap[parent]):
            break
        heap[position] = heap[parent]
        place[heap[position]] = position
        position = parent
    heap[position] = row
    place[row] = position
    return position


@jit
def _sift_down(heap, place, keys, position, count):
    row = heap[position]
    while 2 * position + 1 < count:
        child = 2 * position + 1
        if child + 1 < count and _before(keys, heap[child + 1], heap[child]):
            child += 1
        if not _before(keys, heap[child], row):
            break
        heap[position] = heap[child]
        place[heap[position]] = position
        position = child
    heap[position] = row
    place[row] = position
