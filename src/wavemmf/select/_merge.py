"""Merge pairs of rows of a sparse positive operator until few are left."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.heap import heap_build
from ..kernels.merge import merge_pairs, score_pairs
from ..kernels.sparse_rows import rows_from_csr, rows_to_csr
from ..parallel.interrupts import deferred_interrupts
from ._part import Reduced
from ._plan import LevelRecorder, Task, levels_per_call

__all__ = ["merge_rows"]


def merge_rows(operator: Any, task: Task, tolerance: float) -> Reduced:
    """Merge the pair that costs least, again and again, until ``task.core`` rows are left.

    Parameters
    ----------
    operator : csr_array
        Symmetric, positive semidefinite.
    task : Task
        The core; k is 2, and drop is 1.
    tolerance : float
        Entries up to this times the root of both diagonal entries are discarded on the way.

    Examples
    --------
    >>> alike = sp.csr_array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.1], [0.1, 0.1, 2.0]])
    >>> reduced = merge_rows(alike, Task(2, 2, 1), 0.0)
    >>> reduced.rotations.groups, reduced.matrix.toarray().round(3)
    (array([0, 1]), array([[3.9  , 0.141],
           [0.141, 2.   ]]))
    """
    n = operator.shape[0]
    diagonal = np.array(operator.diagonal())
    columns, values, start, length, room, used = rows_from_csr(*_beside_diagonal(operator))
    costs, partners = np.empty(n), np.empty(n, np.int64)
    score_pairs((columns, values, start, length), diagonal, costs, partners)
    heap, place = heap_build(costs)
    recorder = LevelRecorder(n, task)
    lost = np.zeros(2)
    active, level = n, 0
    while active > task.core:
        with deferred_interrupts():
            columns, values, used, active, level = merge_pairs(
                columns, values, start, length, room, used,
                diagonal, costs, partners, heap, place, active, task.core,
                tolerance, lost, *recorder.arrays, level, levels_per_call(n),
            )  # fmt: skip
        task.progress(n - active, n - task.core, "")
    rotations = recorder.rotations(level)
    beside = sp.csr_array(
        rows_to_csr(columns, values, start, length, rotations.core), shape=(active, active)
    )
    left = sp.csr_array(beside + sp.diags_array(diagonal[rotations.core], format="csr"))
    left.sort_indices()
    return Reduced(rotations, diagonal, float(lost[0]), float(lost[1]), left)


def _beside_diagonal(operator: Any) -> tuple[Any, Any, Any]:
    """Row pointers, columns and values of all entries but those of the diagonal."""
    beside = operator.copy()
    beside.setdiag(0.0)
    beside.eliminate_zeros()
    return beside.indptr, beside.indices, beside.data
