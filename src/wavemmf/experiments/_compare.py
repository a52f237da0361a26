"""Run several approximations of one matrix and report error, cost and time of each."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._engine import choose_engine
from .._progress import Progress, silent
from .._validation import Matrix, check_integer, check_mmf_parameters
from ..errors import InputTypeError, InvalidInputError
from ..graphs import as_matrix, cycle
from ..select import Greedy
from ._contenders import CONTENDERS, RESTARTS, Case, check_affordable, choose_methods

__all__ = ["ComparisonRow", "compare"]


@dataclass(frozen=True)
class ComparisonRow:
    """The figures of one method at one core size.

    Attributes
    ----------
    method : str
        One of `CONTENDERS`.
    core : int
        Size of the core, or rank of a low-rank method.
    error, relative_error : float
        Frobenius norm of the difference, and divided by that of the matrix; means over the runs
        of a random method.
    stored_numbers : int
        Numbers needed to keep the approximation.
    multiplications : int
        Multiplications for one product with a vector.
    basis_nonzeros : int
        Non-zero entries of its basis.
    seconds : float
        Time to compute it, without compilation.
    error_std : float or None
        Sample standard deviation of the error of a random method, if there were several runs.
    stored_bytes : int or None
        Bytes of its numbers and indices in a file.
    """

    method: str
    core: int
    error: float
    relative_error: float
    stored_numbers: int
    multiplications: int
    basis_nonzeros: int
    seconds: float
    error_std: float | None = None
    stored_bytes: int | None = None


def compare(
    A: Any,
    cores: Iterable[int] | None = None,
    k: int = 8,
    drop: int = 1,
    methods: Iterable[str] | None = None,
    seed: int = 0,
    runs: int = 1,
    progress: Progress = silent,
    *,
    steps: int = 500,
    restarts: int | None = None,
    matrix: str | None = None,
) -> list[ComparisonRow]:
    """Approximate a matrix by several methods at several core sizes.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts; it is read once.
    cores : list of int, optional
        Core sizes, also the ranks of the low-rank methods; a sixteenth, an eighth and a quarter
        of the rows by default.
    k, drop : int
        Coordinates per rotation and wavelets per level of the factorizations; ``"greedy-k2"``
        always uses 2 and 1.
    methods : list of str, optional
        Any of ``"learned"`` (greedy, then all rotations optimised together by L-BFGS),
        ``"learned-restarts"`` (the same from many randomised greedy runs), ``"greedy"``,
        ``"compact"`` (greedy, each level stored as the one wavelet it drops), ``"greedy-k2"``
        (the classic greedy Jacobi factorization: all pairs), ``"neighbors"``,
        ``"random"``, ``"nystrom"``, ``"truncated_eigh"`` and ``"truncated_jacobi"`` (with as many
        multiplications as ``"greedy"``). By default all but learned-restarts; of large matrices
        (over 4096 rows, over 1024 for learned) only those that do not take dense work.
    seed : int
        First seed of the random methods.
    runs : int
        How often a random method is run, with seeds ``seed, seed + 1, ...``.
    progress : callable
        Called as ``progress(done, total, note)`` before each computation, and now and then in
        those that take long.
    steps : int
        Largest number of optimisation steps of the learned factorizations.
    restarts : int, optional
        Randomised runs of ``"learned-restarts"``, 100 by default; if given, that method is run
        even if `methods` does not name it.
    matrix
        As for `wavemmf.factorize`.

    Returns
    -------
    list of ComparisonRow
        Ordered by core size as given, then by method as given.

    Raises
    ------
    InvalidInputError, InputTypeError, MissingDependencyError, TooLargeError
        Before any method is run.

    Examples
    --------
    >>> import wavemmf as wm
    >>> rows = compare(wm.graphs.karate(), [4, 8], methods=["greedy", "nystrom"])
    >>> [(row.method, row.core) for row in rows]
    [('greedy', 4), ('nystrom', 4), ('greedy', 8), ('nystrom', 8)]
    >>> rows[2].error < rows[3].error
    True
    """
    if methods is not None:
        methods = choose_methods(methods, restarts=restarts)
    steps = check_integer("steps", steps, 0)
    if restarts is not None:
        restarts = check_integer("restarts", restarts, 1)
    seed = check_integer("seed", seed, 0)
    runs = check_integer("runs", runs, 1)
    symmetric = as_matrix(A, matrix=matrix)
    n = symmetric.shape[0]
    sizes = _check_cores(n, cores, k, drop)
    names = choose_methods(methods, n, restarts)
    check_affordable(names, n)
    tries = restarts or RESTARTS
    cases = [Case(symmetric, core, k, drop, seed, steps=steps, restarts=tries) for core in sizes]
    return _run_all(cases, names, runs, progress)


def _check_cores(n: int, cores: Iterable[int] | None, k: int, drop: int) -> list[int]:
    if cores is None:
        cores = sorted({max(1, n // 16), max(1, n // 8), max(1, n // 4)})
    try:
        sizes = list(dict.fromkeys(cores))
    except TypeError:
        raise InputTypeError(f"cores must be a list of integers, got {cores!r}") from None
    if not sizes:
        raise InvalidInputError("give at least one core size")
    return [check_mmf_parameters(n, core, k, drop)[0] for core in sizes]


def _run_all(
    cases: list[Case], names: list[str], runs: int, progress: Progress
) -> list[ComparisonRow]:
    repeats = {name: runs if CONTENDERS[name].random else 1 for name in names}
    total = len(cases) * sum(repeats.values())
    progress(0, total, "warming up")
    _warm_up(cases[0].matrix, names)
    done = 0
    rows: list[ComparisonRow] = []
    for case in cases:
        for name in names:
            if name == "truncated_jacobi":
                case = replace(case, budget=_greedy_multiplications(case, rows))
            measured = []
            for run in range(repeats[name]):
                inner = _nested(progress, done, total, f"{name}, core {case.core}")
                measured.append(_measure(name, replace(case, seed=case.seed + run, progress=inner)))
                done += 1
            rows.append(_mean(measured))
    progress(total, total, "")
    return rows


def _nested(progress: Progress, done: int, total: int, what: str) -> Progress:
    """Announce a computation; return how it reports its own progress as a part of the whole."""
    progress(done, total, what)

    def inner(part: int, parts: int, note: str = "") -> None:
        progress(done, total, f"{what}: {part}/{parts} {note}".rstrip())

    return inner


def _greedy_multiplications(case: Case, rows: list[ComparisonRow]) -> int:
    for row in rows:
        if (row.method, row.core) == ("greedy", case.core):
            return row.multiplications
    return CONTENDERS["greedy"].run(case).multiplications


def _measure(name: str, case: Case) -> ComparisonRow:
    start = time.perf_counter()
    result = CONTENDERS[name].run(case)
    seconds = time.perf_counter() - start
    return ComparisonRow(
        method=name,
        core=case.core,
        error=result.error(),
        relative_error=result.relative_error(),
        stored_numbers=result.stored_numbers,
        multiplications=result.multiplications,
        basis_nonzeros=result.basis_nonzeros,
        seconds=seconds,
        stored_bytes=result.stored_bytes,
    )


def _mean(rows: list[ComparisonRow]) -> ComparisonRow:
    if len(rows) == 1:
        return rows[0]
    measured = [field.name for field in fields(ComparisonRow)[2:]]
    averaged = [name for name in measured if name != "error_std"]
    mean = {name: np.mean([getattr(row, name) for row in rows]) for name in averaged}
    return replace(
        rows[0],
        error=float(mean["error"]),
        relative_error=float(mean["relative_error"]),
        seconds=float(mean["seconds"]),
        stored_numbers=round(mean["stored_numbers"]),
        multiplications=round(mean["multiplications"]),
        basis_nonzeros=round(mean["basis_nonzeros"]),
        stored_bytes=round(mean["stored_bytes"]),
        error_std=float(np.std([row.error for row in rows], ddof=1)),
    )


def _warm_up(matrix: Matrix, names: list[str]) -> None:
    """Run each method on a tiny matrix, so that compiling and importing are not timed."""
    sparse = sp.issparse(matrix)
    tiny: Any = as_matrix(cycle(12))
    both = choose_engine(matrix, "auto", Greedy()).name == "sparse"
    engines = ["dense", "sparse"] if both else ["dense"]
    for engine in engines:
        case = Case(
            tiny if sparse else tiny.toarray(), 4, 3, 1, engine=engine, budget=100, steps=3,
            restarts=2,
        )  # fmt: skip
        for name in names:
            if engine == "dense" or CONTENDERS[name].sparse:
                _measure(name, case)
