"""Gradient descent on the Stiefel manifold with curvilinear search (Algorithm 2 of the paper)."""

from __future__ import annotations

from typing import Any

from ..kernels.vectors import dot
from .linesearch import armijo_wolfe
from .objective import Objective
from .optimizer import Floats, Optimizer

__all__ = ["CayleyDescent"]


class CayleyDescent(Optimizer):
    r"""Steepest descent along the Cayley curve of the gradient.

    With G the gradient at X and the skew matrix :math:`A = G X^T - X G^T`, follow
    :math:`Y(\tau) = (I + \frac{\tau}{2} A)^{-1} (I - \frac{\tau}{2} A) X` until the Armijo and
    Wolfe conditions hold. All rotations move together, with one step length.

    The published search only ever halves the step, which cannot meet the Wolfe condition once the
    step is too short; here such a step is lengthened instead. The first step tried is the last one
    accepted, doubled.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    blocks : array
        Where to start.
    sufficient, curvature : float
        The constants :math:`0 < \rho_1 < \rho_2 < 1` of the two conditions.
    first_step : float
        The first step tried, relative to the inverse of the largest entry of A.
    """

    def __init__(
        self,
        objective: Objective,
        blocks: Floats,
        sufficient: float = 1e-4,
        curvature: float = 0.9,
        first_step: float = 0.1,
    ) -> None:
        super().__init__(objective, blocks)
        self.sufficient = sufficient
        self.curvature = curvature
        largest = float(abs(self.point.gradient).max(initial=0.0))
        # The gradient we keep is half of the skew matrix A of the paper.
        self.length = first_step / (2.0 * largest) if largest > 0.0 else first_step

    def step(self) -> str | None:
        """Follow the curve to a point that satisfies both conditions."""
        before = self.point
        skew = 2.0 * before.gradient
        slope = -float(dot(skew, before.gradient))
        if slope == 0.0:
            return "the gradient is zero"
        found = armijo_wolfe(
            before,
            slope,
            lambda tau: self.move(-skew, tau),
            lambda point, tau: self.slope(point, -skew, tau),
            self.length,
            self.sufficient,
            self.curvature,
        )
        if found is None:
            return "no step along the gradient decreases the objective"
        self.length, self.point = 2.0 * found[0], found[1]
        return None

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here."""
        return {**super().state(), "length": self.length}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.length = float(state["length"])
