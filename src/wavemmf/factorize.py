"""The function that does it (Eq. 1 of the paper): from a matrix or graph to a Factorization."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._progress import Report, silent
from .errors import InvalidInputError
from .executor import use_executor
from .factorization import Factorization, History, Rotations
from .graphs import as_matrix
from .optimize import Settings
from .optimize import optimize as optimize_rotations
from .restarts import search
from .select import (
    PAIRS,
    SELECTORS,
    SURVIVORS,
    Evolution,
    Explicit,
    Greedy,
    Neighbors,
    Random,
    Regular,
    Selector,
    Task,
    as_index_sets,
    as_selector,
    check_chosen,
)
from .staged import factorize_in_stages
from .validation import check_choice, check_integer, check_memory, check_mmf_parameters

__all__ = ["ENGINES", "SELECTORS", "factorize"]

ENGINES = ("auto", "dense", "sparse")

# From here on sparse matrices are factorized as sparse rows: as accurate, and much faster.
_SPARSE_FROM = 1024
# ... as long as a row has few entries; dense rows are better served by dense storage.
_SPARSE_ROW_LENGTH = 64
# Larger sparse matrices are factorized in stages, in parallel, with a bound on the error.
_STAGES_FROM = 20_000
# Steps of the optimiser for one part of many, unless told otherwise.
_STEPS_OF_A_PART = 30
# These selectors work on dense storage whatever they are given.
_DENSE = (Random, Neighbors, Regular, Explicit, Evolution)


def factorize(
    A: Any,
    core: int | None = None,
    k: int = 4,
    drop: int = 1,
    select: Any = "greedy",
    optimize: str | None = None,
    *,
    steps: int | None = None,
    restarts: int = 0,
    finalists: int = 15,
    tolerance: float = 1e-7,
    smoothness: float = 0.0,
    power: float = 1.0,
    options: dict[str, Any] | None = None,
    callback: Callable[[int, float], Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    seed: int = 0,
    matrix: str | None = None,
    symmetrize: bool = False,
    engine: str = "auto",
    pairs: str = "exhaustive",
    survivors: str = "auto",
    executor: Any = None,
    report: Report = silent,
) -> Factorization:
    r"""Factorize a symmetric matrix or a graph.

    Finds :math:`A \approx U_1^T \cdots U_L^T H U_L \cdots U_1` with rotations of k coordinates
    and `H` diagonal but for a core, so that :math:`\|A - U_1^T \cdots H \cdots U_1\|_F` is small.

    Parameters
    ----------
    A : matrix, graph or path
        ndarray, any SciPy sparse matrix or array, torch tensor (dense or sparse), networkx or
        igraph graph, PyG Data, `wavemmf.graphs.Graph`, or a file (.mtx, .npz, .npy or edge
        list, also gzipped).
    core : int, optional
        Number of coordinates left in the core; a tenth of the rows, at least 8, by default.
    k : int
        Coordinates per rotation, at least 2. Fewer are used where fewer are left.
    drop : int
        Wavelets per level, 1 <= drop < k.
    select : {"greedy", "random", "neighbors", "regular", "evolution"}, selector or pair (I, T)
        How the coordinates of each level are chosen: best first; at random; around a random row;
        in the order of the rows, for tensor-like matrices; by evolutionary search from greedy
        runs. A selector is an object that chooses them: a trained policy, a
        `wavemmf.select.Evolution` with settings of its own, or anything else that has what
        `wavemmf.select.Selector` asks for. A pair gives them explicitly, per level the rotated
        coordinates and those dropped.
    optimize : {None, "lbfgs", "cayley", "sgd", "adam"}
        How all rotations are optimised together once the indices are chosen: L-BFGS on the
        manifold (the one to use), the paper's curvilinear descent, or fixed-step methods for
        comparison. None keeps the closed-form rotations. Large sparse matrices (more than 20,000
        rows, or ``engine="sparse"``) are optimised part by part.
    steps : int, optional
        Largest number of optimisation steps: 500 by default, or 30 for every part of a large
        sparse matrix.
    restarts : int
        How many index sequences are tried: randomised greedy runs, samples of another selector,
        or sequences bred by evolution (there 0 stands for 400). The best `finalists` are
        optimised in rounds that the better ones survive, `steps` for each on average, and the
        spread of all is told in ``history.details``.
    finalists : int
        How many of them are optimised.
    tolerance : float
        Stop when ten steps together gain less than this, relative to the squared error.
    smoothness, power : float
        Add ``smoothness * sum(frequency ** power)`` over the wavelets to the objective: smoother
        wavelets, for Laplacians, at the price of a larger error.
    options : dict, optional
        Settings of the optimiser: ``memory`` for lbfgs, ``sufficient`` and ``curvature`` (the
        Armijo and Wolfe constants) for cayley, ``learning_rate``, ``momentum``, ``decay``.
    callback : callable, optional
        Called after every step with the step and the error; a true return value ends the run.
    checkpoint : path, optional
        File that keeps the state of the optimisation, written every `checkpoint_seconds`; a run
        with the same arguments continues from it exactly. It is removed when the run is complete.
        Ctrl-C ends the optimisation and returns the best so far.
    checkpoint_seconds : float
        Time between two writes of the checkpoint.
    seed : int
        Seed of random choices; the same seed gives the same result.
    matrix : {"normalized_laplacian", "laplacian", "adjacency"}, optional
        The matrix of a graph to factorize (graphs: normalized Laplacian by default). If given
        with a plain matrix, that is taken as an adjacency matrix.
    symmetrize : bool
        Accept an asymmetric matrix as ``(A + A.T) / 2``.
    engine : {"auto", "dense", "sparse"}
        Storage the greedy selector works on; "auto" decides by size and sparsity.
    pairs : {"exhaustive", "correlated"}
        For k = 2: pair every row with the one of smallest true residual, or with the most
        correlated one.
    survivors : {"auto", "eigenvectors", "nearest"}
        Which basis the rows that stay active get; see `wavemmf.select.greedy`.
    executor : str or dask.distributed.Client, optional
        Run the parts of a large sparse matrix, and the runs of a search with restarts, on a Dask
        cluster, given by a client or the address of its scheduler. The result is the same.
    report : callable
        Called as ``report(done, total, note)`` now and then, for progress displays.

    Returns
    -------
    Factorization

    Raises
    ------
    InvalidInputError, InputTypeError
        For input or settings that are not allowed; the message says what is.
    TooLargeError
        If the dense engine would need more memory than there is; nothing was allocated.
    ClusterError
        If the executor cannot be reached, or is lost.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=8)
    >>> f.num_levels, f.core_size
    (26, 8)
    >>> f.relative_error() < 0.05
    True
    """
    check_choice("engine", engine, ENGINES)
    check_choice("pairs", pairs, PAIRS)
    check_choice("survivors", survivors, SURVIVORS)
    seed = check_integer("seed", seed, 0)
    restarts = check_integer("restarts", restarts, 0)
    finalists = check_integer("finalists", finalists, 1)
    selector = as_selector(select, pairs, survivors)
    if isinstance(selector, Evolution):
        restarts = restarts or selector.budget
    settings = None
    if optimize is not None:
        settings = Settings(
            optimize, tolerance=tolerance, smoothness=smoothness, power=power,
            options=options or {},
            callback=callback, checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
            report=report,
        )  # fmt: skip
        if steps is not None:
            settings = replace(settings, steps=steps)
    if restarts and checkpoint is not None:
        raise InvalidInputError(
            "checkpoint does not combine with restarts or evolution: leave it out, and refine() "
            "the result with a checkpoint"
        )
    symmetric = as_matrix(A, matrix=matrix, symmetrize=symmetrize)
    n = symmetric.shape[0]
    if isinstance(selector, Explicit):
        core = _core_of_explicit(selector.indices, n, core)
    elif core is None:
        core = min(n, max(8, n // 10))
    core, k, drop = check_mmf_parameters(n, core, k, drop)
    symmetric = _prepare(symmetric, engine, selector, core)
    in_stages = _works_in_stages(symmetric, selector, engine, restarts, settings)
    if settings is not None and not in_stages:
        check_memory(6 * 8 * n * n, f"optimising rotations of {n} rows")

    task = Task(core, k, drop, seed, report)
    parameters = {
        "core": core,
        "k": k,
        "drop": drop,
        "select": selector.name,
        "optimize": optimize,
        "restarts": restarts,
        "seed": seed,
        "engine": "sparse" if sp.issparse(symmetric) else "dense",
    }
    history: History | None
    with use_executor(executor):
        if in_stages and isinstance(selector, Greedy):
            local = _for_parts(settings, steps)
            return factorize_in_stages(symmetric, selector, task, parameters, local)
        start = time.perf_counter()
        if restarts:
            rotations, history = search(symmetric, selector, task, restarts, finalists, settings)
        else:
            rotations, history = _choose_once(symmetric, selector, task, settings)
    result = Factorization.from_rotations(symmetric, rotations, history, parameters)
    if history is None:
        elapsed = time.perf_counter() - start
        reached = f"the core size {core} was reached"
        history = History(selector.name, (result.error(),), (elapsed,), reached)
        result = replace(result, history=history)
    return result


def _works_in_stages(
    symmetric: Any, selector: Selector, engine: str, restarts: int, settings: Settings | None
) -> bool:
    """Whether the matrix is cut into parts: large ones are, and all that are to be learned so."""
    if not (sp.issparse(symmetric) and isinstance(selector, Greedy)) or restarts:
        return False
    learned_in_parts = settings is not None and engine == "sparse"
    return symmetric.shape[0] > _STAGES_FROM or learned_in_parts


def _for_parts(settings: Settings | None, steps: int | None) -> Settings | None:
    """Return the settings for the optimisation of one part of many."""
    if settings is None:
        return None
    for name in ("callback", "checkpoint"):
        if getattr(settings, name) is not None:
            raise InvalidInputError(
                f"{name} is not available for large sparse matrices, which are optimised in many "
                'small parts; leave it out, or use engine="dense"'
            )
    return replace(settings, steps=_STEPS_OF_A_PART if steps is None else steps, report=silent)


def _choose_once(
    symmetric: Any, selector: Selector, task: Task, settings: Settings | None
) -> tuple[Rotations, History | None]:
    chosen = selector.select(symmetric, task)
    rotations = check_chosen(selector, chosen, symmetric.shape[0], task)
    if settings is None:
        return rotations, None
    # The global objective couples all rows.
    dense = symmetric.toarray() if sp.issparse(symmetric) else symmetric
    return optimize_rotations(dense, rotations, settings)


def _core_of_explicit(indices: Any, n: int, core: int | None) -> int:
    _, wavelets = as_index_sets(indices, n)
    remaining = n - sum(len(dropped) for dropped in wavelets)
    if core is not None and core != remaining:
        raise InvalidInputError(
            f"the given indices leave a core of {remaining}, but core={core}; leave core out"
        )
    return remaining


def _prepare(symmetric: Any, engine: str, selector: Selector, core: int) -> Any:
    """Put the matrix into the storage that the engine works on."""
    n = symmetric.shape[0]
    sparse = sp.issparse(symmetric)
    if engine == "auto":
        short_rows = sparse and symmetric.nnz <= _SPARSE_ROW_LENGTH * n
        able = not isinstance(selector, _DENSE)
        engine = "sparse" if able and n > _SPARSE_FROM and short_rows else "dense"
    if engine == "sparse":
        return symmetric if sparse else sp.csr_array(symmetric)
    # The matrix, what the selector works on, and in the end the core in its stages.
    check_memory(8 * (6 * n * n + 2 * core * core), f"the dense engine on {n} rows")
    return np.ascontiguousarray(symmetric.toarray()) if sparse else symmetric
