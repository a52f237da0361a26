"""What the problem inside one level is made of, taken from matrices in every kind of storage."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["dense_blocks", "gathered_blocks", "record_level", "sparse_blocks"]


@jit
def gathered_blocks(matrix, gram, rows):
    """Gram block and block of a few rows, where the whole Gram matrix is at hand."""
    size = rows.size
    local_gram = np.empty((size, size))
    local_block = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            local_gram[a, b] = gram[rows[a], rows[b]]
            local_block[a, b] = matrix[rows[a], rows[b]]
    return local_gram, local_block


@jit
def dense_blocks(matrix, rows, active):
    """Gram block and block of a few rows of the leading `active` ones of a matrix."""
    size = rows.size
    gram = np.empty((size, size))
    block = np.empty((size, size))
    for a in range(size):
        first = matrix[rows[a], :active]
        for b in range(a + 1):
            second = matrix[rows[b], :active]
            total = 0.0
            for j in range(active):
                total += first[j] * second[j]
            gram[a, b] = total
            gram[b, a] = total
            block[a, b] = first[rows[b]]
            block[b, a] = first[rows[b]]
    return gram, block


@jit
def sparse_blocks(store, energy, members, workspace):
    """Gram block and block of a few sparse rows; `workspace` is zero before and after.

    `store` is columns, values, where each row starts and its length; `energy` the squared norms.
    """
    columns, values, start, length = store
    size = members.size
    gram = np.empty((size, size))
    block = np.empty((size, size))
    for a in range(size):
        row = members[a]
        for q in range(start[row], start[row] + length[row]):
            workspace[columns[q]] = values[q]
        gram[a, a] = energy[row]
        block[a, a] = workspace[row]
        for b in range(a + 1, size):
            other = members[b]
            total = 0.0
            for q in range(start[other], start[other] + length[other]):
                total += values[q] * workspace[columns[q]]
            gram[a, b] = total
            gram[b, a] = total
            block[a, b] = workspace[other]
            block[b, a] = workspace[other]
        for q in range(start[row], start[row] + length[row]):
            workspace[columns[q]] = 0.0
    return gram, block


@jit
def record_level(
    level, rows, labels, rotation, positions,
    out_groups, out_sizes, out_wavelets, out_drops, out_blocks,
):  # fmt: skip
    """Write a level down, by the original coordinates of its rows."""
    size, count = rows.size, positions.size
    out_sizes[level] = size
    out_drops[level] = count
    for a in range(size):
        out_groups[level, a] = labels[rows[a]]
        for b in range(size):
            out_blocks[level, a, b] = rotation[a, b]
    for q in range(count):
        out_wavelets[level, q] = labels[rows[positions[q]]]
