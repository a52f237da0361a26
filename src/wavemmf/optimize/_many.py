"""Many optimisations of one matrix side by side, few steps for all and more for the promising.

It is what the paper's learning algorithm asks for in every episode (Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations
from ..factorization._norms import power_of_two_scale
from ..parallel.interrupts import deferred_interrupts
from ..parallel.threads import run_all
from ._descent import Descent, Rules
from ._lbfgs import LBFGS
from ._objective import Objective

__all__ = ["Optimised", "halvings", "optimize_many"]

_RULES = Rules(tolerance=LBFGS.tolerance, gradient_tolerance=LBFGS.gradient_tolerance)


@dataclass(frozen=True)
class Optimised:
    """Rotations after some steps, their Frobenius error, and how many steps that were."""

    rotations: Rotations
    error: float
    steps: int


class _Runner:
    """A descent that can be stopped and continued; it remembers what it has learned."""

    def __init__(self, matrix: Any, scale: float, start: Rotations) -> None:
        self._matrix = matrix
        self._scale = scale
        self._start = start
        self._over = False

    @cached_property
    def _descent(self) -> Descent:
        return LBFGS().begin(Objective(self._matrix, self._start), self._start.blocks)

    @cached_property
    def _values(self) -> list[float]:
        return [self._descent.point.value]

    @property
    def steps(self) -> int:
        return len(self._values) - 1

    @property
    def error(self) -> float:
        return float(np.sqrt(max(self._descent.point.value, 0.0))) * self._scale

    def go_on(self, steps: int) -> None:
        """Take steps until there are so many, or no more are of use."""
        while self.steps < steps and not self._over:
            before = len(self._values)
            taken = self._descent.advance(self._values, steps - self.steps, _RULES)
            self._values += taken.values
            point = self._descent.point
            stalled = _stalled(self._values) or point.gradient_norm <= _RULES.gradient_tolerance
            self._over = stalled or taken.reason is not None or len(self._values) == before

    def result(self) -> Optimised:
        """Return what was reached."""
        rotations = replace(self._start, blocks=self._descent.point.blocks)
        return Optimised(rotations, self.error, self.steps)


def _stalled(values: list[float]) -> bool:
    if len(values) <= _RULES.window:
        return False
    before = min(values[: -_RULES.window])
    return before - min(values) <= _RULES.tolerance * before


def optimize_many(
    matrix: npt.NDArray[np.float64], starts: Sequence[Rotations], rounds: Sequence[int]
) -> list[Optimised]:
    """Optimise many rotations of one matrix by L-BFGS, as many at a time as there are threads.

    All take the steps of the first round. After each round the better half goes on, until it
    has taken the steps of the next one. What was reached does not depend on the number of threads.

    Parameters
    ----------
    matrix : ndarray
        The symmetric matrix, dense.
    starts : sequence of Rotations
        Where to start.
    rounds : sequence of int
        Steps after each round, counted from the start; see `halvings`.

    Returns
    -------
    list of Optimised
        In the order of the starts.

    Examples
    --------
    >>> import wavemmf as wm
    >>> a = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    >>> starts = wm.select.Greedy().sample(a, wm.select.Task(8, 4, 1), 8)
    >>> reached = optimize_many(a, starts, halvings(20))
    >>> sorted(each.steps for each in reached)
    [5, 5, 5, 5, 10, 10, 20, 20]
    """
    scale = power_of_two_scale(matrix)
    scaled = matrix / scale
    runners = [_Runner(scaled, scale, start) for start in starts]
    field = runners
    with deferred_interrupts():
        for number, steps in enumerate(rounds):
            if number:
                field = sorted(field, key=lambda runner: runner.error)[: (len(field) + 1) // 2]
            run_all(_Runner.go_on, [(runner, steps) for runner in field])
    return [runner.result() for runner in runners]


def halvings(steps: int) -> list[int]:
    """Return rounds in which a quarter takes all steps, a half half of them, the rest a quarter.

    Examples
    --------
    >>> halvings(100)
    [25, 50, 100]
    """
    return sorted({max(1, steps // 4), max(1, steps // 2), steps})
