"""Squares and sums of sparse symmetric matrices, without the entries that do not matter."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["prune_rows", "row_energies", "square_rows"]


@jit
def row_energies(indptr, data):
    """Squared norms of the rows: the diagonal of the square of a symmetric matrix."""
    energies = np.zeros(indptr.size - 1)
    for row in range(energies.size):
        for q in range(indptr[row], indptr[row + 1]):
            energies[row] += data[q] * data[q]
    return energies


@jit
def square_rows(indptr, indices, data, energies, tolerance, first, last):
    """Rows `first` to `last` of ``A @ A``, A symmetric with sorted columns, pruned.

    An entry stays if it is larger than `tolerance` times the root of the product of both diagonal
    entries, which are `energies`; the diagonal always stays. Sums run over ascending columns on
    both sides of the diagonal, so the result is symmetric to the last bit. Returns row lengths,
    columns (not sorted) and values, and the squared norm of what was left out. The cost is that
    of the whole square, the memory that of what stays.
    """
    lengths = np.zeros(last - first, np.int64)
    columns = np.empty(max(16, 2 * (indptr[last] - indptr[first])), np.int32)
    values = np.empty(columns.size)
    sums = np.zeros(energies.size)
    seen = np.zeros(energies.size, np.bool_)
    touched = np.empty(energies.size, np.int64)
    used = 0
    pruned = 0.0
    for row in range(first, last):
        count = 0
        for q in range(indptr[row], indptr[row + 1]):
            middle, factor = indices[q], data[q]
            for p in range(indptr[middle], indptr[middle + 1]):
                column = indices[p]
                if not seen[column]:
                    seen[column] = True
                    touched[count] = column
                    count += 1
                sums[column] += factor * data[p]
        if used + count > columns.size:
            room = 2 * columns.size + count
            longer_columns, longer_values = np.empty(room, np.int32), np.empty(room)
            longer_columns[:used] = columns[:used]
            longer_values[:used] = values[:used]
            columns, values = longer_columns, longer_values
        before = used
        for t in range(count):
            column = touched[t]
            value = sums[column]
            least = tolerance * np.sqrt(energies[row] * energies[column])
            if column == row or abs(value) > least:
                columns[used] = column
                values[used] = value
                used += 1
            else:
                pruned += value * value
            sums[column] = 0.0
            seen[column] = False
        lengths[row - first] = used - before
    return lengths, columns[:used].copy(), values[:used].copy(), pruned


@jit
def prune_rows(indptr, indices, data, roots, tolerance):
    """Remove, in place, entries up to `tolerance` times the `roots` of both diagonal entries.

    Returns how many entries stay, now at the front of `indices` and `data`, and the squared norm
    of the others.
    """
    used = 0
    pruned = 0.0
    first = indptr[0]
    for row in range(roots.size):
        last = indptr[row + 1]
        least = tolerance * roots[row]
        for q in range(first, last):
            column, value = indices[q], data[q]
            if column == row or abs(value) > least * roots[column]:
                indices[used] = column
                data[used] = value
                used += 1
            else:
                pruned += value * value
        first = last
        indptr[row + 1] = used
    return used, pruned
