"""Sparse rows that grow, and greedy runs on them, as kernels take them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import dense
from wavemmf.kernels.greedy_sparse import score_all, sparse_greedy_levels
from wavemmf.kernels.heap import heap_build
from wavemmf.kernels.sparse_rows import ensure_room, rows_from_csr

__all__ = ["Rows", "SparseGreedy"]


class Rows:
    """A matrix as sparse rows that grow."""

    def __init__(self, matrix: np.ndarray) -> None:
        csr = sp.csr_array(matrix)
        arena = rows_from_csr(csr.indptr, csr.indices, csr.data)
        self.columns, self.values, self.start, self.length, self.room, self.used = arena

    def toarray(self) -> np.ndarray:
        """Return the matrix, and check the arena on the way."""
        n = self.start.size
        matrix = np.zeros((n, n))
        occupied = []
        for r in range(n):
            assert 0 <= self.length[r] <= self.room[r]
            assert self.start[r] + self.room[r] <= self.used <= self.columns.size
            occupied += list(range(self.start[r], self.start[r] + self.room[r]))
            here = slice(self.start[r], self.start[r] + self.length[r])
            assert (np.diff(self.columns[here]) > 0).all()
            matrix[r, self.columns[here]] = self.values[here]
        assert len(set(occupied)) == len(occupied)  # no two rows share room
        return matrix

    def make_room(self, row: int, needed: int) -> None:
        """Make room for `needed` entries."""
        self.columns, self.values, self.used = ensure_room(
            self.columns, self.values, self.start, self.length, self.room, self.used, row, needed
        )


class SparseGreedy:
    """A greedy run on sparse rows."""

    def __init__(self, matrix: np.ndarray, free: np.ndarray, k: int, drop: int) -> None:
        n = len(matrix)
        self.rows, self.free, self.drop = Rows(matrix), free, drop
        self.energy, self.own = (matrix**2).sum(axis=1), matrix.diagonal().copy()
        self.groups, self.sizes = np.zeros((n, k), np.int64), np.zeros(n, np.int64)
        self.scores = np.zeros(n)
        self.version, self.stamp = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.diagonal, self.lost = np.zeros(n), np.zeros(2)
        self.taken = (np.full((n, k), -1), np.zeros(n, np.int64), np.full((n, drop), -1))
        self.drops, self.blocks = np.zeros(n, np.int64), np.zeros((n, k, k))
        self.active, self.level = n, 0

    shift = 0.0

    @property
    def known(self) -> tuple[np.ndarray, ...]:
        """What is known of the rows."""
        return self.energy, self.own, self.free

    @property
    def pivots(self) -> tuple[np.ndarray, ...]:
        """The groups and what ranks them."""
        return self.groups, self.sizes, self.scores, self.version, self.stamp

    def score(self, pairwise: bool) -> None:
        """Score all pivots."""
        r = self.rows
        store = (r.columns, r.values, r.start, r.length)
        score_all(store, self.known, (self.drop, pairwise, self.shift), self.pivots, 0, self.active)
        self.heap, self.place = heap_build(self.scores)

    def take(self, core: int, pairwise: bool, nearest: bool, tolerance: float, most: int) -> None:
        """Take up to `most` levels."""
        r = self.rows
        r.columns, r.values, r.used, self.active, self.level = sparse_greedy_levels(
            r.columns, r.values, r.start, r.length, r.room, r.used, self.known, self.pivots,
            (self.drop, pairwise, self.shift), self.heap, self.place,
            self.active, core, nearest, tolerance, self.diagonal, self.lost,
            *self.taken, self.drops, self.blocks, self.level, most,
        )  # fmt: skip

    def levels(self) -> dense.Levels:
        """Return the levels taken."""
        return dense.first_levels(self.level, *self.taken, self.drops, self.blocks)
