"""Riemannian L-BFGS over all rotations at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.vectors import dot, norm
from ..validation import check_integer
from .linesearch import armijo_wolfe
from .objective import Objective
from .optimizer import Floats, Optimizer

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Limited-memory BFGS in left-trivialised coordinates.

    Tangent vectors at every point are identified with skew matrices through ``X -> X O``, so
    vectors of different points can be combined as they are: the transport is the identity.

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
        self.memory = check_integer("memory", memory, 1)
        self.moves: list[Floats] = []
        self.changes: list[Floats] = []

    def step(self) -> str | None:
        """Search along the quasi-Newton direction, or along the gradient if that fails."""
        before = self.point
        steepness = before.gradient_norm
        if steepness == 0.0:
            return "the gradient is zero"
        direction = -self._inverse_hessian_times(before.gradient)
        slope = float(dot(direction, before.gradient))
        if slope >= -1e-12 * steepness * float(norm(direction)):
            self._forget()
            direction, slope = -before.gradient, -steepness * steepness
        first = 1.0 if self.moves else 0.1 / float(np.abs(direction).max())
        found = armijo_wolfe(
            before,
            slope,
            lambda t: self.move(direction, t),
            lambda point, t: self.slope(point, direction, t),
            first,
            sufficient=1e-4,
            curvature=0.9,
        )
        if found is None:
            if not self.moves:
                return "no step along the gradient decreases the objective"
            self._forget()
            return None
        length, after = found
        self._remember(length * direction, after.gradient - before.gradient)
        self.point = after
        return None

    def _remember(self, move: Floats, change: Floats) -> None:
        product = float(dot(move, change))
        if product <= 1e-12 * float(norm(move)) * float(norm(change)):
            return
        self.moves.append(move)
        self.changes.append(change)
        del self.moves[: -self.memory], self.changes[: -self.memory]

    def _forget(self) -> None:
        self.moves.clear()
        self.changes.clear()

    def _inverse_hessian_times(self, gradient: Floats) -> Floats:
        """Two-loop recursion."""
        vector = gradient.copy()
        weights = []
        for move, change in zip(reversed(self.moves), reversed(self.changes), strict=True):
            weight = float(dot(move, vector)) / float(dot(move, change))
            weights.append(weight)
            vector -= weight * change
        if self.moves:
            move, change = self.moves[-1], self.changes[-1]
            vector *= float(dot(move, change)) / float(dot(change, change))
        pairs = zip(self.moves, self.changes, reversed(weights), strict=True)
        for move, change, weight in pairs:
            vector += (weight - float(dot(change, vector)) / float(dot(move, change))) * move
        return vector

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here."""
        width = self.point.blocks.size
        return {
            **super().state(),
            "moves": np.array(self.moves).reshape(-1, width),
            "changes": np.array(self.changes).reshape(-1, width),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.moves = [np.array(row) for row in state["moves"]]
        self.changes = [np.array(row) for row in state["changes"]]
