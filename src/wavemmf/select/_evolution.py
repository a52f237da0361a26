"""Evolutionary search for index sequences.

What is inherited is the beginning of a sequence: a child takes over the first levels of a
parent, and a randomised greedy run, with noise as strong as the parent's, goes on from there. A
change made at one level makes the groups after it stale, so levels after the change are
chosen anew (mutation) or, where their rows are all still active, come from a second parent
(crossover). Every child is a valid sequence by construction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._progress import silent
from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ..factorization import Factorization, Rotations
from ..parallel.runs import in_parallel
from ._given import NOTHING, Given
from ._greedy import PAIRS, greedy_in_order
from ._order import in_canonical_order, renumbered
from ._plan import Task, as_dense

__all__ = ["Evolution"]

# Founders draw the strength of their noise, on a logarithmic scale, from this range: what is best
# depends on the matrix, and children inherit it.
_NOISE = (0.03, 0.5)
# Children change it by a factor, the exponential of a normal number with this deviation.
_NOISE_CHANGE = 0.3
_SURVIVORS = ("eigenvectors", "nearest")


@dataclass(frozen=True)
class Evolution:
    """Evolve index sequences from randomised greedy runs, by closed-form error.

    The best sequences found so far are the parents. Every generation they have a few children:
    the first levels of a parent (more often few than many), completed by a randomised greedy run
    (mutation) or by the levels of another parent (crossover). Nothing found is ever lost.

    Parameters
    ----------
    budget : int
        Sequences to try when no number is asked for; ``restarts=`` of `wavemmf.factorize` is one.
    parents, children : int, optional
        Per generation; the square root of the budget by default.
    crossover : float
        Probability that a child has two parents.
    founders : float
        Share of the budget spent on the randomised greedy runs that evolution starts from.
    relatedness : float
        Largest share of groups that two sequences may have in common if both are optimised.
        Relatives end up at much the same error, so a family should not take all places.
    pairs : {"exhaustive", "correlated"}
        For k = 2, how partners are found.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.karate()
    >>> f = wm.factorize(graph, core=8, k=8, select="evolution", restarts=60)
    >>> f.error() <= wm.factorize(graph, core=8, k=8).error()
    True
    >>> f = wm.factorize(graph, core=8, k=8, select=Evolution(budget=60, parents=5))
    >>> f.parameters["restarts"]
    60
    """

    name: ClassVar[str] = "evolution"
    budget: int = 400
    parents: int | None = None
    children: int | None = None
    crossover: float = 0.25
    founders: float = 0.25
    relatedness: float = 0.1
    pairs: str = "exhaustive"

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, PAIRS)
        check_integer("budget", self.budget, 1)
        for name in ("parents", "children"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)
        for name in ("crossover", "founders", "relatedness"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and 0 <= value <= 1):
                raise InvalidInputError(f"{name} must be a number from 0 to 1, got {value!r}")

    @classmethod
    def directed(cls, **settings: Any) -> Evolution:
        """Return directed evolution: mutants of the single best are screened, again and again.

        Examples
        --------
        >>> Evolution.directed(children=30)
        Evolution(budget=400, parents=1, children=30, crossover=0.0, ...
        """
        return cls(**{"parents": 1, "crossover": 0.0, **settings})

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Spend the budget and return the best."""
        return min(self._evolve(matrix, task, self.budget), key=_error).rotations

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Spend `count` evaluations and return all sequences tried, in the order of their birth."""
        return [each.rotations for each in self._evolve(matrix, task, count)]

    def _evolve(self, matrix: Any, task: Task, budget: int) -> list[_Individual]:
        original = as_dense(matrix)
        dense, order = in_canonical_order(original)
        generation = math.isqrt(budget)
        parents = self.parents or generation
        children = self.children or generation

        def live(genome: _Genome) -> _Individual:
            return _live(dense, genome, self.pairs)

        rng = np.random.default_rng(task.seed)
        count = min(budget, max(2, round(self.founders * budget)))
        genomes = [_founder(task, index, rng) for index in range(count)]
        everyone = in_parallel(live, genomes, task.progress, "greedy runs")
        while len(everyone) < budget:
            best = _fittest(everyone, parents)
            count = min(children, budget - len(everyone))
            genomes = [_child(best, self.crossover, rng) for _ in range(count)]
            everyone += in_parallel(live, genomes, silent, "")
            found = renumbered(best[0].rotations, order)
            error = Factorization.from_rotations(original, found).error()
            task.progress(len(everyone), budget, f"evolving, error {error:.4g}")
        return [replace(each, rotations=renumbered(each.rotations, order)) for each in everyone]


@dataclass(frozen=True)
class _Genome:
    """All that decides an index sequence: noise, its seed, given groups; and the survivors."""

    task: Task
    survivors: str


@dataclass(frozen=True)
class _Individual:
    genome: _Genome
    rotations: Rotations
    error: float

    @property
    def groups(self) -> Given:
        return Given.from_rotations(self.rotations, self.genome.task.k)


def _error(individual: _Individual) -> float:
    return individual.error


def _live(matrix: Any, genome: _Genome, pairs: str) -> _Individual:
    rotations = greedy_in_order(matrix, genome.task, pairs, genome.survivors)
    return _Individual(genome, rotations, Factorization.from_rotations(matrix, rotations).error())


def _fittest(individuals: Sequence[_Individual], count: int) -> list[_Individual]:
    """Return the best, one of each error: on symmetric graphs mirror images are many."""
    distinct: dict[str, _Individual] = {}
    for each in sorted(individuals, key=_error):
        distinct.setdefault(f"{each.error:.9e}", each)
    return list(distinct.values())[:count]


def _founder(task: Task, index: int, rng: np.random.Generator) -> _Genome:
    """Return the genome of a randomised greedy run; the first two are without noise."""
    low, high = np.log(_NOISE)
    noise = np.exp(rng.uniform(low, high, size=2)) if index > 1 else np.zeros(2)
    return _Genome(_altered(task, noise, NOTHING, rng), _SURVIVORS[index % 2])


def _child(parents: Sequence[_Individual], crossover: float, rng: np.random.Generator) -> _Genome:
    """Return the genome of a child of one or two of the parents."""
    first, *others = (parents[int(index)] for index in rng.permutation(len(parents))[:2])
    # The square prefers early levels: most of the error is made there, and late changes matter
    # less the fewer rows are left.
    level = int(first.rotations.num_levels * rng.random() ** 2)
    given = first.groups.until(level)
    if others and rng.random() < crossover:
        given = first.groups.followed_by(others[0].groups, level)
    task = first.genome.task
    noise = np.maximum([task.score_noise, task.correlation_noise], _NOISE[0])
    noise *= np.exp(_NOISE_CHANGE * rng.standard_normal(2))
    return _Genome(_altered(task, noise, given, rng), first.genome.survivors)


def _altered(task: Task, noise: Any, given: Given, rng: np.random.Generator) -> Task:
    return replace(
        task,
        seed=int(rng.integers(2**62)),
        progress=silent,
        score_noise=float(noise[0]),
        correlation_noise=float(noise[1]),
        given=given,
    )
