"""Greedy selection (appendix B.3 of the paper): rotate the group whose wavelets cost least."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._progress import silent
from .._validation import Matrix, check_memory
from ..factorization import Factorization, Rotations
from ..kernels.centre import add_to_diagonal, centre_dense
from ..kernels.greedy_dense import Choice, greedy_levels
from ..kernels.greedy_many import small_gram
from ..kernels.noise import seeded
from ..parallel.interrupts import deferred_interrupts
from ..parallel.runs import in_parallel
from ._batch import LARGEST, greedy_batch
from ._dense import square
from ._order import in_canonical_order, renumbered
from ._part import Method, Part, reduce_part
from ._plan import LevelRecorder, Task, levels_per_call

__all__ = ["PAIRS", "SURVIVORS", "greedy", "preferred_survivors"]

PAIRS = ("exhaustive", "correlated")
SURVIVORS = ("auto", "eigenvectors", "nearest")

# Up to this many rows both kinds of survivors are tried on the whole matrix.
_TRY_BOTH = 1024
# Otherwise they are tried on a sample of this many rows divided by k: the work grows with both.
_SAMPLE_WORK = 4096
_BRANCHES = 3
_CLEARLY = 0.95
# Errors that differ by less count as equal.
_EQUAL = 1e-9
# Entries this small beside both of their rows are discarded from sparse active rows.
_FILL_TOLERANCE = 3e-3


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
    if _fits_batch(matrix, task):
        survivors = task.survivors(survivors)
        chosen = greedy_batch([matrix], [task.core], task.k, task.drop, pairs, survivors)[0]
        chosen = task.stored(chosen)
        task.progress(chosen.n - task.core, chosen.n - task.core, "")
        return chosen
    ordered, order = in_canonical_order(matrix)
    task = replace(task, given=task.given.renumbered(np.argsort(order)))
    return renumbered(greedy_in_order(ordered, task, pairs, survivors), order)


def greedy_in_order(matrix: Matrix, task: Task, pairs: str, survivors: str) -> Rotations:
    """Do what `greedy` does with a matrix of entries around one, in canonical order."""
    survivors = task.survivors(survivors)
    if survivors == "auto":
        if matrix.shape[0] <= _TRY_BOTH:
            return _best_try(matrix, task, pairs)
        survivors = preferred_survivors(matrix, task, pairs)
    return _run(matrix, task, pairs, survivors)


def _fits_batch(matrix: Any, task: Task) -> bool:
    """Whether one call does it all: a small dense matrix, nothing random, nothing given."""
    plain = task.score_noise == 0.0 and task.correlation_noise == 0.0 and not task.given.sizes.size
    return plain and not sp.issparse(matrix) and matrix.shape[0] <= LARGEST


def _run(matrix: Any, task: Task, pairs: str, survivors: str, variant: bool = False) -> Rotations:
    exhaustive, nearest = pairs == "exhaustive", survivors == "nearest"
    if sp.issparse(matrix):
        return _run_sparse(matrix, task, exhaustive, nearest)
    return _run_dense(matrix, task, exhaustive, nearest, variant)


def _best_try(matrix: Any, task: Task, pairs: str) -> Rotations:
    """Try both kinds of survivors, and the variant of eigenvectors; a pair has one kind only."""
    if task.k == 2:
        return _run(matrix, task, pairs, "nearest")
    tries = [("eigenvectors", False), ("nearest", False), ("eigenvectors", True)]
    if sp.issparse(matrix) or task.given.sizes.size:
        tries.pop()

    def attempt(chosen: tuple[str, bool]) -> Rotations:
        return _run(matrix, replace(task, progress=silent), pairs, *chosen)

    candidates = in_parallel(attempt, tries, task.progress, "greedy runs")
    best, least = candidates[0], np.inf
    for candidate in candidates:
        error = Factorization.from_rotations(matrix, candidate).error()
        if error < least * (1.0 - _EQUAL):
            best, least = candidate, error
    return best


def preferred_survivors(matrix: Any, task: Task, pairs: str) -> str:
    """Which survivors to use on a large matrix, tried on a sample of it.

    The other eigenvectors fill rows up and take several times longer, so they have to be
    clearly better. If the sample has lost most entries of its rows it is not like the
    matrix, and tells nothing.
    """
    if task.k == 2:  # a pair has one survivor
        return "nearest"
    n = matrix.shape[0]
    rows = _neighbourhood(matrix, max(64, _SAMPLE_WORK // task.k))
    if sp.issparse(matrix):
        inside = matrix[rows][:, rows]
        if inside.nnz < 0.5 * matrix[rows].nnz:
            return "nearest"
        sample = inside.toarray()
    else:
        sample = matrix[np.ix_(rows, rows)]
    smaller = replace(task, core=max(1, task.core * rows.size // n), progress=silent)
    eigenvectors, nearest = (
        Factorization.from_rotations(sample, _run(sample, smaller, pairs, survivors)).error()
        for survivors in ("eigenvectors", "nearest")
    )
    return "eigenvectors" if eigenvectors < _CLEARLY * nearest else "nearest"


def _neighbourhood(matrix: Any, count: int) -> Any:
    """About `count` rows that hang together: a few neighbours of a row, a few of each of those, ...

    Only a few, because all neighbours of a hub are a star, which is not like the rest.
    """
    n = matrix.shape[0]
    rng = np.random.default_rng(0)
    if not sp.issparse(matrix) or count >= n:
        return np.sort(rng.choice(n, min(count, n), replace=False))
    found = [int(rng.integers(n))]
    seen = set(found)
    at = 0
    while len(found) < count:
        if at == len(found):  # the component is exhausted: start again elsewhere
            around = np.array([next(int(r) for r in rng.permutation(n) if int(r) not in seen)])
        else:
            row = found[at]
            around = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            around = around[[int(c) not in seen for c in around]]
            around = rng.permutation(around)[:_BRANCHES]
            at += 1
        found.extend(int(c) for c in around)
        seen.update(int(c) for c in around)
    return np.sort(found[:count])


def _run_dense(
    matrix: Any, task: Task, exhaustive: bool, nearest: bool, variant: bool
) -> Rotations:
    """Run once; the variant has half of the shift, and groups without rows they do not use."""
    n = matrix.shape[0]
    check_memory(24 * n * n, f"the dense engine on {n} rows (matrix, Gram matrix, result)")
    work = np.array(matrix)
    _, shift = centre_dense(work)
    if variant:
        shift *= 0.5
        add_to_diagonal(work, -shift)
    # Runs that take over groups must repeat what the batch chose, to the last bit.
    gram = small_gram(work) if n <= LARGEST else square(work)
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
        shift=shift,
        trim=variant,
    )
    rng = seeded(task.seed)
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
        task.progress(n - active, n - task.core, "")
    return recorder.rotations(level)


def _run_sparse(matrix: Any, task: Task, exhaustive: bool, nearest: bool) -> Rotations:
    part = Part(matrix, np.ones(matrix.shape[0], np.bool_))
    pairwise = exhaustive and task.k == 2
    method = Method(task.k, task.drop, pairwise, nearest, _FILL_TOLERANCE, task.rotations)
    return reduce_part(part, task.core, method, task.progress).rotations
