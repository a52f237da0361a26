"""Riemannian L-BFGS over all rotations at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._validation import check_integer
from ..factorization import Rotations
from ..kernels.lbfgs import CURVATURE, STUCK, SUFFICIENT, aim, lbfgs_steps, settle
from ..kernels.simd import LANES
from ..parallel.threads import aligned_zeros
from ._descent import Descent, Floats, Point, Rules, Taken
from ._linesearch import armijo_wolfe
from ._objective import Objective
from ._settings import Optimizer

__all__ = ["LBFGS"]

# Steps in one call: as many as take some hundredths of a second, so that Ctrl-C is noticed.
_WORK = 50_000_000
_STUCK = "no step along the gradient decreases the objective"


@dataclass(frozen=True, kw_only=True)
class LBFGS(Optimizer):
    """Limited-memory BFGS in left-trivialised coordinates, by name "lbfgs": the one to use.

    Tangent vectors at every point are identified with skew matrices through ``X -> X O``, so
    vectors of different points can be combined as they are: the transport is the identity.

    Parameters
    ----------
    memory : int
        Number of past steps kept.
    steps, tolerance, gradient_tolerance, smoothness, power
        When it ends and what is minimised, see `Optimizer`.
    callback, checkpoint, checkpoint_seconds
        See `Optimizer`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=8, optimize=LBFGS(steps=50, memory=10))
    >>> len(f.history.errors)
    51
    """

    name: ClassVar[str] = "lbfgs"

    memory: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("memory", self.memory, 1)

    def begin(self, objective: Objective, blocks: Floats) -> Descent:
        """Return the method at its start."""
        return LBFGSDescent(objective, blocks, self.memory)


class LBFGSDescent(Descent):
    """The method in progress.

    Skew matrices are kept as their entries below the diagonal, back to back, in a ring of pairs;
    for compact levels these are the coordinates of their wavelets.
    Small problems take many steps in one call; large ones are evaluated on all threads.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    blocks : array
        Where to start.
    memory : int
        Number of past steps kept.
    """

    def __init__(self, objective: Objective, blocks: Floats, memory: int = 20) -> None:
        super().__init__(objective, blocks)
        self.memory = memory
        rotations = objective.rotations
        self._lower, self._upper = _free_entries(rotations)
        # One place more than is kept: a pair is written before it is known to be worth keeping.
        width = (self._lower.size // LANES + 1) * LANES  # more than enough
        self._moves = aligned_zeros((memory + 1, width))
        self._changes = aligned_zeros((memory + 1, width))
        self._products = np.zeros(memory + 1)
        self._counts = np.zeros(3, np.int64)
        work = max(1, rotations.n * rotations.multiplications)
        self._steps_per_call = max(1, _WORK // work)

    @property
    def _pairs(self) -> tuple[Any, ...]:
        return self._moves, self._changes, self._products, self._counts

    def step(self) -> str | None:
        """Search along the quasi-Newton direction, or along the gradient if that fails."""
        gradient = self._entries(self.point.gradient)
        slope, first = aim(gradient, *self._pairs)
        direction = self._skew(self._moves[self._counts[1]])
        found = armijo_wolfe(
            self.point,
            slope,
            lambda t: self.move(direction, t),
            lambda point, t: self.slope(point, direction, t),
            first,
            SUFFICIENT,
            CURVATURE,
        )
        length, self.point = (0.0, self.point) if found is None else found
        outcome = settle(length, self._entries(self.point.gradient), gradient, *self._pairs)
        return _STUCK if outcome == STUCK else None

    def advance(self, values: list[float], most: int, rules: Rules) -> Taken:
        """Take up to `most` steps, fewer if a rule asks for it; one if the problem is large."""
        if not self.objective.suits_one_thread:
            return super().advance(values, most, rules)
        taken = len(values)
        most = min(most, self._steps_per_call)
        record = np.empty(taken + most)
        record[:taken] = values
        blocks, gradient = self.point.blocks.copy(), self._entries(self.point.gradient)
        self._counts[2] = 0
        done, outcome = lbfgs_steps(
            self.objective.problem, self.objective.rotations.sizes, self._lower, self._upper,
            blocks, gradient, *self._pairs, record, taken, taken + most,
            rules.window, float(rules.tolerance), float(rules.gradient_tolerance),
        )  # fmt: skip
        self.objective.evaluations += int(self._counts[2])
        value = float(record[done - 1])
        self.point = Point(blocks, value, self._skew(gradient), value)
        reached = record[taken:done].tolist()
        return Taken(reached, reached, _STUCK if outcome == STUCK else None)

    def _entries(self, skew: Floats) -> Floats:
        """Return the entries below the diagonals, filled up with zeros."""
        entries = np.zeros(self._moves.shape[1])
        entries[: self._lower.size] = skew[self._lower]
        return entries

    def _skew(self, entries: Floats) -> Floats:
        """Return skew matrices from their entries below the diagonal, along the last axis."""
        full = np.zeros((*entries.shape[:-1], self.point.blocks.size))
        full[..., self._lower] = entries[..., : self._lower.size]
        full[..., self._upper] = -entries[..., : self._upper.size]
        return full

    def _order(self) -> Any:
        """Where the kept pairs are, oldest first."""
        kept, following = int(self._counts[0]), int(self._counts[1])
        return np.arange(following - kept, following) % (self.memory + 1)

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here."""
        order = self._order()
        return {
            **super().state(),
            "moves": self._skew(self._moves[order]),
            "changes": self._skew(self._changes[order]),
            "products": self._products[order],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        kept = len(state["products"])
        if kept > self.memory:
            raise ValueError(f"{kept} pairs are kept, at most {self.memory} can be")
        size = self._lower.size
        self._moves[:kept, :size] = np.asarray(state["moves"])[:, self._lower]
        self._changes[:kept, :size] = np.asarray(state["changes"])[:, self._lower]
        self._products[:kept] = state["products"]
        self._counts[:2] = kept, kept % (self.memory + 1)


def _free_entries(rotations: Rotations) -> tuple[Any, Any]:
    """Return where the numbers stand that decide a tangent vector, and their mirror images."""
    places = np.arange(rotations.blocks.size)
    if rotations.kind == "compact":
        return np.delete(places, rotations.offsets[:-1]), places[:0]
    mirrored = rotations.transposed_entries
    lower = np.flatnonzero(places > mirrored)
    return lower, mirrored[lower]
