"""Large sparse matrices: stages of parts that are reduced independently.

A stage cuts the active matrix into parts of bounded size, eliminates about half of the rows of
every part (best first, see `wavemmf.select.part`), and puts what is left together. Rows on the
border of a part wait for the next stage, which cuts elsewhere. The parts do not depend on the
number of workers, so neither does the result. Nothing n-by-n is formed; memory is proportional
to the number of entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._progress import Report, silent
from .factorization import Factorization, History, Rotations
from .factorization.norms import frobenius_norm, power_of_two_scale
from .graphs.partition import partition
from .kernels.split import cut_part, outside_entries
from .kernels.threads import run_all
from .select import Greedy, Task
from .select.greedy import preferred_survivors
from .select.part import Method, Part, Reduced, reduce_part

__all__ = ["Outcome", "factorize_in_stages", "reduce_in_stages"]

Integers = npt.NDArray[np.int64]
# Runs reduce_part on many parts; results in order.
Runner = Callable[[Sequence[tuple[Part, int, Method]]], list[Reduced]]

# Rows of a part: enough to make borders short, few enough that parts are many.
PART_SIZE = 16_384
# A stage keeps at least this share of the rows: rows on borders should not wait long.
_KEEP = 0.5
# Entries this small beside both of their rows are discarded; see `Outcome.discarded`.
_TOLERANCE = 1e-5
# Cores up to this size are kept dense.
_DENSE_CORE = 2048
# If more than this share of the rows lies on borders, the graph does not fall into parts.
_TOO_MANY_BORDERS = 0.4


@dataclass(frozen=True)
class Outcome:
    """Rotations of all stages with H and the error.

    Attributes
    ----------
    rotations : Rotations
        All levels.
    diagonal : array of shape (n,)
        The diagonal of H.
    core : csr_array
        H on the core.
    residual : float
        Frobenius norm of what the dropped rows lose.
    discarded : float
        Bound on the norm of all entries discarded as negligible: the true error is within
        this of `residual`.
    stages : list of dict
        What each stage did.
    """

    rotations: Rotations
    diagonal: npt.NDArray[np.float64]
    core: Any
    residual: float
    discarded: float
    stages: list[dict[str, Any]]


def factorize_in_stages(
    matrix: Any, selector: Greedy, task: Task, parameters: dict[str, Any]
) -> Factorization:
    """Factorize a large sparse matrix greedily.

    Parameters
    ----------
    matrix : csr_array
        The symmetric matrix.
    selector : Greedy
        How partners and surviving rows are chosen.
    task : Task
        Sizes, seed and progress.
    parameters : dict
        Kept with the result.

    Returns
    -------
    Factorization
        Its error is a bound unless nothing at all was discarded.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(20, 20))
    >>> f = factorize_in_stages(matrix, Greedy(), Task(core=40, k=4, drop=1), {})
    >>> f.core_size, f.relative_error() < 0.3
    (40, True)
    """
    start = time.perf_counter()
    scale = power_of_two_scale(matrix)
    scaled = sp.csr_array(matrix / scale)
    scaled.sort_indices()
    survivors = selector.survivors
    if survivors == "auto":
        survivors = preferred_survivors(scaled, task, selector.pairs)
    pairwise = selector.pairs == "exhaustive" and task.k == 2
    method = Method(task.k, task.drop, pairwise, survivors == "nearest", _TOLERANCE)
    outcome = reduce_in_stages(scaled, task.core, method, seed=task.seed, report=task.report)
    core = outcome.core.toarray() if task.core <= _DENSE_CORE else outcome.core
    error = (outcome.residual + outcome.discarded) * scale
    history = History(
        selector.name,
        (error,),
        (time.perf_counter() - start,),
        f"the core size {task.core} was reached",
        {"stages": outcome.stages, "survivors": survivors},
    )
    return Factorization(
        outcome.rotations, outcome.diagonal * scale, core * scale, frobenius_norm(matrix), error,
        history, parameters, error_is_exact=outcome.discarded == 0.0,
    )  # fmt: skip


def run_on_threads(calls: Sequence[tuple[Part, int, Method]]) -> list[Reduced]:
    """Reduce parts on the threads of this process."""
    return run_all(reduce_part, calls)


def reduce_in_stages(
    matrix: Any,
    core: int,
    method: Method,
    part_size: int = PART_SIZE,
    seed: int = 0,
    run: Runner = run_on_threads,
    report: Report = silent,
) -> Outcome:
    """Eliminate rows stage by stage until `core` are left.

    Parameters
    ----------
    matrix : csr_array
        The symmetric matrix, sorted, of entries around one.
    core : int
        Rows to keep.
    method : Method
        How groups and rotations are chosen.
    part_size : int
        Largest number of rows of a part, about.
    seed : int
        Seed of the partitioner.
    run : callable
        Reduces many parts, in order: on threads, or somewhere else.
    report : Report
        Called after every stage.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(20, 20))
    >>> outcome = reduce_in_stages(matrix, 40, Method(4, 1, False, True, 1e-5), part_size=100)
    >>> outcome.core.shape, len(outcome.stages) > 1
    ((40, 40), True)
    """
    n = matrix.shape[0]
    collected = _Collected(n)
    active: Any = matrix
    labels: Integers = np.arange(n)
    while active.shape[0] > core:
        rows = active.shape[0]
        parts, between = _cut(active, part_size, seed)
        borders = rows - sum(int(part.free.sum()) for part, _ in parts)
        goal = core if len(parts) == 1 else max(core, round(_KEEP * rows))
        targets = _share(goal, [part for part, _ in parts])
        reduced = run([(part, t, method) for (part, _), t in zip(parts, targets, strict=True)])
        collected.add(reduced, [labels[members] for _, members in parts], rows, borders)
        survivors = [m[r.rotations.core] for r, (_, m) in zip(reduced, parts, strict=True)]
        active, kept = _join(reduced, survivors, between, rows)
        labels = labels[kept]
        note = f"stage {len(collected.stages)}: {active.shape[0]} rows, {active.nnz} entries"
        report(n - active.shape[0], n - core, note)
    return collected.outcome(active, labels)


def _cut(active: Any, part_size: int, seed: int) -> tuple[list[tuple[Part, Integers]], Any]:
    """Return parts with their rows, and the entries between them."""
    rows = active.shape[0]
    count = -(-rows // part_size)
    assigned = partition(active, count, seed)
    between = outside_entries(active.indptr, active.indices, active.data, assigned)
    if np.unique(between[0]).size > _TOO_MANY_BORDERS * rows:
        assigned = np.zeros(rows, np.int64)
        between = (between[0][:0], between[1][:0], between[2][:0])
    order = np.argsort(assigned, kind="stable")
    place = np.empty(rows, np.int64)
    place[order] = np.arange(rows)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(assigned))])
    parts = []
    for first, last in pairwise(bounds):
        if last > first:
            *csr, free = cut_part(
                active.indptr, active.indices, active.data, order, place, first, last
            )
            matrix = sp.csr_array(tuple(csr), shape=(last - first, last - first))
            parts.append((Part(matrix, free), order[first:last]))
    return parts, between


def _share(goal: int, parts: list[Part]) -> list[int]:
    """How many rows each part keeps: all give up the same share of their free rows."""
    free = np.array([int(part.free.sum()) for part in parts])
    rows = np.array([part.free.size for part in parts])
    surplus = int(rows.sum()) - goal
    ends = np.cumsum(free)
    given = np.diff(np.concatenate([[0], np.minimum(surplus, surplus * ends // max(ends[-1], 1))]))
    kept: list[int] = (rows - np.minimum(given, free)).tolist()
    return kept


def _join(
    reduced: list[Reduced], survivors: list[Integers], between: Any, rows: int
) -> tuple[Any, Integers]:
    """Return the matrix on the surviving rows, in ascending order, and which rows those are."""
    kept = np.sort(np.concatenate(survivors))
    place = np.full(rows, -1, np.int64)
    place[kept] = np.arange(kept.size)
    r, c, v = [place[between[0]]], [place[between[1]]], [between[2]]
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


class _Collected:
    """The levels of all parts and stages, in the numbering of the whole matrix."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.diagonal = np.zeros(n)
        self.squared_error = 0.0
        self.discarded = 0.0
        self.stages: list[dict[str, Any]] = []
        self._rotations: list[tuple[Rotations, Integers]] = []

    def add(self, reduced: list[Reduced], members: list[Integers], rows: int, borders: int) -> None:
        for result, labels in zip(reduced, members, strict=True):
            self._rotations.append((result.rotations, labels))
            dropped = result.rotations.wavelets
            self.diagonal[labels[dropped]] = result.diagonal[dropped]
            self.squared_error += result.squared_error
        # Different parts touch different entries, so their squares add up; stages do not.
        self.discarded += float(np.sqrt(sum(result.discarded**2 for result in reduced)))
        self.stages.append(
            {
                "rows": rows,
                "parts": len(reduced),
                "borders": borders,
                "left": sum(result.matrix.shape[0] for result in reduced),
                "residual": float(np.sqrt(self.squared_error)),
                "discarded": self.discarded,
            }
        )

    def outcome(self, core: Any, labels: Integers) -> Outcome:
        self.diagonal[labels] = core.diagonal()
        return Outcome(
            self._joined(), self.diagonal, core, float(np.sqrt(self.squared_error)),
            self.discarded, self.stages,
        )  # fmt: skip

    def _joined(self) -> Rotations:
        parts = [rotations for rotations, _ in self._rotations]
        return Rotations(
            n=self.n,
            offsets=_run_on([part.offsets for part in parts]),
            groups=_concatenate([labels[part.groups] for part, labels in self._rotations]),
            blocks=np.concatenate([np.empty(0), *(part.blocks for part in parts)]),
            drop_offsets=_run_on([part.drop_offsets for part in parts]),
            wavelets=_concatenate([labels[part.wavelets] for part, labels in self._rotations]),
        )


def _run_on(offsets: list[Integers]) -> Integers:
    """Offsets of one list after the other."""
    lengths = _concatenate([np.diff(each) for each in offsets])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _concatenate(arrays: list[Integers]) -> Integers:
    return np.concatenate([np.empty(0, np.int64), *arrays])
