"""Greedy levels on a sparse matrix, or on the part of one that no other part can see.

A part is a set of rows with the matrix on them. Rows with entries outside the part are not free:
they are never rotated, so those entries stay as they are, and everything a rotation changes lies
inside the part. Parts can therefore be worked on at the same time, anywhere, and put together
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._progress import Progress, silent
from ..factorization import Rotations
from ..kernels.greedy_sparse import score_all, sparse_greedy_levels
from ..kernels.heap import heap_build
from ..kernels.sparse_rows import rows_from_csr, rows_to_csr
from ..parallel.interrupts import deferred_interrupts
from ._order import centred_rows
from ._plan import LevelRecorder, Task, levels_per_call

__all__ = ["Method", "Part", "Reduced", "reduce_part"]

Integers = npt.NDArray[Any]


@dataclass(frozen=True)
class Method:
    """How the levels of a part are chosen.

    Attributes
    ----------
    k, drop : int
        Size of the rotations and wavelets per level.
    pairwise : bool
        For k = 2: try all partners by true residual.
    nearest : bool
        Surviving rows are those nearest to the coordinates, not the other eigenvectors.
    tolerance : float
        Entries this small beside both of their rows are discarded.
    rotations : {"full", "compact"}
        How levels are stored.
    """

    k: int
    drop: int
    pairwise: bool
    nearest: bool
    tolerance: float
    rotations: str = "full"


@dataclass(frozen=True)
class Part:
    """A symmetric sparse matrix (csr_array, sorted), and which of its rows may be rotated."""

    matrix: Any
    free: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Reduced:
    """What became of a part.

    Attributes
    ----------
    rotations : Rotations
        The levels, in the part's own numbering.
    diagonal : array
        The diagonal entry of every dropped row.
    squared_error : float
        The squared norm of the residual of the dropped rows.
    discarded : float
        A bound on the norm of all that was discarded as negligible.
    matrix : csr_array
        What is left on the surviving rows, ``rotations.core``.
    """

    rotations: Rotations
    diagonal: npt.NDArray[np.float64]
    squared_error: float
    discarded: float
    matrix: Any


def reduce_part(part: Part, core: int, method: Method, progress: Progress = silent) -> Reduced:
    """Eliminate rows best first until `core` are left, or no free row is.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(6, 6))
    >>> part = Part(matrix, np.arange(36) > 5)
    >>> reduced = reduce_part(part, 10, Method(4, 1, False, True, 1e-3))
    >>> reduced.matrix.shape, bool(np.isin(np.arange(6), reduced.rotations.core).all())
    ((10, 10), True)
    """
    matrix, free = part.matrix, part.free
    n = matrix.shape[0]
    task = Task(core, method.k, method.drop, rotations=method.rotations)
    centred, (added, shift) = centred_rows(matrix)
    columns, values, start, length, room, used = rows_from_csr(
        centred.indptr, centred.indices, centred.data
    )
    energy = np.asarray(centred.multiply(centred).sum(axis=1)).ravel()
    rows = (energy, centred.diagonal(), free)
    sizes, scores = np.zeros(n, np.int64), np.zeros(n)
    version, stamp = np.zeros(n, np.int64), np.zeros(n, np.int64)
    pivots = (np.zeros((n, method.k), np.int64), sizes, scores, version, stamp)
    ranking = (method.drop, method.pairwise, shift)
    for first in range(0, n, levels_per_call(n)):
        last = min(n, first + levels_per_call(n))
        score_all((columns, values, start, length), rows, ranking, pivots, first, last)
        progress(0, n - core, "scoring rows")
    heap, place = heap_build(scores)
    recorder = LevelRecorder(n, task)
    diagonal, lost = np.zeros(n), np.zeros(2)
    active, level = n, 0
    while active > core:
        with deferred_interrupts():
            before = active
            columns, values, used, active, level = sparse_greedy_levels(
                columns, values, start, length, room, used,
                rows, pivots, ranking, heap, place,
                active, core, method.nearest, method.tolerance,
                diagonal, lost, *recorder.arrays, level, levels_per_call(n),
            )  # fmt: skip
        if active == before:
            break
        progress(n - active, n - core, "")
    rotations = recorder.rotations(level)
    left = sp.csr_array(
        rows_to_csr(columns, values, start, length, rotations.core), shape=(active, active)
    )
    left.setdiag(left.diagonal() - added)
    diagonal[rotations.wavelets] -= added
    return Reduced(rotations, diagonal, float(lost[0]), float(lost[1]), left)
