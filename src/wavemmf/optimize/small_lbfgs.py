"""L-BFGS for small problems, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.simd import LANES
from ..kernels.small_lbfgs import STUCK, lbfgs_steps
from ..kernels.threads import aligned_zeros
from ..validation import check_integer
from .objective import Objective
from .optimizer import Floats, Optimizer, Point, Progress, Rules

__all__ = ["SmallLBFGS"]

# Steps in one call: as many as take some hundredths of a second, so that Ctrl-C is noticed.
_WORK = 50_000_000


class SmallLBFGS(Optimizer):
    """The same method as `LBFGS`, many steps at a time.

    Parameters
    ----------
    objective : Objective
        What is minimised; without a penalty.
    blocks : array
        Where to start.
    memory : int
        Number of past steps kept.
    """

    def __init__(self, objective: Objective, blocks: Floats, memory: int = 20) -> None:
        super().__init__(objective, blocks)
        self.memory = check_integer("memory", memory, 1)
        rotations = objective.rotations
        mirrored = rotations.transposed_entries
        self._lower = np.flatnonzero(np.arange(mirrored.size) > mirrored)
        self._upper = mirrored[self._lower]
        # One place more than is kept: a pair is written before it is known to be worth keeping.
        width = (self._lower.size // LANES + 1) * LANES  # more than enough
        self._moves = aligned_zeros((self.memory + 1, width))
        self._changes = aligned_zeros((self.memory + 1, width))
        self._products = np.zeros(self.memory + 1)
        self._counts = np.zeros(3, np.int64)
        work = max(1, rotations.n * rotations.blocks.size)
        self._steps_per_call = max(1, _WORK // work)

    def step(self) -> str | None:
        """Take one step."""
        return self.advance([self.point.value], 1, Rules()).reason

    def advance(self, values: list[float], most: int, rules: Rules) -> Progress:
        """Take up to `most` steps, fewer if a rule asks for it."""
        taken = len(values)
        most = min(most, self._steps_per_call)
        record = np.empty(taken + most)
        record[:taken] = values
        blocks, gradient = self.point.blocks.copy(), np.zeros(self._moves.shape[1])
        gradient[: self._lower.size] = self.point.gradient[self._lower]
        self._counts[2] = 0
        done, outcome = lbfgs_steps(
            self.objective.problem, self.objective.rotations.sizes, self._lower, self._upper,
            blocks, gradient, self._moves, self._changes, self._products, self._counts,
            record, taken, taken + most,
            rules.window, float(rules.tolerance), float(rules.gradient_tolerance),
        )  # fmt: skip
        self.objective.evaluations += int(self._counts[2])
        value = float(record[done - 1])
        self.point = Point(blocks, value, self._skew(gradient), value)
        reached = record[taken:done].tolist()
        reason = "no step along the gradient decreases the objective" if outcome == STUCK else None
        return Progress(reached, reached, reason)

    def _skew(self, entries: Floats) -> Floats:
        """Return skew matrices from their entries below the diagonal, along the last axis."""
        full = np.zeros((*entries.shape[:-1], self.point.blocks.size))
        full[..., self._lower] = entries[..., : self._lower.size]
        full[..., self._upper] = -entries[..., : self._lower.size]
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
