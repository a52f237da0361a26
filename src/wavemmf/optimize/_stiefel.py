"""Gradient descent on the Stiefel manifold with curvilinear search (Algorithm 2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._validation import check_positive
from ..errors import InvalidInputError
from ._descent import Descent, Floats
from ._linesearch import armijo_wolfe
from ._objective import Objective
from ._settings import Optimizer

__all__ = ["Stiefel"]


@dataclass(frozen=True, kw_only=True)
class Stiefel(Optimizer):
    r"""Steepest descent along the Cayley curve of the gradient, by name "stiefel".

    With G the gradient at X and the skew matrix :math:`A = G X^T - X G^T`, follow
    :math:`Y(\tau) = (I + \frac{\tau}{2} A)^{-1} (I - \frac{\tau}{2} A) X` until the Armijo and
    Wolfe conditions hold. All rotations move together, with one step length.

    The published search only ever halves the step, which cannot meet the Wolfe condition once the
    step is too short; here such a step is lengthened instead. The first step tried is the last one
    accepted, doubled.

    Parameters
    ----------
    sufficient, curvature : float
        The constants :math:`0 < \rho_1 < \rho_2 < 1` of the two conditions.
    first_step : float
        The first step tried, relative to the inverse of the largest entry of A.
    steps, tolerance, gradient_tolerance, smoothness, power
        When it ends and what is minimised, see `Optimizer`.
    callback, checkpoint, checkpoint_seconds
        See `Optimizer`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, optimize=Stiefel(steps=20, curvature=0.5))
    >>> f.history.method, len(f.history.errors)
    ('stiefel', 21)
    """

    name: ClassVar[str] = "stiefel"

    sufficient: float = 1e-4
    curvature: float = 0.9
    first_step: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.sufficient < self.curvature < 1.0:
            raise InvalidInputError(
                "sufficient and curvature must be numbers with 0 < sufficient < curvature < 1, "
                f"got {self.sufficient!r} and {self.curvature!r}"
            )
        check_positive("first_step", self.first_step)

    def begin(self, objective: Objective, blocks: Floats) -> Descent:
        """Return the method at its start."""
        return _StiefelDescent(objective, blocks, self)


class _StiefelDescent(Descent):
    """The method in progress."""

    remembered = ("length",)

    def __init__(self, objective: Objective, blocks: Floats, settings: Stiefel) -> None:
        super().__init__(objective, blocks)
        self.settings = settings
        largest = float(abs(self.point.gradient).max(initial=0.0))
        first = settings.first_step
        # The gradient we keep is half of the skew matrix A of the paper.
        self.length = first / (2.0 * largest) if largest > 0.0 else first

    def step(self) -> str | None:
        """Follow the curve to a point that satisfies both conditions."""
        before = self.point
        skew = 2.0 * before.gradient
        slope = self.slope(before, -skew, 0.0)
        if slope == 0.0:
            return "the gradient is zero"
        found = armijo_wolfe(
            before,
            slope,
            lambda tau: self.move(-skew, tau),
            lambda point, tau: self.slope(point, -skew, tau),
            self.length,
            self.settings.sufficient,
            self.settings.curvature,
        )
        if found is None:
            return "no step along the gradient decreases the objective"
        self.length, self.point = 2.0 * found[0], found[1]
        return None
