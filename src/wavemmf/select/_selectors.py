"""The selectors as objects: choose once, or many times differently."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from .._progress import silent
from .._validation import check_choice
from ..errors import InvalidInputError
from ..factorization import Rotations
from ..parallel.runs import in_parallel
from ._batch import LARGEST
from ._greedy import PAIRS, SURVIVORS, greedy, greedy_in_order
from ._heuristics import explicit, neighbors, random
from ._order import in_canonical_order, renumbered
from ._plan import Task, as_dense
from ._regular import regular
from ._room import with_room, with_room_in_order

__all__ = ["Explicit", "Greedy", "Neighbors", "Random", "Regular"]

# Combinations of noise that greedy runs go through; the first two are the plain greedy.
_SCORE_NOISE = (0.0, 0.2, 0.5)
_CORRELATION_NOISE = (0.0, 0.05, 0.15, 0.3)
_NOISES = [(score, other) for other in _CORRELATION_NOISE for score in _SCORE_NOISE][1:]
# Of so many runs one has survivors nearest to the coordinates: on small matrices, which are those
# searched, the best runs have eigenvectors.
_NEAREST_IN = 8


@dataclass(frozen=True)
class Greedy:
    """Best first, see `wavemmf.select.greedy`; many times with noise.

    Parameters
    ----------
    pairs : {"exhaustive", "correlated"}
        For k = 2: pair every row with the one of smallest true residual, or with the most
        correlated one.
    survivors : {"auto", "eigenvectors", "nearest"}
        Which basis the rows that stay active get: eigenvectors of the Gram block, the one nearest
        to the coordinates, or the better of both. Of eight samples seven take eigenvectors.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=8, select=Greedy(survivors="nearest"))
    >>> f.parameters["select"]
    'greedy'
    """

    name: ClassVar[str] = "greedy"
    pairs: str = "exhaustive"
    survivors: str = "auto"

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, PAIRS)
        check_choice("survivors", self.survivors, SURVIVORS)

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Run once, without noise."""
        chosen = greedy(matrix, task, self.pairs, self.survivors)
        return with_room(matrix, chosen, task.k) if matrix.shape[0] <= LARGEST else chosen

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Run `count` times with noise of different strength on scores and correlations."""
        ordered, order = in_canonical_order(as_dense(matrix))
        run = partial(_run_randomised, ordered, replace(task, progress=silent), self.pairs)
        chosen = in_parallel(run, range(count), task.progress, "greedy runs")
        return [renumbered(rotations, order) for rotations in chosen]


class _Drawn(ABC):
    """Groups that are drawn at random, by a function that its kinds name."""

    @staticmethod
    @abstractmethod
    def _draw(matrix: Any, task: Task) -> Rotations:
        """Choose rows with the seed of the task."""

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Draw once."""
        return self._draw(matrix, task)

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Draw `count` times."""
        tasks = [replace(task, seed=_seed(task, index), progress=silent) for index in range(count)]
        return in_parallel(partial(self._draw, matrix), tasks, task.progress, "runs")


class Random(_Drawn):
    """Rows drawn uniformly, see `wavemmf.select.random`."""

    name = "random"
    _draw = staticmethod(random)


class Neighbors(_Drawn):
    """Random rows with their neighbours, see `wavemmf.select.neighbors`."""

    name = "neighbors"
    _draw = staticmethod(neighbors)


class Regular:
    """Rows in their order, see `wavemmf.select.regular`."""

    name = "regular"

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Choose the only sequence there is."""
        return regular(matrix, task)

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Refuse: nothing is random."""
        raise _nothing_to_sample(self.name, count)


@dataclass(frozen=True)
class Explicit:
    """Index sets ``(I, T)`` given by the caller, see `wavemmf.select.explicit`."""

    name: ClassVar[str] = "explicit"
    indices: Any

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Use them."""
        return explicit(matrix, task, self.indices)

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Refuse: nothing is random."""
        raise _nothing_to_sample(self.name, count)


def _run_randomised(matrix: Any, task: Task, pairs: str, index: int) -> Rotations:
    noisy, survivors = _randomised(task, index)
    chosen = greedy_in_order(matrix, noisy, pairs, survivors)
    return with_room_in_order(matrix, chosen, task.k) if len(matrix) <= LARGEST else chosen


def _randomised(task: Task, index: int) -> tuple[Task, str]:
    """Return the task of a greedy run with noise, and the survivors it is to use."""
    score, correlation = (0.0, 0.0) if index < 2 else _NOISES[(index - 2) % len(_NOISES)]
    noisy = replace(
        task,
        seed=_seed(task, index),
        progress=silent,
        score_noise=score,
        correlation_noise=correlation,
    )
    return noisy, "nearest" if index % _NEAREST_IN == 1 else "eigenvectors"


def _seed(task: Task, index: int) -> int:
    return task.seed * 1_000_003 + index


def _nothing_to_sample(name: str, count: int) -> InvalidInputError:
    return InvalidInputError(
        f"restarts={count} is for selectors that can choose differently each time; "
        f"select={name!r} knows one sequence only"
    )
