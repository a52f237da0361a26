"""The function that does it (Eq. 1 of the paper): from a matrix or graph to a Factorization."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._engine import ENGINES, choose_engine
from ._progress import Progress, progress_shown
from ._restarts import Search, as_search, search
from ._validation import (
    check_choice,
    check_integer,
    check_memory,
    check_mmf_parameters,
    core_size,
)
from .errors import InvalidInputError
from .factorization import KINDS, Factorization, History, Rotations
from .factorization._compress import compress_matrix
from .factorization._norms import frobenius_norm
from .graphs import as_matrix
from .graphs._names import names_of
from .io import load_if_path
from .kernels._compile_time import Stopwatch
from .large import factorize_by_diffusion, factorize_in_stages
from .optimize import Optimizer, as_optimizer, optimize_rotations
from .parallel.executor import use_executor
from .select import (
    Diffusion,
    Evolution,
    Explicit,
    Greedy,
    Selector,
    Task,
    as_index_sets,
    as_selector,
    check_chosen,
    check_compact,
)

__all__ = ["completed", "factorize"]

# Larger sparse matrices are factorized in stages, in parallel, with a bound on the error.
_STAGES_FROM = 20_000


def factorize(
    A: Any,
    core: int | float | None = None,
    k: int = 4,
    drop: int = 1,
    select: Any = "greedy",
    optimize: str | Optimizer | None = None,
    *,
    steps: int | None = None,
    restarts: int | Search = 0,
    seed: int = 0,
    matrix: str | None = None,
    engine: str = "auto",
    rotations: str = "full",
    executor: Any = None,
    progress: Progress | bool | None = None,
) -> Factorization:
    r"""Factorize a symmetric matrix or a graph.

    Finds :math:`A \approx U_1^T \cdots U_L^T H U_L \cdots U_1` with rotations of k coordinates
    and `H` diagonal but for a core, so that :math:`\|A - U_1^T \cdots H \cdots U_1\|_F` is small.

    Parameters
    ----------
    A : matrix, graph or path
        ndarray, any SciPy sparse matrix or array, torch tensor (dense or sparse), networkx or
        igraph graph, PyG Data, `wavemmf.graphs.Graph`, or a file (.mtx, .npz, .npy or edge
        list, also gzipped). Of an asymmetric matrix or a directed graph give
        `wavemmf.graphs.symmetric_part`.
    core : int or float, optional
        Number of coordinates left in the core, or their share of the rows if between 0 and 1; a
        tenth of the rows, at least 8, by default.
    k : int
        Coordinates per rotation, at least 2. Fewer are used where fewer are left.
    drop : int
        Wavelets per level, 1 <= drop < k.
    select : {"greedy", "diffusion", "random", "neighbors", "regular", "evolution"} or selector
        How the coordinates of each level are chosen: best first; best first for a diffusion
        instead of the matrix, for wavelets that suit smooth signals; at random; around a random
        row; in the order of the rows, for tensor-like matrices; by evolutionary search from greedy
        runs. A name stands for the defaults of a selector; one with settings of its own is an
        object, such as ``wm.select.Greedy(survivors="nearest")``, ``wm.select.Diffusion(...)``, a
        trained policy, or anything else that has what `wavemmf.select.Selector` asks for. A pair
        ``(I, T)`` gives the coordinates explicitly, per level those rotated and those dropped.
    optimize : {None, "lbfgs", "stiefel", "sgd", "adam"} or Optimizer
        How all rotations are optimised together once the indices are chosen: L-BFGS on the
        manifold (the one to use), the paper's curvilinear descent, or fixed-step methods for
        comparison. A name stands for the defaults; an optimiser with settings of its own is an
        object, such as ``wm.optimize.LBFGS(tolerance=1e-9, checkpoint="run.ckpt")`` or
        ``wm.optimize.Stiefel(curvature=0.5)``. None keeps the closed-form rotations. Large sparse
        matrices (more than 20,000 rows, or ``engine="sparse"``) are optimised part by part. With
        "diffusion" the rotations of every stage are optimised for the operator of that stage,
        30 steps each by default. Ctrl-C ends the optimisation and returns the best so far.
    steps : int, optional
        Largest number of steps of an optimiser given by name: 500 by default, or 30 for every part
        of a large sparse matrix.
    restarts : int or Search
        How many index sequences are tried: randomised greedy runs, samples of another selector,
        or sequences bred by evolution (there 0 stands for 400). The best 15, or as many as
        ``wm.Search(count, finalists=...)`` says, are optimised in rounds that the better ones
        survive, `steps` for each on average, and the spread of all is told in ``history.details``.
    seed : int
        Seed of random choices; the same seed gives the same result.
    matrix : {"normalized_laplacian", "laplacian", "adjacency"}, optional
        The matrix of a graph to factorize (graphs: normalized Laplacian by default). If given
        with a plain matrix, that is taken as an adjacency matrix.
    engine : {"auto", "dense", "sparse"}
        Storage the greedy selector works on; "auto" takes what is estimated to cost less, and
        ``history.details["engine"]`` says which and why.
    rotations : {"full", "compact"}
        How levels are stored: as blocks of k^2 numbers, or, if each drops one wavelet, as that
        wavelet of k numbers, with the rows that survive nearest to the coordinates. At equal
        numbers or multiplications compact levels of larger k have much smaller errors.
    executor : str or dask.distributed.Client, optional
        Run the parts of a large sparse matrix, and the runs of a search with restarts, on a Dask
        cluster, given by a client or the address of its scheduler. The result is the same.
    progress : callable, bool or None
        A bar (True), none (False), or by default one that appears on terminals and in notebooks
        when the work takes longer than two seconds. A callable is called instead, as
        ``progress(done, total, note)``.

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
    check_choice("rotations", rotations, KINDS)
    seed = check_integer("seed", seed, 0)
    selector = as_selector(select)
    optimizer = as_optimizer(optimize, steps)
    plan = as_search(restarts)
    if isinstance(selector, Evolution) and not plan.count:
        plan = replace(plan, count=selector.budget)
    if plan.count and optimizer is not None and optimizer.checkpoint is not None:
        raise InvalidInputError(
            "checkpoint does not combine with restarts or evolution: leave it out, and refine() "
            "the result with a checkpoint"
        )
    A = load_if_path(A)
    symmetric = as_matrix(A, matrix=matrix)
    n = symmetric.shape[0]
    if isinstance(selector, Explicit):
        core = _core_of_explicit(selector.indices, n, core)
    core, k, drop = check_mmf_parameters(n, core, k, drop)
    if rotations == "compact":
        check_compact(selector, drop)
    chosen = choose_engine(symmetric, engine, selector)
    symmetric = _prepare(symmetric, chosen.name, core)
    in_stages = _works_in_stages(symmetric, selector, engine, plan, optimizer)
    if optimizer is not None and not in_stages:
        check_memory(6 * 8 * n * n, f"optimising rotations of {n} rows")

    parameters = {
        "core": core,
        "k": k,
        "drop": drop,
        "select": selector.name,
        "optimize": None if optimizer is None else optimizer.name,
        "restarts": plan.count,
        "seed": seed,
        "engine": chosen.name,
        "rotations": rotations,
    }
    with use_executor(executor), progress_shown("factorizing", progress) as shown:
        task = Task(core, k, drop, seed, shown, rotations=rotations)
        found = _factorized(symmetric, selector, task, plan, optimizer, parameters, in_stages)
    details = {**found.history.details, "engine": f"{chosen.name}, {chosen.why}"}
    history = replace(found.history, details=details)
    return replace(found, history=history, node_names=names_of(A))


