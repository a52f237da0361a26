"""What all methods share: a point on the manifold, and a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..kernels.planes import move_planes
from ..kernels.stiefel import cayley_step, cayley_velocity
from ..kernels.vectors import dot, norm
from ._objective import Objective

__all__ = ["Descent", "Point", "Rules", "Taken"]

Floats = npt.NDArray[Any]


class Point:
    """Rotation blocks with the objective and its gradient there.

    Attributes
    ----------
    blocks : array
        All blocks, packed.
    value : float
        The objective.
    gradient : array
        Its gradient as packed skew matrices (see `Objective.value_and_gradient`).
    residual : float
        The squared error: the objective without its penalty.
    """

    __slots__ = ("blocks", "gradient", "residual", "value")

    def __init__(self, blocks: Floats, value: float, gradient: Floats, residual: float) -> None:
        self.blocks = blocks
        self.value = value
        self.gradient = gradient
        self.residual = residual

    @property
    def gradient_norm(self) -> float:
        """Norm of the gradient: zero at a stationary point."""
        return float(norm(self.gradient))


@dataclass(frozen=True)
class Rules:
    """When a run ends: `window` steps gain less than `tolerance`, or the gradient is small."""

    window: int = 10
    tolerance: float = 0.0
    gradient_tolerance: float = 0.0


@dataclass(frozen=True)
class Taken:
    """Objective and squared error after every step taken, and why none is possible any more."""

    values: list[float]
    residuals: list[float]
    reason: str | None


class Descent(ABC):
    """Moves a point on the product of orthogonal groups, one step at a time.

    Directions and gradients are packed skew matrices; a direction X with step length t moves every
    block O to ``(I - t/2 X)^{-1} (I + t/2 X) O``. Compact levels move along straight lines of the
    coordinates of their wavelets (`wavemmf.kernels.planes`).

    Parameters
    ----------
    objective : Objective
        What is minimised.
    blocks : array
        Where to start.
    """

    #: Names of the numbers and arrays, beside the point, that the next step depends on.
    remembered: ClassVar[tuple[str, ...]] = ()

    def __init__(self, objective: Objective, blocks: Floats) -> None:
        self.objective = objective
        self.point = self.evaluate(np.array(blocks, dtype=objective.matrix.dtype))

    @abstractmethod
    def step(self) -> str | None:
        """Take one step; return why no further step is possible, if so."""

    def advance(self, values: list[float], most: int, rules: Rules) -> Taken:
        """Take one step, or up to `most` if that is faster, and no further than `rules` allow.

        `values` are the objective at the start and after every step so far.
        """
        reason = self.step()
        return Taken([self.point.value], [self.point.residual], reason)

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here: numbers and arrays by name."""
        return {
            "blocks": self.point.blocks,
            "gradient": self.point.gradient,
            "value": self.point.value,
            "residual": self.point.residual,
            **{name: getattr(self, name) for name in self.remembered},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.point = Point(
            np.array(state["blocks"]),
            float(state["value"]),
            np.array(state["gradient"]),
            float(state["residual"]),
        )
        for name in self.remembered:
            kind = type(getattr(self, name))
            setattr(self, name, (np.array if kind is np.ndarray else kind)(state[name]))

    def evaluate(self, blocks: Floats) -> Point:
        """Evaluate the objective and its gradient."""
        value, gradient = self.objective.value_and_gradient(blocks)
        return Point(blocks, value, gradient, self.objective.residual)

    def move(self, direction: Floats, step: float) -> Point:
        """Return the point reached from the current one."""
        r = self.objective.rotations
        blocks = np.empty_like(self.point.blocks)
        if r.kind == "compact":
            move_planes(r.offsets, self.point.blocks, direction, step, blocks)
        else:
            cayley_step(self.point.blocks, r.sizes, r.block_offsets, direction, step, blocks)
        return self.evaluate(blocks)

    def slope(self, point: Point, direction: Floats, step: float) -> float:
        """Return the derivative of the objective along the curve, at the point after `step`."""
        r = self.objective.rotations
        if r.kind == "compact":
            return 2.0 * float(dot(point.gradient, direction))
        velocity = np.empty_like(direction)
        cayley_velocity(r.sizes, r.block_offsets, direction, step, velocity)
        return float(dot(point.gradient, velocity))
