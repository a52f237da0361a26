"""Greedy selection: always rotate the group whose wavelets cost least."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._progress import silent
from ..factorization import Factorization, Rotations
from ..factorization.norms import power_of_two_scale
from ..kernels.greedy_dense import Choice, greedy_levels
from ..kernels.interrupts import deferred_interrupts
from ..validation import Matrix, check_memory
from .part import Method, Part, reduce_part
from .plan import LevelRecorder, Task, levels_per_call

__all__ = ["PAIRS", "SURVIVORS", "greedy", "preferred_survivors"]

PAIRS = ("exhaustive", "correlated")
SURVIVORS = ("auto", "eigenvectors", "nearest")

# Up to this many rows both kinds of survivors are tried on the whole matrix.
_TRY_BOTH = 1024
# Otherwise they are tried on a sample of this many rows divided by k: the work grows with both.
_SAMPLE_WORK = 2048
# Entries this small beside both of their rows are discarded from sparse active rows.
_FILL_TOLERANCE = 1e-3


def greedy(
    matrix: Matrix,
    task: Task,
    pairs: str = "exhaustive",
    survivors: str = "auto",
) -> Rotations:
    """Choose indices and closed-form rotations best first.

    Every active row is a pivot; its group is the k-1 rows most correlated with it (for k = 2
    with ``pairs="exhaustive"``, the row that pairs with it at the smallest true residual). At each
    level the group with the smallest residual is rotated by eigenvectors of its Gram block.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix; a csr_array is worked on as sparse rows.
    task : Task
        Sizes, seed and progress.
    pairs : {"exhaustive", "correlated"}
        For k = 2, how partners are found. Ignored for larger k.
    survivors : {"auto", "eigenvectors", "nearest"}
        The rows of a rotation that are not wavelets span a fixed space, but may be turned inside
        it: either they are the other eigenvectors, which mixes widely, or the rows
        nearest to the coordinates they replace, which keeps sparse matrices sparse. "auto" tries
        both and keeps the better, on the matrix itself or, if it is large, on a sample of it.

    Returns
    -------
    Rotations
    """
    scaled: Any = matrix / power_of_two_scale(matrix)
    if survivors == "auto":
        if scaled.shape[0] <= _TRY_BOTH:
            return _better_of_both(scaled, task, pairs)
        survivors = preferred_survivors(scaled, task, pairs)
    return _run(scaled, task, pairs, survivors)


def _run(matrix: Any, task: Task, pairs: str, survivors: str) -> Rotations:
    run = _run_sparse if sp.issparse(matrix) else _run_dense
    return run(matrix, task, pairs == "exhaustive", survivors == "nearest")


def _better_of_both(matrix: Any, task: Task, pairs: str) -> Rotations:
    candidates = [_run(matrix, task, pairs, survivors) for survivors in SURVIVORS[1:]]
    errors = [Factorization.from_rotations(matrix, c).error() for c in candidates]
    return candidates[int(np.argmin(errors))]


def preferred_survivors(matrix: Any, task: Task, pairs: str) -> str:
    """Which survivors give the smaller error on the rows around the row of largest norm."""
    n = matrix.shape[0]
    rows = _neighbourhood(matrix, max(64, _SAMPLE_WORK // task.k))
    sample = matrix[rows][:, rows].toarray() if sp.issparse(matrix) else matrix[np.ix_(rows, rows)]
    smaller = replace(task, core=max(1, task.core * rows.size // n), report=silent)
    errors = [
        Factorization.from_rotations(sample, _run(sample, smaller, pairs, survivors)).error()
        for survivors in SURVIVORS[1:]
    ]
    return SURVIVORS[1:][int(np.argmin(errors))]


def _neighbourhood(matrix: Any, count: int) -> Any:
    """About `count` rows found breadth first from the middle of the matrix's graph."""
    n = matrix.shape[0]
    if not sp.issparse(matrix):
        return np.sort(np.random.default_rng(0).choice(n, min(count, n), replace=False))
    start = int(np.argmax(np.diff(matrix.indptr)))
    order = sp.csgraph.breadth_first_order(
        abs(matrix), start, directed=False, return_predecessors=False
    )
    if order.size < count:
        order = np.concatenate([order, np.setdiff1d(np.arange(n), order)])
    return np.sort(order[:count])


def _run_dense(matrix: Any, task: Task, exhaustive: bool, nearest: bool) -> Rotations:
    n = matrix.shape[0]
    check_memory(24 * n * n, f"the dense engine on {n} rows (matrix, Gram matrix, result)")
    work = np.array(matrix)
    gram = work @ work
    recorder = LevelRecorder(n, task)
    state = (
        work,
        gram,
        gram.diagonal().copy(),
        np.arange(n),
        np.zeros((n, task.k), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.ones(n, np.bool_),
    )
    choice = Choice(
        drop=task.drop,
        exhaustive=exhaustive and task.k == 2,
        nearest=nearest,
        score_noise=float(task.score_noise),
        correlation_noise=float(task.correlation_noise),
    )
    rng = np.random.default_rng(task.seed)
    active, level = n, 0
    while active > task.core:
        with deferred_interrupts():
            active, level = greedy_levels(
                *state,
                active,
                task.core,
                choice,
                rng,
                *task.given,
                *recorder.arrays,
                level,
                levels_per_call(n),
            )
        task.report(n - active, n - task.core, "")
    return recorder.rotations(level)


def _run_sparse(matrix: Any, task: Task, exhaustive: bool, nearest: bool) -> Rotations:
    part = Part(matrix, np.ones(matrix.shape[0], np.bool_))
    method = Method(task.k, task.drop, exhaustive and task.k == 2, nearest, _FILL_TOLERANCE)
    return reduce_part(part, task.core, method, task.report).rotations
