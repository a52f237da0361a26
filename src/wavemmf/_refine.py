"""Improve an existing factorization: its indices stay, its rotations are optimised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from ._progress import Progress, progress_shown
from ._validation import check_memory
from .errors import InvalidInputError
from .factorization import Factorization
from .graphs import as_matrix
from .optimize import Optimizer, as_optimizer, optimize_rotations

__all__ = ["refine"]


def refine(
    factorization: Factorization,
    A: Any,
    optimize: str | Optimizer = "lbfgs",
    *,
    steps: int | None = None,
    matrix: str | None = None,
    progress: Progress | bool | None = None,
) -> Factorization:
    """Optimise the rotations of `factorization` for the matrix `A`.

    Parameters
    ----------
    factorization : Factorization
        Where to start: any selector's result, or a loaded file.
    A : matrix, graph or path
        The matrix that was factorized (or one like it, with as many rows).
    optimize : {"lbfgs", "stiefel", "sgd", "adam"} or Optimizer
        The optimiser, such as ``wm.optimize.LBFGS(tolerance=1e-9)``; a name stands for its
        defaults.
    steps : int, optional
        Largest number of steps of an optimiser given by name.
    matrix, progress
        As for `wavemmf.factorize`.

    Returns
    -------
    Factorization
        Never worse than the rotations it started from.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> f = wm.factorize(graph, core=8, k=8)
    >>> wm.refine(f, graph, steps=50).error() < f.error()
    True
    """
    optimizer = as_optimizer(optimize, steps)
    if optimizer is None:
        raise InvalidInputError("refine needs an optimiser, got optimize=None")
    symmetric: Any = as_matrix(A, matrix=matrix)
    n = symmetric.shape[0]
    if n != factorization.n:
        raise InvalidInputError(f"the factorization has {factorization.n} rows, the matrix has {n}")
    check_memory(6 * 8 * n * n, f"optimising rotations of {n} rows")
    dense = symmetric.toarray() if sp.issparse(symmetric) else symmetric
    with progress_shown("refining", progress) as shown:
        rotations, history = optimize_rotations(dense, factorization.rotations, optimizer, shown)
    parameters = {**factorization.parameters, "optimize": optimizer.name}
    refined = Factorization.from_rotations(dense, rotations, history, parameters)
    return replace(refined, node_names=factorization.node_names)
