"""Improve an existing factorization: its index sets stay, its rotations are optimised."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from .errors import InvalidInputError
from .factorization import Factorization
from .graphs import as_matrix
from .optimize import Settings, optimize
from .validation import check_memory

__all__ = ["refine"]


def refine(
    factorization: Factorization,
    A: Any,
    optimize_with: str = "lbfgs",
    *,
    matrix: str | None = None,
    symmetrize: bool = False,
    **settings: Any,
) -> Factorization:
    """Optimise the rotations of `factorization` for the matrix `A`.

    Parameters
    ----------
    factorization : Factorization
        Where to start: any selector's result, or a loaded file.
    A : matrix, graph or path
        The matrix that was factorized (or one like it, with as many rows).
    optimize_with : {"lbfgs", "cayley", "sgd", "adam"}
        The optimiser.
    matrix, symmetrize
        As for `wavemmf.factorize`.
    **settings
        ``steps``, ``tolerance``, ``smoothness``, ``power``, ``options``, ``callback``,
        ``checkpoint``, ``checkpoint_seconds``, ``report``; see `wavemmf.factorize`.

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
    try:
        chosen = Settings(method=optimize_with, **settings)
    except TypeError as error:
        raise InvalidInputError(f"unknown setting: {error}") from error
    symmetric: Any = as_matrix(A, matrix=matrix, symmetrize=symmetrize)
    n = symmetric.shape[0]
    if n != factorization.n:
        raise InvalidInputError(f"the factorization has {factorization.n} rows, the matrix has {n}")
    check_memory(6 * 8 * n * n, f"optimising rotations of {n} rows")
    dense = symmetric.toarray() if sp.issparse(symmetric) else symmetric
    rotations, history = optimize(dense, factorization.rotations, chosen)
    parameters = {**factorization.parameters, "optimize": optimize_with}
    return Factorization.from_rotations(dense, rotations, history, parameters)
