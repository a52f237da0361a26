"""Fixed-step methods on the manifold, for comparison with what is used elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from .objective import Objective
from .optimizer import Floats, Optimizer

__all__ = ["SGD", "Adam"]


class SGD(Optimizer):
    """Gradient descent with momentum and a fixed learning rate.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    blocks : array
        Where to start.
    learning_rate : float
        Step length, as a multiple of the gradient.
    momentum : float
        How much of the last move is kept, from 0 to below 1.
    """

    def __init__(
        self,
        objective: Objective,
        blocks: Floats,
        learning_rate: float = 0.01,
        momentum: float = 0.9,
    ) -> None:
        super().__init__(objective, blocks)
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.velocity = np.zeros_like(self.point.blocks)

    def step(self) -> str | None:
        """Move along the accumulated gradient."""
        self.velocity = self.momentum * self.velocity + self.point.gradient
        self.point = self.move(-self.velocity, self.learning_rate)
        return None

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here."""
        return {**super().state(), "velocity": self.velocity}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.velocity = np.array(state["velocity"])


class Adam(Optimizer):
    """Adam on the entries of the skew matrices.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    blocks : array
        Where to start.
    learning_rate : float
        Step length per entry.
    decay : (float, float)
        Decay of the averages of the gradient and of its square.
    """

    def __init__(
        self,
        objective: Objective,
        blocks: Floats,
        learning_rate: float = 0.01,
        decay: tuple[float, float] = (0.9, 0.999),
    ) -> None:
        super().__init__(objective, blocks)
        self.learning_rate = learning_rate
        self.decay = decay
        self.mean = np.zeros_like(self.point.blocks)
        self.square = np.zeros_like(self.point.blocks)
        self.count = 0

    def step(self) -> str | None:
        """Move along the averaged gradient, scaled by its typical size."""
        first, second = self.decay
        gradient = self.point.gradient
        self.count += 1
        self.mean = first * self.mean + (1 - first) * gradient
        self.square = second * self.square + (1 - second) * gradient**2
        mean = self.mean / (1 - first**self.count)
        size = np.sqrt(self.square / (1 - second**self.count)) + 1e-12
        self.point = self.move(-mean / size, self.learning_rate)
        return None

    def state(self) -> dict[str, Any]:
        """Everything needed to continue exactly from here."""
        return {
            **super().state(),
            "mean": self.mean,
            "square": self.square,
            "count": self.count,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.mean = np.array(state["mean"])
        self.square = np.array(state["square"])
        self.count = int(state["count"])
