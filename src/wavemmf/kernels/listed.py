"""A row of zeros with a list of the places that were written to, so that it is quick to clear."""

from __future__ import annotations

from ._jit import inline_jit

__all__ = ["add_listed"]


@inline_jit
def add_listed(row, listed, count, j, value):
    """Add to entry `j`, which is listed once; returns how many are listed."""
    if row[j] == 0.0:
        listed[count] = j
        count += 1
    row[j] += value
    if row[j] == 0.0:
        row[j] = 1e-300  # cancelled: keep it listed once only
    return count
