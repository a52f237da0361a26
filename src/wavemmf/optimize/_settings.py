"""What all optimisers can be told, and from what the user gave as ``optimize`` to one of them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._validation import check_integer
from ..errors import InvalidInputError
from ..kernels._jit import check_compiler
from ._checkpoint import check_checkpoint
from ._descent import Descent, Floats
from ._objective import Objective

__all__ = ["Optimizer"]

_Self = TypeVar("_Self", bound="Optimizer")

#: Called after every step with its number and the error; the work ends if it returns True.
Callback = Callable[[int, float], Any]

# Steps of a whole matrix, and of one part of many, unless told otherwise.
_STEPS, _STEPS_OF_A_PART = 500, 30
# What neither the steps of a run nor their number depend on.
_INDIFFERENT = ("callback", "checkpoint", "checkpoint_seconds")


@dataclass(frozen=True, kw_only=True)
class Optimizer(ABC):
    """How all rotations are optimised together: what every method can be told.

    Parameters
    ----------
    steps : int, optional
        Largest number of steps: 500 by default, or 30 for every part of a large sparse matrix.
    tolerance : float
        Stop when ten steps together gain less than this, relative to the squared error; zero
        never stops for that.
    gradient_tolerance : float
        Stop when the norm of the gradient, for the matrix scaled to entries of one, is below.
    smoothness, power : float
        Add ``smoothness * sum(frequency ** power)`` over the wavelets to the objective: smoother
        wavelets, for Laplacians, at the price of a larger error.
    callback : callable, optional
        Called after every step with the step and the error; a true return value ends the run.
    checkpoint : path, optional
        File that keeps the state of the run, written every `checkpoint_seconds`; a run with the
        same settings continues from it exactly. It is removed when the run is complete.
    checkpoint_seconds : float
        Time between two writes of the checkpoint.
    """

    #: What it is called as a string, and in the history of a factorization.
    name: ClassVar[str]

    steps: int | None = None
    tolerance: float = 1e-7
    gradient_tolerance: float = 1e-10
    smoothness: float = 0.0
    power: float = 1.0
    callback: Callback | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.steps is not None:
            check_integer("steps", self.steps, 0)
        for name in ("tolerance", "gradient_tolerance", "smoothness", "power"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and np.isfinite(value) and value >= 0):
                raise InvalidInputError(f"{name} must be a finite number >= 0, got {value!r}")
        check_checkpoint(self.checkpoint, self.checkpoint_seconds)
        check_compiler(f"optimize={self.name!r}")

    @abstractmethod
    def begin(self, objective: Objective, blocks: Floats) -> Descent:
        """Return the method at its start."""

    @property
    def most_steps(self) -> int:
        """Largest number of steps for a whole matrix."""
        return _STEPS if self.steps is None else self.steps

    def for_part(self: _Self) -> _Self:
        """Return the settings for one part of many of a large sparse matrix."""
        alone = self.for_many("a large sparse matrix is optimised in many small parts")
        return replace(alone, steps=_STEPS_OF_A_PART if self.steps is None else self.steps)

    def for_many(self: _Self, reason: str) -> _Self:
        """Return the settings if they can serve many problems: none that belong to one run."""
        for name in ("callback", "checkpoint"):
            if getattr(self, name) is not None:
                raise InvalidInputError(f"{name} is for one optimisation, but {reason}")
        return self

    def decisive(self) -> dict[str, Any]:
        """Return all that the steps of a run, and when it ends, depend on."""
        kept = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {name: value for name, value in kept.items() if name not in _INDIFFERENT}
        return {"name": self.name, **kept, "steps": self.most_steps}

    def fingerprint_parts(self) -> dict[str, Any]:
        """Return what tells results from others: a callback can end a run, so it cannot be told."""
        return {**self.decisive(), "steps": self.steps, "callback": self.callback}
