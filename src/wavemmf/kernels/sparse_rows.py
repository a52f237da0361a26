"""Sparse rows that grow: sorted lists of (column, value) in one arena.

Row r occupies ``columns[start[r] : start[r] + length[r]]`` (and the same slice of `values`) with
room for ``room[r]`` entries. A row that outgrows its room moves to the end of the arena; when the
arena is full it is repacked, and enlarged if it must be.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["ensure_room", "find_entry", "remove_entry", "rows_from_csr", "rows_to_csr", "set_entry"]


@jit
def rows_from_csr(indptr, indices, data):
    """Arena rows, with slack to grow, of a CSR matrix with sorted indices."""
    n = indptr.size - 1
    start = np.empty(n, np.int64)
    length = np.empty(n, np.int64)
    room = np.empty(n, np.int64)
    used = 0
    for r in range(n):
        start[r] = used
        length[r] = indptr[r + 1] - indptr[r]
        room[r] = length[r] + length[r] // 2 + 4
        used += room[r]
    columns = np.empty(used + used // 4 + 64, np.int32)
    values = np.empty(columns.size)
    for r in range(n):
        for q in range(length[r]):
            columns[start[r] + q] = indices[indptr[r] + q]
            values[start[r] + q] = data[indptr[r] + q]
    return columns, values, start, length, room, used


@jit
def rows_to_csr(columns, values, start, length, kept):
    """Data, indices and row pointers of the rows `kept` (ascending), on the same columns."""
    place = np.full(start.size, -1, np.int32)
    indptr = np.zeros(kept.size + 1, np.int64)
    for r in range(kept.size):
        place[kept[r]] = r
        indptr[r + 1] = indptr[r] + length[kept[r]]
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1])
    for r in range(kept.size):
        first = start[kept[r]]
        for q in range(length[kept[r]]):
            indices[indptr[r] + q] = place[columns[first + q]]
            data[indptr[r] + q] = values[first + q]
    return data, indices, indptr


@jit
def find_entry(columns, start, length, row, column):
    """Index into the arena where `column` stands in `row`, or where it would be inserted."""
    low = start[row]
    high = low + length[row]
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def set_entry(columns, values, start, length, row, column, value):
    """Overwrite or insert an entry; the row must have room for one more."""
    at = find_entry(columns, start, length, row, column)
    end = start[row] + length[row]
    if at == end or columns[at] != column:
        for q in range(end, at, -1):
            columns[q] = columns[q - 1]
            values[q] = values[q - 1]
        columns[at] = column
        length[row] += 1
    values[at] = value


@jit
def remove_entry(columns, values, start, length, room, row, column):
    """Delete an entry if it is there: the shorter of the sides beside it moves."""
    at = find_entry(columns, start, length, row, column)
    end = start[row] + length[row]
    if at == end or columns[at] != column:
        return
    length[row] -= 1
    if at - start[row] < end - 1 - at:
        for q in range(at, start[row], -1):
            columns[q] = columns[q - 1]
            values[q] = values[q - 1]
        start[row] += 1
        room[row] -= 1
    else:
        for q in range(at, end - 1):
            columns[q] = columns[q + 1]
            values[q] = values[q + 1]


@jit
def ensure_room(columns, values, start, length, room, used, row, needed):
    """Make room for `needed` entries in `row`; returns the arena, which may be a new one."""
    if needed <= room[row]:
        return columns, values, used
    wanted = needed + needed // 2 + 4
    if used + wanted > columns.size:
        columns, values, used = _repack(columns, values, start, length, room, wanted)
    for q in range(length[row]):
        columns[used + q] = columns[start[row] + q]
        values[used + q] = values[start[row] + q]
    start[row] = used
    room[row] = wanted
    return columns, values, used + wanted


@jit
def _repack(columns, values, start, length, room, wanted):
    total = wanted
    for r in range(start.size):
        if length[r] > 0:
            total += length[r] + length[r] // 4 + 2
    fresh_columns = np.empty(total + total // 2, columns.dtype)
    fresh_values = np.empty(fresh_columns.size, values.dtype)
    used = 0
    for r in range(start.size):
        for q in range(length[r]):
            fresh_columns[used + q] = columns[start[r] + q]
            fresh_values[used + q] = values[start[r] + q]
        start[r] = used
        room[r] = length[r] + length[r] // 4 + 2 if length[r] > 0 else 0
        used += room[r]
    return fresh_columns, fresh_values, used
