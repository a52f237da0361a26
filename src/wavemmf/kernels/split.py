"""Cut a sparse matrix into the parts of a partition, and put reduced parts together again."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["cut_part", "outside_entries"]


@jit
def cut_part(indptr, indices, data, order, place, first, last):
    """The matrix on the rows ``order[first:last]``, and which of them have no entry elsewhere.

    `place` is the inverse of `order`; rows of a part keep their ascending order, so columns stay
    sorted. Returns data, indices, row pointers and the flags.
    """
    rows = last - first
    starts = np.zeros(rows + 1, np.int64)
    free = np.ones(rows, np.bool_)
    for r in range(rows):
        row = order[first + r]
        inside = 0
        for q in range(indptr[row], indptr[row + 1]):
            where = place[indices[q]]
            if first <= where < last:
                inside += 1
            else:
                free[r] = False
        starts[r + 1] = starts[r] + inside
    columns = np.empty(starts[-1], np.int32)
    values = np.empty(starts[-1])
    for r in range(rows):
        row = order[first + r]
        at = starts[r]
        for q in range(indptr[row], indptr[row + 1]):
            where = place[indices[q]]
            if first <= where < last:
                columns[at] = where - first
                values[at] = data[q]
                at += 1
    return values, columns, starts, free


@jit
def outside_entries(indptr, indices, data, part):
    """Rows, columns and values of the entries between different parts."""
    count = 0
    for row in range(indptr.size - 1):
        for q in range(indptr[row], indptr[row + 1]):
            if part[row] != part[indices[q]]:
                count += 1
    rows = np.empty(count, np.int64)
    columns = np.empty(count, np.int64)
    values = np.empty(count)
    at = 0
    for row in range(indptr.size - 1):
        for q in range(indptr[row], indptr[row + 1]):
            if part[row] != part[indices[q]]:
                rows[at] = row
                columns[at] = indices[q]
                values[at] = data[q]
                at += 1
    return rows, columns, values
