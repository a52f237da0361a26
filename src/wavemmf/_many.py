"""Factorize thousands of graphs: a data set in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._cache import ResultCache, open_cache
from ._factorize import completed, factorize
from ._progress import Progress, progress_shown
from ._validation import check_choice, check_integer, check_mmf_parameters, core_size
from .errors import InvalidInputError, TooLargeError
from .factorization import KINDS, Factorization
from .graphs import as_matrices
from .graphs._names import names_of
from .io import load_if_path
from .kernels._compile_time import Stopwatch
from .optimize import Optimizer, as_optimizer, optimize_rotations
from .parallel.executor import use_executor
from .select import Diffusion, Greedy, as_selector, check_compact
from .select._batch import LARGEST, greedy_batch
from .select._room import with_room

__all__ = ["factorize_many"]

# Graphs of one piece of work: enough to make calls cheap, few enough to keep all workers busy. It
# is the same everywhere, because pieces are also what the cache keeps.
_CHUNK = 32
# What `factorize` works on densely, whatever it is given.
_DENSE_UP_TO = 1024


@dataclass(frozen=True)
class _Plan:
    """Everything that decides the result, beside the matrix."""

    core: int | float | None
    k: int
    drop: int
    select: Greedy | Diffusion
    optimize: Optimizer | None
    rotations: str

    def parameters(self, n: int) -> dict[str, Any]:
        """Return what a factorization of n rows is told to be computed with."""
        return {
            "core": self.core_of(n), "k": self.k, "drop": self.drop, "select": self.select.name,
            "optimize": None if self.optimize is None else self.optimize.name,
            "restarts": 0, "seed": 0, "engine": "dense", "rotations": self.rotations,
        }  # fmt: skip

    def core_of(self, n: int) -> int:
        """Return the core of a matrix of n rows: never more than there are."""
        fits = self.core is None or self.core <= n
        return core_size(n, self.core) if fits else n


def factorize_many(
    graphs: Iterable[Any],
    core: int | float | None = None,
    k: int = 4,
    drop: int = 1,
    select: str | Greedy | Diffusion = "greedy",
    optimize: str | Optimizer | None = None,
    *,
    steps: int | None = None,
    matrix: str | None = None,
    rotations: str = "full",
    executor: Any = None,
    cache: bool | str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> list[Factorization]:
    """Factorize every graph or matrix of a data set.

    The results are those of `wavemmf.factorize` for each alone, in order, whatever runs them;
    thousands of small graphs take seconds. All threads are used.

    Parameters
    ----------
    graphs : iterable
        Anything that `wavemmf.factorize` takes, of any sizes.
    core : int or float, optional
        Size of the core, or its share of the rows of each; graphs with fewer rows than that keep
        all of them, and are represented exactly. By default a tenth of the rows, at least 8.
    k, drop : int
        As for `wavemmf.factorize`.
    select : "greedy", "diffusion", Greedy or Diffusion
        The selector, such as ``wm.select.Greedy(survivors="nearest")``.
    optimize, steps
        As for `wavemmf.factorize`, without callback and checkpoint.
    matrix, rotations
        As for `wavemmf.factorize`.
    executor : str or dask.distributed.Client, optional
        Run on a Dask cluster, given by a client or the address of its scheduler.
    cache : bool or path, optional
        Keep results on disk and take them from there the next time: in the folder given, or, for
        True, in the cache folder of the user. Results are found by the content of the matrices,
        the settings and the version of wavemmf. Interrupted work goes on where it stopped.
    progress : callable, bool or None
        A bar (True), none (False), or by default one that appears on terminals and in notebooks
        when the work takes longer than two seconds. A callable is called instead, as
        ``progress(done, total, note)``.

    Returns
    -------
    list of Factorization

    Raises
    ------
    InvalidInputError, InputTypeError
        For input or settings that are not allowed; the message names the position of the graph.
    ClusterError
        If the executor cannot be reached, or is lost.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graphs = [wm.graphs.cycle(n) for n in range(3, 30)]
    >>> results = wm.factorize_many(graphs, core=4, k=4)
    >>> [f.n for f in results[:3]], results[0].error()
    ([3, 4, 5], 0.0)
    >>> results[20].error() == wm.factorize(graphs[20], core=4, k=4).error()
    True
    """
    plan = _plan(core, k, drop, select, as_optimizer(optimize, steps), rotations)
    store = open_cache(cache)
    given = list(graphs)
    matrices = as_matrices(given, matrix, dense_up_to=_DENSE_UP_TO)
    with progress_shown("factorizing", progress) as shown:
        work = _Work(_chunks(matrices), plan, store, shown)
        missing = work.look_up()
        if missing:
            calls = [work.call(index) for index in missing]
            with use_executor(executor) as run:
                run(factorize_chunk, calls, work.collector(missing))
        shown(len(matrices), len(matrices), "")
    # Names are not kept in the cache: the same matrix may have others.
    return [_named(f, graph) for f, graph in zip(work.results(), given, strict=True)]


def _named(f: Factorization, graph: Any) -> Factorization:
    names = names_of(load_if_path(graph))
    return f if names is None else replace(f, node_names=names)


def _plan(
    core: Any, k: int, drop: int, select: Any, optimizer: Optimizer | None, rotations: str
) -> _Plan:
    selector = as_selector(select)
    if not isinstance(selector, Greedy | Diffusion):
        raise InvalidInputError(
            "factorize_many takes the selectors 'greedy' and 'diffusion', got "
            f"select={selector.name!r}; call factorize for each graph"
        )
    if optimizer is not None:
        optimizer = optimizer.for_many("factorize_many runs many")
    # Any size is allowed, so it is checked for a matrix as large as that.
    size = 1 if core is None or isinstance(core, float) else check_integer("core", core, 0)
    _, k, drop = check_mmf_parameters(size, core, k, drop)
    if check_choice("rotations", rotations, KINDS) == "compact":
        check_compact(selector, drop)
    return _Plan(core, k, drop, selector, optimizer, rotations)


def _chunks(matrices: Sequence[Any]) -> list[list[Any]]:
    """Cut the list into pieces of work; a large matrix is one of its own."""
    chunks: list[list[Any]] = []
    room = 0
    for matrix in matrices:
        large = matrix.shape[0] > LARGEST
        if room == 0 or large:
            chunks.append([])
            room = 0 if large else _CHUNK
        chunks[-1].append(matrix)
        room = max(0, room - 1)
    return chunks


class _Work:
    """The pieces of a data set: which are known, and what became of the others."""

    def __init__(
        self, chunks: list[list[Any]], plan: _Plan, store: ResultCache | None, progress: Progress
    ) -> None:
        self._chunks = chunks
        self._plan = plan
        self._store = store
        self._progress = progress
        self._total = sum(len(chunk) for chunk in chunks)
        self._keys = [store.key(chunk, {"plan": plan}) for chunk in chunks] if store else []
        self._made: dict[int, list[Factorization]] = {}

    def look_up(self) -> list[int]:
        """Take from the cache what is there; return what is missing."""
        for index, key in enumerate(self._keys):
            found = self._store.load(key, len(self._chunks[index])) if self._store else None
            if found is not None:
                self._made[index] = found
        return [index for index in range(len(self._chunks)) if index not in self._made]

    def call(self, index: int) -> tuple[Any, ...]:
        """Return the arguments of `factorize_chunk` for a piece."""
        first = sum(len(chunk) for chunk in self._chunks[:index])
        return self._chunks[index], first, self._plan

    def collector(self, missing: list[int]) -> Callable[[int, Any], None]:
        """Return what is to be called with every result: it keeps the result at once."""

        def collect(position: int, made: list[Factorization]) -> None:
            index = missing[position]
            self._made[index] = made
            if self._store is not None:
                self._store.save(self._keys[index], made)
            self._progress(sum(map(len, self._made.values())), self._total, "")

        return collect

    def results(self) -> list[Factorization]:
        """Return everything, in order."""
        return [f for index in range(len(self._chunks)) for f in self._made[index]]


def factorize_chunk(matrices: list[Any], first: int, plan: _Plan) -> list[Factorization]:
    """Factorize a few matrices, the first of which is number `first` of the data set."""
    try:
        if isinstance(plan.select, Greedy) and matrices[0].shape[0] <= LARGEST:
            return _factorize_together(matrices, plan, plan.select)
        return [_factorize_alone(matrix, plan) for matrix in matrices]
    except TooLargeError as error:
        raise TooLargeError(f"graph {first}: {error}") from error


def _factorize_alone(matrix: Any, plan: _Plan) -> Factorization:
    core = plan.core_of(matrix.shape[0])
    settings = (core, plan.k, plan.drop, plan.select, plan.optimize)
    return _unless_interrupted(factorize(matrix, *settings, rotations=plan.rotations))


def _factorize_together(matrices: list[Any], plan: _Plan, select: Greedy) -> list[Factorization]:
    watch = Stopwatch()
    cores = [plan.core_of(len(matrix)) for matrix in matrices]
    compact = plan.rotations == "compact"
    survivors = "nearest" if compact else select.survivors
    chosen = greedy_batch(matrices, cores, plan.k, plan.drop, select.pairs, survivors)
    chosen = [
        with_room(matrix, rotations.to_compact() if compact else rotations, plan.k)
        for matrix, rotations in zip(matrices, chosen, strict=True)
    ]
    seconds = watch.seconds() / len(matrices)
    made = []
    for matrix, rotations in zip(matrices, chosen, strict=True):
        history = None
        if plan.optimize is not None:
            rotations, history = optimize_rotations(matrix, rotations, plan.optimize)
        parameters = plan.parameters(len(matrix))
        made.append(_unless_interrupted(completed(matrix, rotations, history, parameters, seconds)))
    return made


def _unless_interrupted(result: Factorization) -> Factorization:
    """Pass on a Ctrl-C that ended an optimisation: a data set is complete or not at all."""
    if result.history.stopped == "interrupted":
        raise KeyboardInterrupt
    return result
