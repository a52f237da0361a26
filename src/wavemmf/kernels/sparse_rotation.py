"""Rotate a few sparse rows of a symmetric matrix, and their columns with them."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .sparse_rows import ensure_room, remove_entry, set_entry

__all__ = ["gather_rows", "union_of_rows", "write_back"]


@jit
def union_of_rows(columns, start, length, rows, slot, union):
    """Columns met by any of the rows, the rows themselves first; `slot` tells where each stands."""
    width = 0
    for row in rows:
        slot[row] = width
        union[width] = row
        width += 1
    for row in rows:
        for q in range(start[row], start[row] + length[row]):
            c = columns[q]
            if slot[c] < 0:
                slot[c] = width
                union[width] = c
                width += 1
    return width


@jit
def gather_rows(columns, values, start, length, rows, slot, width):
    dense = np.zeros((rows.size, width))
    for a in range(rows.size):
        row = rows[a]
        for q in range(start[row], start[row] + length[row]):
            dense[a, slot[columns[q]]] = values[q]
    return dense


@jit
def write_back(
    columns, values, start, length, room, used,
    energy, rows, leaving, rotated, union, width, slot, tolerance,
):  # fmt: skip
    """Store the rotated rows and mirror them into the columns, without the leaving ones.

    Entries below `tolerance` times the norm of either of their rows are discarded. Returns the
    arena and the squared norm of what was discarded.
    """
    lost = 0.0
    size = rows.size
    for a in range(size):
        if not leaving[a]:
            total = 0.0
            for q in range(width):
                if not (q < size and leaving[q]):
                    total += rotated[a, q] * rotated[a, q]
            energy[rows[a]] = total
    limit = tolerance * tolerance
    for q in range(size, width):
        c = union[q]
        columns, values, used = ensure_room(
            columns, values, start, length, room, used, c, length[c] + size
        )
        for a in range(size):
            value = rotated[a, q]
            squared = value * value
            if leaving[a]:
                energy[c] = max(energy[c] - squared, 0.0)
                remove_entry(columns, values, start, length, room, c, rows[a])
            elif squared <= limit * min(energy[c], energy[rows[a]]):
                energy[c] = max(energy[c] - squared, 0.0)
                rotated[a, q] = 0.0
                lost += 2.0 * squared
                remove_entry(columns, values, start, length, room, c, rows[a])
            else:
                set_entry(columns, values, start, length, c, rows[a], value)
    order = np.argsort(union[:width])
    for a in range(size):
        if leaving[a]:
            continue
        row = rows[a]
        length[row] = 0
        columns, values, used = ensure_room(columns, values, start, length, room, used, row, width)
        at = start[row]
        for q in order:
            if rotated[a, q] != 0.0 and not (q < size and leaving[q]):
                columns[at] = union[q]
                values[at] = rotated[a, q]
                at += 1
        length[row] = at - start[row]
    return columns, values, used, lost
