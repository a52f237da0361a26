"""Factorize with rotations that were chosen for squared diffusions."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from ..factorization import CoreDiagonal, Factorization, History, Rotations
from ..factorization._compress import compress_matrix
from ..factorization._fill import estimated_fill
from ..factorization._norms import frobenius_norm
from ..factorization._project import project_through_basis
from ..kernels._compile_time import Stopwatch
from ..optimize import Optimizer
from ..select import Diffusion, Task
from ..select._diffusion import Reducer
from ..select._part import Reduced
from .stages import reduce_in_stages

__all__ = ["factorize_by_diffusion"]

# A basis with more non-zeros per row is not written out to compute H.
_LONGEST_ROWS = 1000
# Cores up to this size are kept dense.
_DENSE_CORE = 2048


def factorize_by_diffusion(
    matrix: Any,
    selector: Diffusion,
    task: Task,
    parameters: dict[str, Any],
    optimizer: Optimizer | None = None,
    in_stages: bool = False,
) -> Factorization:
    """Factorize a matrix with the rotations that a diffusion chooses.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    selector : Diffusion
        Time, ratio and tolerance.
    task : Task
        Sizes, seed and progress.
    parameters : dict
        Kept with the result.
    optimizer : Optimizer, optional
        How the rotations of each stage are optimised, for the operator of that stage.
    in_stages : bool
        Whether sparse operators are cut into parts, which run at the same time.

    Returns
    -------
    Factorization
        H and the error are those of the matrix, exact; ``history.details`` tells of the stages.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(20, 20))
    >>> f = factorize_by_diffusion(matrix, Diffusion(), Task(40, 2, 1), {}, in_stages=True)
    >>> f.core_size, f.history.details["stages"][0]["rows"]
    (40, 400)
    """
    watch = Stopwatch()
    if optimizer is not None:
        optimizer = optimizer.for_many("select='diffusion' optimises stage by stage").for_part()
    reducer = _in_parts(selector, task, optimizer) if in_stages else None
    found = selector.diffuse(matrix, task, optimizer, reducer)
    h, error = _h_and_error(matrix, found.rotations, task)
    history = History(
        f"{optimizer.name} in stages" if optimizer else selector.name,
        (error,),
        (watch.seconds(),),
        f"the core size {task.core} was reached",
        {"stages": found.stages},
    )
    norm = frobenius_norm(matrix)
    return Factorization(found.rotations, h, norm, error, history, parameters)


def _in_parts(selector: Diffusion, whole: Task, optimizer: Optimizer | None) -> Reducer:
    def reduce(operator: Any, task: Task) -> Reduced:
        method = selector.method(operator, task)
        outcome = reduce_in_stages(
            operator, task.core, method, seed=whole.seed, optimizer=optimizer
        )
        h = outcome.h
        return Reduced(
            outcome.rotations, h.diagonal, outcome.residual**2, outcome.discarded, h.core
        )

    return reduce


def _h_and_error(matrix: Any, rotations: Rotations, task: Task) -> tuple[CoreDiagonal, float]:
    """Return H and the exact error, by way of the basis if that is sparse."""
    n = rotations.n
    if not sp.issparse(matrix) or estimated_fill(rotations) > _LONGEST_ROWS * n:
        return compress_matrix(matrix, rotations)
    h, error = project_through_basis(matrix, rotations, task.progress)
    return (h.with_dense_core() if task.core <= _DENSE_CORE else h), error
