"""Fixed-step methods on the manifold, for comparison with what is used elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._validation import check_positive
from ..errors import InvalidInputError
from ._descent import Descent, Floats
from ._objective import Objective
from ._settings import Optimizer

__all__ = ["SGD", "Adam"]


@dataclass(frozen=True, kw_only=True)
class SGD(Optimizer):
    """Gradient descent with momentum and a fixed learning rate, by name "sgd".

    Parameters
    ----------
    learning_rate : float
        Step length, as a multiple of the gradient.
    momentum : float
        How much of the last move is kept, from 0 to below 1.
    steps, tolerance, gradient_tolerance, smoothness, power
        When it ends and what is minimised, see `Optimizer`.
    callback, checkpoint, checkpoint_seconds
        See `Optimizer`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, optimize=SGD(steps=20, momentum=0.5))
    >>> f.history.method
    'sgd'
    """

    name: ClassVar[str] = "sgd"

    learning_rate: float = 0.01
    momentum: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("learning_rate", self.learning_rate)
        _check_below_one("momentum", self.momentum)

    def begin(self, objective: Objective, blocks: Floats) -> Descent:
        """Return the method at its start."""
        return _SGDDescent(objective, blocks, self)


class _SGDDescent(Descent):
    """The method in progress."""

    remembered = ("velocity",)

    def __init__(self, objective: Objective, blocks: Floats, settings: SGD) -> None:
        super().__init__(objective, blocks)
        self.settings = settings
        self.velocity = np.zeros_like(self.point.blocks)

    def step(self) -> str | None:
        """Move along the accumulated gradient."""
        self.velocity = self.settings.momentum * self.velocity + self.point.gradient
        self.point = self.move(-self.velocity, self.settings.learning_rate)
        return None


@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    """Adam on the entries of the skew matrices, by name "adam".

    Parameters
    ----------
    learning_rate : float
        Step length per entry.
    decay : (float, float)
        Decay of the averages of the gradient and of its square, both from 0 to below 1.
    steps, tolerance, gradient_tolerance, smoothness, power
        When it ends and what is minimised, see `Optimizer`.
    callback, checkpoint, checkpoint_seconds
        See `Optimizer`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, optimize=Adam(steps=20, learning_rate=0.001))
    >>> f.history.method
    'adam'
    """

    name: ClassVar[str] = "adam"

    learning_rate: float = 0.01
    decay: tuple[float, float] = (0.9, 0.999)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("learning_rate", self.learning_rate)
        if np.shape(self.decay) != (2,):
            raise InvalidInputError(f"decay must be a pair of numbers, got {self.decay!r}")
        for value in self.decay:
            _check_below_one("decay", value)

    def begin(self, objective: Objective, blocks: Floats) -> Descent:
        """Return the method at its start."""
        return _AdamDescent(objective, blocks, self)


class _AdamDescent(Descent):
    """The method in progress."""

    remembered = ("mean", "square", "count")

    def __init__(self, objective: Objective, blocks: Floats, settings: Adam) -> None:
        super().__init__(objective, blocks)
        self.settings = settings
        self.mean = np.zeros_like(self.point.blocks)
        self.square = np.zeros_like(self.point.blocks)
        self.count = 0

    def step(self) -> str | None:
        """Move along the averaged gradient, scaled by its typical size."""
        first, second = self.settings.decay
        gradient = self.point.gradient
        self.count += 1
        self.mean = first * self.mean + (1 - first) * gradient
        self.square = second * self.square + (1 - second) * gradient**2
        mean = self.mean / (1 - first**self.count)
        size = np.sqrt(self.square / (1 - second**self.count)) + 1e-12
        self.point = self.move(-mean / size, self.settings.learning_rate)
        return None


def _check_below_one(name: str, value: Any) -> None:
    if not (isinstance(value, (int, float)) and 0.0 <= value < 1.0):
        raise InvalidInputError(f"{name} must be at least 0 and below 1, got {value!r}")
