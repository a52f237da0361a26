"""From a large sparse matrix to a Factorization."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from ..factorization import CoreDiagonal, Factorization, History
from ..factorization._estimate import estimated_error
from ..factorization._norms import frobenius_norm, power_of_two_scale
from ..factorization._project import project, projection_work
from ..kernels._compile_time import Stopwatch
from ..optimize import Optimizer
from ..select import Greedy, Task
from ..select._greedy import preferred_survivors
from ..select._part import Method
from .outcome import Outcome
from .stages import reduce_in_stages

__all__ = ["factorize_in_stages"]

# Entries this small beside both of their rows are discarded; see `Outcome.discarded`.
_TOLERANCE = 2e-5
# Cores up to this size are kept dense.
_DENSE_CORE = 2048
# If anything was discarded, H and the error are computed exactly if that takes up to this many
# multiplications: about fifteen seconds of one processor. It grows with the square of n, so more
# would soon be most of the time. Not counted in threads, for the result would depend on them.
_EXACT_WORK = 3e10
# Otherwise it is estimated from this many random vectors.
_SAMPLES = 16


def factorize_in_stages(
    matrix: Any,
    selector: Greedy,
    task: Task,
    parameters: dict[str, Any],
    optimizer: Optimizer | None = None,
) -> Factorization:
    """Factorize a large sparse matrix.

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
    optimizer : Optimizer, optional
        How the rotations of each part are optimised together; not at all by default.

    Returns
    -------
    Factorization
        Its error is a bound unless nothing was discarded or it was cheap to compute.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(20, 20))
    >>> f = factorize_in_stages(matrix, Greedy(), Task(core=40, k=4, drop=1), {})
    >>> f.core_size, f.relative_error() < 0.3
    (40, True)
    """
    watch = Stopwatch()
    scale = power_of_two_scale(matrix)
    scaled = sp.csr_array(matrix / scale)
    scaled.sort_indices()
    survivors = task.survivors(selector.survivors)
    if survivors == "auto":
        survivors = preferred_survivors(scaled, task, selector.pairs)
    pairwise = selector.pairs == "exhaustive" and task.k == 2
    nearest = survivors == "nearest"
    method = Method(task.k, task.drop, pairwise, nearest, _TOLERANCE, task.rotations)
    outcome = reduce_in_stages(
        scaled, task.core, method, seed=task.seed, optimizer=optimizer, progress=task.progress
    )
    h, error, exact = _h_and_error(matrix, outcome, scale, task)
    if task.core <= _DENSE_CORE:
        h = h.with_dense_core()
    learned = any(stage["learned"] for stage in outcome.stages)  # graphs may not fall into parts
    history = History(
        f"{optimizer.name} in parts" if optimizer and learned else selector.name,
        (error,),
        (watch.seconds(),),
        f"the core size {task.core} was reached",
        {"stages": outcome.stages, "survivors": survivors},
    )
    result = Factorization(
        task.stored(outcome.rotations), h, frobenius_norm(matrix), error, history, parameters,
        error_is_exact=exact,
    )  # fmt: skip
    if not exact:
        estimate = estimated_error(result, matrix, _SAMPLES, task.seed)
        details = {**history.details, "estimated_error": estimate}
        result = replace(result, history=replace(history, details=details))
    return result


def _h_and_error(
    matrix: Any, outcome: Outcome, scale: float, task: Task
) -> tuple[CoreDiagonal, float, bool]:
    """H with the error, and whether that is exact or a bound; the outcome is in units of scale."""
    if outcome.discarded == 0.0:
        return outcome.h.scaled(scale), outcome.residual * scale, True
    if projection_work(matrix, outcome.rotations) <= _EXACT_WORK:
        return *project(matrix, outcome.rotations, outcome.h.core, task.progress), True
    h = outcome.h.scaled(scale)
    # Where much was discarded again and again, the sum of it all says less than both norms do.
    bound = (outcome.residual + outcome.discarded) * scale
    return h, min(bound, frobenius_norm(matrix) + h.norm()), False
