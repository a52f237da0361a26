"""Run an optimiser: when to stop, what to record, how to be interrupted and taken up again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._fingerprint import fingerprint
from .._progress import Report, silent
from ..errors import FileFormatError, InputTypeError, InvalidInputError
from ..factorization import History, Rotations
from ..factorization.norms import power_of_two_scale
from ..kernels._jit import check_compiler
from ..kernels.interrupts import deferred_interrupts
from ..validation import check_choice, check_integer, check_memory
from .cayley import CayleyDescent
from .checkpoint import Checkpoint, check_checkpoint, check_state
from .first_order import SGD, Adam
from .lbfgs import LBFGS
from .objective import Objective
from .optimizer import Floats, Optimizer, Rules
from .small_lbfgs import SmallLBFGS

__all__ = ["METHODS", "Settings", "optimize"]


def _lbfgs(objective: Objective, blocks: Floats, **options: Any) -> Optimizer:
    """Return the form of L-BFGS that suits the size of the problem; their steps are the same."""
    return (SmallLBFGS if objective.suits_one_thread else LBFGS)(objective, blocks, **options)


METHODS: dict[str, Callable[..., Optimizer]] = {
    "lbfgs": _lbfgs,
    "cayley": CayleyDescent,
    "sgd": SGD,
    "adam": Adam,
}

#: Called after every step with (step, error); the optimisation ends if it returns True.
Callback = Callable[[int, float], Any]

# What the steps of a run, and when it ends, depend on.
_DECISIVE = (
    "method", "steps", "tolerance", "gradient_tolerance", "smoothness", "power", "options",
)  # fmt: skip

# The optimisation has stalled when this many steps together gain less than the tolerance.
_WINDOW = 10


@dataclass(frozen=True)
class Settings:
    """How rotations are optimised.

    Attributes
    ----------
    method : {"lbfgs", "cayley", "sgd", "adam"}
        The optimiser.
    steps : int
        Largest number of steps.
    tolerance : float
        Stop when ten steps together decrease the objective by less than this, relatively; zero
        never stops for that.
    gradient_tolerance : float
        Stop when the norm of the gradient, for the matrix scaled to entries of one, is below.
    smoothness, power : float
        Weight and exponent of the penalty for wavelets that are not smooth; see `Objective`.
    options : dict
        Settings of the optimiser itself, for example ``{"memory": 10}`` or
        ``{"learning_rate": 0.01}``.
    callback : callable, optional
        Called after every step with the step and the error; a true return value ends the run.
    checkpoint : path, optional
        Where the state is kept; if the file exists the run continues from there.
    checkpoint_seconds : float
        Time between two writes of the checkpoint.
    report : Report
        Progress display.
    """

    method: str = "lbfgs"
    steps: int = 500
    tolerance: float = 1e-7
    gradient_tolerance: float = 1e-10
    smoothness: float = 0.0
    power: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    callback: Callback | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 30.0
    report: Report = silent

    def __post_init__(self) -> None:
        check_choice("optimize", self.method, tuple(METHODS))
        check_integer("steps", self.steps, 0)
        for name in ("tolerance", "gradient_tolerance", "smoothness", "power"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and np.isfinite(value) and value >= 0):
                raise InvalidInputError(f"{name} must be a finite number >= 0, got {value!r}")
        check_compiler(f"optimize={self.method!r}")
        check_checkpoint(self.checkpoint, self.checkpoint_seconds)


def optimize(
    matrix: npt.NDArray[np.float64], rotations: Rotations, settings: Settings
) -> tuple[Rotations, History]:
    """Improve all rotation blocks together; the index sets stay.

    Parameters
    ----------
    matrix : ndarray
        The symmetric matrix, dense.
    rotations : Rotations
        Where to start.
    settings : Settings
        How.

    Returns
    -------
    rotations : Rotations
        The best found, never worse than the start.
    history : History
        The error after every step, times, and why it stopped. ``details`` has the objective and
        the norm of its gradient at the end, both for the matrix scaled to entries of about one,
        and the number of evaluations.
    """
    n = rotations.n
    check_memory(5 * 8 * n * n, f"optimising rotations of {n} rows")
    scale = power_of_two_scale(matrix)
    # The penalty is on the energies of the unscaled matrix; the objective is divided by scale^2.
    weight = settings.smoothness * scale ** (settings.power - 2.0)
    objective = Objective(matrix / scale, rotations, weight, settings.power)
    try:
        optimizer = METHODS[settings.method](objective, rotations.blocks, **settings.options)
    except InputTypeError:
        raise
    except TypeError as error:
        raise InvalidInputError(
            f"these options do not fit optimize={settings.method!r}: {settings.options}"
        ) from error
    run = _Run(optimizer, scale, settings)
    run.go()
    improved = Rotations(
        n=n,
        offsets=rotations.offsets,
        groups=rotations.groups,
        blocks=run.best_blocks,
        drop_offsets=rotations.drop_offsets,
        wavelets=rotations.wavelets,
    )
    return improved, run.history()


class _Run:
    """The loop around an optimiser."""

    def __init__(self, optimizer: Optimizer, scale: float, settings: Settings) -> None:
        self.optimizer = optimizer
        self.settings = settings
        self.scale = scale
        self.started = time.perf_counter()
        self.values = [optimizer.point.value]
        self.errors = [self._error(optimizer.point.residual)]
        self.seconds = [0.0]
        self.best_value = optimizer.point.value
        self.best_blocks = optimizer.point.blocks
        self.stopped = ""
        self.checkpoint = self._open_checkpoint()

    def go(self) -> None:
        """Step until there is a reason to stop; Ctrl-C is one."""
        try:
            while not self.stopped:
                self.stopped = self._reason_to_stop() or self._advance() or ""
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            if self.checkpoint is not None:
                self.checkpoint.save(self._state())
        else:
            if self.checkpoint is not None:
                self.checkpoint.remove()

    def history(self) -> History:
        """Return the record of the run."""
        return History(
            method=self.settings.method,
            errors=tuple(self.errors),
            seconds=tuple(self.seconds),
            stopped=self.stopped,
            details={
                "objective": self.best_value,
                "gradient_norm": self.optimizer.point.gradient_norm,
                "evaluations": self.optimizer.objective.evaluations,
            },
        )

    def _error(self, residual: float) -> float:
        return float(np.sqrt(max(residual, 0.0))) * self.scale

    def _advance(self) -> str | None:
        settings = self.settings
        rules = Rules(_WINDOW, settings.tolerance, settings.gradient_tolerance)
        most = settings.steps + 1 - len(self.values) if settings.callback is None else 1
        with deferred_interrupts():  # a step is taken whole or not at all
            made = self.optimizer.advance(self.values, most, rules)
            point = self.optimizer.point
            if point.value < self.best_value:
                self.best_value, self.best_blocks = point.value, point.blocks
            self.values += made.values
            self.errors += [self._error(residual) for residual in made.residuals]
            self._record_time(len(made.values))
        for step in range(len(self.values) - len(made.values), len(self.values)):
            settings.report(step, settings.steps, f"error {self.errors[step]:.6g}")
        step, error = len(self.values) - 1, self.errors[-1]
        if self.checkpoint is not None:
            self.checkpoint.save_if_due(self._state())
        if settings.callback is not None and settings.callback(step, error):
            return "the callback asked to stop"
        return made.reason

    def _record_time(self, steps: int) -> None:
        """Share the time since the last record among the steps taken together."""
        now = time.perf_counter()
        before, each = self.seconds[-1], (now - self.started) / max(steps, 1)
        self.seconds += [before + each * step for step in range(1, steps + 1)]
        self.started = now

    def _reason_to_stop(self) -> str | None:
        settings, values = self.settings, self.values
        if len(values) > settings.steps:
            return f"{settings.steps} steps were taken"
        if not np.isfinite(values[-1]):
            return "the objective is not finite any more"
        if self.optimizer.point.gradient_norm <= settings.gradient_tolerance:
            return f"the gradient is below {settings.gradient_tolerance:g}"
        if len(values) > _WINDOW and settings.tolerance > 0.0:
            before, now = min(values[:-_WINDOW]), min(values)
            if before - now <= settings.tolerance * before:
                return f"{_WINDOW} steps gained less than {settings.tolerance:g} of the objective"
        return None

    # -- checkpoints --

    def _open_checkpoint(self) -> Checkpoint | None:
        settings = self.settings
        if settings.checkpoint is None:
            return None
        objective = self.optimizer.objective
        identity = fingerprint(
            "optimisation",
            matrix=objective.matrix,
            scale=self.scale,
            rotations=objective.rotations,
            settings={name: getattr(settings, name) for name in _DECISIVE},
        )
        checkpoint = Checkpoint(settings.checkpoint, identity, settings.checkpoint_seconds)
        state = checkpoint.load()
        if state is not None:
            try:
                check_state(state, self._state())
                self._resume(state)
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise FileFormatError(f"{checkpoint.path} is damaged: {error}") from error
        return checkpoint

    def _state(self) -> dict[str, Any]:
        return {
            **{f"optimizer.{name}": value for name, value in self.optimizer.state().items()},
            "values": np.array(self.values),
            "errors": np.array(self.errors),
            "seconds": np.array(self.seconds),
            "best_value": self.best_value,
            "best_blocks": self.best_blocks,
        }

    def _resume(self, state: dict[str, Any]) -> None:
        inner = {
            name.removeprefix("optimizer."): value
            for name, value in state.items()
            if name.startswith("optimizer.")
        }
        self.optimizer.restore(inner)
        self.values = [float(value) for value in state["values"]]
        self.errors = [float(value) for value in state["errors"]]
        self.seconds = [float(value) for value in state["seconds"]]
        self.best_value = float(state["best_value"])
        self.best_blocks = np.array(state["best_blocks"])
