"""Cut a sparse matrix into parts, and put reduced parts together again."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..graphs import partition
from ..kernels.split import cut_part, outside_entries
from ..select._part import Part, Reduced

__all__ = ["Cut", "cut", "join", "share"]

Integers = npt.NDArray[np.int64]
Entries = tuple[Integers, Integers, npt.NDArray[np.float64]]

# If more than this share of the rows lies on borders, the graph does not fall into parts.
_TOO_MANY_BORDERS = 0.4


@dataclass(frozen=True)
class Cut:
    """A sparse matrix as parts and what lies between them.

    Attributes
    ----------
    parts : list of Part
        The parts.
    members : list of array
        The rows of each.
    between : rows, columns, values
        The entries that belong to no part.
    rows, borders : int
        How many rows there are, and how many of them have entries in `between`.
    """

    parts: list[Part]
    members: list[Integers]
    between: Entries
    rows: int
    borders: int

    @property
    def is_good(self) -> bool:
        """Whether most rows are inside their part."""
        return self.borders <= _TOO_MANY_BORDERS * self.rows


def cut(matrix: Any, part_size: int, seed: int) -> Cut:
    """Cut a matrix into parts of about `part_size` rows at most.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> pieces = cut(normalized_laplacian(grid(20, 20)), 100, seed=0)
    >>> len(pieces.parts), pieces.is_good
    (4, True)
    """
    rows = matrix.shape[0]
    assigned = partition(matrix, -(-rows // part_size), seed)
    between = outside_entries(matrix.indptr, matrix.indices, matrix.data, assigned)
    order = np.argsort(assigned, kind="stable")
    place = np.empty(rows, np.int64)
    place[order] = np.arange(rows)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(assigned))])
    parts, members = [], []
    for first, last in pairwise(bounds):
        if last > first:
            *csr, free = cut_part(
                matrix.indptr, matrix.indices, matrix.data, order, place, first, last
            )
            own = sp.csr_array(tuple(csr), shape=(last - first, last - first))
            parts.append(Part(own, free))
            members.append(order[first:last])
    return Cut(parts, members, between, rows, np.unique(between[0]).size)


def share(goal: int, parts: list[Part]) -> list[int]:
    """How many rows each part keeps: all give up the same share of their free rows."""
    free = np.array([int(part.free.sum()) for part in parts])
    rows = np.array([part.free.size for part in parts])
    surplus = int(rows.sum()) - goal
    ends = np.cumsum(free)
    given = np.diff(np.concatenate([[0], np.minimum(surplus, surplus * ends // max(ends[-1], 1))]))
    kept: list[int] = (rows - np.minimum(given, free)).tolist()
    return kept


def join(pieces: Cut, reduced: list[Reduced]) -> tuple[Any, Integers]:
    """Return the matrix on the surviving rows, in ascending order, and which rows those are."""
    survivors = [m[r.rotations.core] for r, m in zip(reduced, pieces.members, strict=True)]
    kept = np.sort(np.concatenate(survivors))
    place = np.full(pieces.rows, -1, np.int64)
    place[kept] = np.arange(kept.size)
    rows, columns, values = pieces.between
    r, c, v = [place[rows]], [place[columns]], [values]
    for result, members in zip(reduced, survivors, strict=True):
        where = place[members]
        own = result.matrix
        r.append(np.repeat(where, np.diff(own.indptr)))
        c.append(where[own.indices])
        v.append(own.data)
    entries = (np.concatenate(v), (np.concatenate(r), np.concatenate(c)))
    joined = sp.csr_array(sp.coo_array(entries, shape=(kept.size, kept.size)))
    joined.sort_indices()
    return joined, kept