def _factorized(
    symmetric: Any,
    selector: Selector,
    task: Task,
    plan: Search,
    optimizer: Optimizer | None,
    parameters: dict[str, Any],
    in_stages: bool,
) -> Factorization:
    """Factorize by what the selector and the size of the matrix ask for."""
    if in_stages and isinstance(selector, Greedy):
        local = None if optimizer is None else optimizer.for_part()
        return factorize_in_stages(symmetric, selector, task, parameters, local)
    if isinstance(selector, Diffusion) and not plan.count:
        return factorize_by_diffusion(symmetric, selector, task, parameters, optimizer, in_stages)
    history: History | None
    watch = Stopwatch()
    if plan.count:
        chosen, history = search(symmetric, selector, task, plan, optimizer)
    else:
        chosen, history = _choose_once(symmetric, selector, task, optimizer)
    return completed(symmetric, chosen, history, parameters, watch.seconds())


def completed(
    matrix: Any,
    rotations: Rotations,
    history: History | None,
    parameters: dict[str, Any],
    seconds: float,
) -> Factorization:
    """Return the factorization with the best H for the rotations.

    Without a history it is that of a selector that took so many seconds.
    """
    h, error = compress_matrix(matrix, rotations)
    if history is None:
        reached = f"the core size {parameters['core']} was reached"
        history = History(parameters["select"], (error,), (seconds,), reached)
    return Factorization(rotations, h, frobenius_norm(matrix), error, history, parameters)


def _works_in_stages(
    symmetric: Any, selector: Selector, engine: str, plan: Search, optimizer: Optimizer | None
) -> bool:
    """Whether the matrix is cut into parts: large ones are, and all that are to be learned so."""
    if not (sp.issparse(symmetric) and isinstance(selector, Greedy | Diffusion)) or plan.count:
        return False
    learned_in_parts = optimizer is not None and engine == "sparse"
    return symmetric.shape[0] > _STAGES_FROM or learned_in_parts


def _choose_once(
    symmetric: Any, selector: Selector, task: Task, optimizer: Optimizer | None
) -> tuple[Rotations, History | None]:
    chosen = selector.select(symmetric, task)
    rotations = check_chosen(selector, chosen, symmetric, task)
    if optimizer is None:
        return rotations, None
    # The global objective couples all rows.
    dense = symmetric.toarray() if sp.issparse(symmetric) else symmetric
    return optimize_rotations(dense, rotations, optimizer, task.progress)


def _core_of_explicit(indices: Any, n: int, core: int | float | None) -> int:
    _, wavelets = as_index_sets(indices, n)
    remaining = n - sum(len(dropped) for dropped in wavelets)
    if core is not None and core_size(n, core) != remaining:
        raise InvalidInputError(
            f"the given indices leave a core of {remaining}, but core={core}; leave core out"
        )
    return remaining


def _prepare(symmetric: Any, engine: str, core: int) -> Any:
    """Put the matrix into the storage that the engine works on."""
    n = symmetric.shape[0]
    sparse = sp.issparse(symmetric)
    if engine == "sparse":
        return symmetric if sparse else sp.csr_array(symmetric)
    # The matrix, what the selector works on, and in the end the core in its stages.
    check_memory(8 * (6 * n * n + 2 * core * core), f"the dense engine on {n} rows")
    return np.ascontiguousarray(symmetric.toarray()) if sparse else symmetric
