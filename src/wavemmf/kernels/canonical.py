"""A numbering of the rows of a symmetric matrix that does not depend on the one they came with.

Rows are coloured by what they are, then by the colours of what they are connected to, until nothing
changes (colour refinement). Rows that still share a colour are in practice interchangeable: one of
them is given a colour of its own, and the refinement goes on. At the end every row has its
own colour, and the colours are the numbering. Two numberings of the same matrix end up in the same
matrix, unless rows share a colour that no symmetry of the matrix exchanges.

Colours are kept as an ordered partition: a cell is a run of `order`, named by where it begins.
Numbers are compared with a tolerance, because equal sums come in different orders.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import stable_order

__all__ = ["canonical_order", "dense_to_csr", "row_values", "shuffled"]

# Values closer than this, relative to their size, count as equal.
_EQUAL = 1e-9


@jit
def canonical_order(indptr, indices, data, values):
    """Rows in canonical order; `values` tells them apart to begin with (`row_values`)."""
    n = indptr.size - 1
    weights = _entry_weights(data)
    order = stable_order(values)
    position = np.empty(n, np.int64)
    for i in range(n):
        position[order[i]] = i
    begin = np.zeros(n, np.int64)  # of the cell at a position
    length = np.zeros(n, np.int64)  # of the cell that begins at a position
    first = 0
    for i in range(n):
        if i > 0 and _differ(values[order[i - 1]], values[order[i]]):
            first = i
        begin[i] = first
        length[first] += 1
    partition = (order, position, begin, length)
    queue = np.empty(n, np.int64)
    waiting = np.zeros(n, np.bool_)
    count = 0
    first = 0
    while first < n:
        queue[count] = first
        waiting[first] = True
        count += 1
        first += length[first]
    sums = np.zeros(n)
    _refine(indptr, indices, weights, partition, queue, waiting, count, sums)
    for at in range(n):
        while length[at] > 1 and begin[at] == at:
            _single_out(partition, at)
            queue[0] = at
            waiting[at] = True
            _refine(indptr, indices, weights, partition, queue, waiting, 1, sums)
    return order


@jit
def shuffled(order, seed):
    """The same in an order that looks random: always the same one for a seed and a length."""
    result = order.copy()
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    for i in range(order.size - 1, 0, -1):
        # Knuth's linear congruential generator; its upper half is random enough.
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        j = np.int64((state >> np.uint64(33)) % np.uint64(i + 1))
        result[i], result[j] = result[j], result[i]
    return result


@jit
def dense_to_csr(matrix):
    """Row pointers, columns and values of the entries that are not zero."""
    n = matrix.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        count = 0
        for j in range(n):
            if matrix[i, j] != 0.0:
                count += 1
        indptr[i + 1] = indptr[i] + count
    indices = np.empty(indptr[n], np.int64)
    data = np.empty(indptr[n])
    at = 0
    for i in range(n):
        for j in range(n):
            if matrix[i, j] != 0.0:
                indices[at] = j
                data[at] = matrix[i, j]
                at += 1
    return indptr, indices, data


@jit
def row_values(indptr, indices, data):
    """A number for every row, made from its entries whatever their order."""
    n = indptr.size - 1
    weights = _entry_weights(data)
    values = np.zeros(n)
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            values[i] += weights[q]
            if indices[q] == i:
                values[i] += 0.7548776662466927 * weights[q]
    return values


@jit
def _entry_weights(data):
    """Positive numbers whose sums tell collections of entries apart."""
    largest = 0.0
    for q in range(data.size):
        largest = max(largest, abs(data[q]))
    weights = np.empty(data.size)
    factor = 1.0 / largest if largest > 0.0 else 0.0
    for q in range(data.size):
        x = data[q] * factor
        weights[q] = 2.0 + x * (1.0 + x * (0.6180339887498949 + x * 0.3247179572447461))
    return weights


@jit
def _differ(smaller, larger):
    return larger - smaller > _EQUAL * (abs(smaller) + abs(larger))


@jit
def _single_out(partition, at):
    """Make the first row of a cell a cell of its own."""
    _, _, begin, length = partition
    for i in range(at + 1, at + length[at]):
        begin[i] = at + 1
    length[at + 1] = length[at] - 1
    length[at] = 1


@jit
def _refine(indptr, indices, weights, partition, queue, waiting, count, sums):
    """Split cells until the rows of each have like connections to every other cell.

    `queue` is a ring of cells whose connections are to be looked at, `count` of them; `sums`
    is scratch, zero before and after.
    """
    order, position, begin, length = partition
    n = order.size
    head = 0
    touched = np.empty(n, np.int64)
    cells = np.empty(n, np.int64)
    hits = np.zeros(n, np.int64)
    while count > 0:
        splitter = queue[head]
        head = (head + 1) % n
        count -= 1
        waiting[splitter] = False
        found = 0
        for i in range(splitter, splitter + length[splitter]):
            row = order[i]
            for q in range(indptr[row], indptr[row + 1]):
                j = indices[q]
                if sums[j] == 0.0:
                    touched[found] = j
                    found += 1
                sums[j] += weights[q]
        met = 0
        for q in range(found):
            cell = begin[position[touched[q]]]
            if hits[cell] == 0:
                cells[met] = cell
                met += 1
            # Rows that were touched gather at the end of their cell.
            hits[cell] += 1
            _exchange(order, position, position[touched[q]], cell + length[cell] - hits[cell])
        ascending = stable_order(cells[:met])
        for c in range(met):
            cell = cells[ascending[c]]
            hit = hits[cell]
            hits[cell] = 0
            if length[cell] > 1:
                count = _split(partition, cell, hit, sums, queue, waiting, head, count)
        for q in range(found):
            sums[touched[q]] = 0.0


@jit
def _exchange(order, position, a, b):
    first, second = order[a], order[b]
    order[a], order[b] = second, first
    position[first], position[second] = b, a


@jit
def _split(partition, cell, hit, sums, queue, waiting, head, count):
    """Split a cell by `sums`, of which the last `hit` rows have one; queue the new cells.

    All but the largest are queued: what is connected to the rest follows from the whole.
    """
    order, position, begin, length = partition
    stop = cell + length[cell]
    first = stop - hit
    rows = order[first:stop].copy()
    keys = np.empty(hit)
    for a in range(hit):
        keys[a] = sums[rows[a]]
    sequence = stable_order(keys)
    for a in range(hit):
        order[first + a] = rows[sequence[a]]
        position[rows[sequence[a]]] = first + a
    start = cell
    largest = cell
    parts = 1
    length[cell] = 0
    for i in range(cell, stop):
        new = i == first and first > cell
        if i > first:
            new = _differ(keys[sequence[i - first - 1]], keys[sequence[i - first]])
        if new:
            start = i
            length[i] = 0
            parts += 1
        begin[i] = start
        length[start] += 1
        if length[start] > length[largest]:
            largest = start
    if parts == 1:
        return count
    whole = waiting[cell]
    start = cell
    while start < stop:
        if not waiting[start] and (whole or start != largest):
            queue[(head + count) % order.size] = start
            waiting[start] = True
            count += 1
        start += length[start]
    return count
