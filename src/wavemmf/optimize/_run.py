"""Run an optimiser: when to stop, what to record, how to be interrupted and taken up again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._fingerprint import fingerprint
from .._progress import Progress, silent
from .._validation import check_memory
from ..errors import FileFormatError
from ..factorization import History, Rotations
from ..factorization._norms import power_of_two_scale
from ..kernels._compile_time import Stopwatch
from ..parallel.interrupts import deferred_interrupts
from ._checkpoint import Checkpoint, check_state
from ._descent import Descent, Rules
from ._objective import Objective
from ._settings import Optimizer

__all__ = ["optimize_rotations"]

# The optimisation has stalled when this many steps together gain less than the tolerance.
_WINDOW = 10


def optimize_rotations(
    matrix: npt.NDArray[np.float64],
    rotations: Rotations,
    optimizer: Optimizer,
    progress: Progress = silent,
) -> tuple[Rotations, History]:
    """Improve all rotation blocks together; the index sets stay.

    Parameters
    ----------
    matrix : ndarray
        The symmetric matrix, dense.
    rotations : Rotations
        Where to start.
    optimizer : Optimizer
        How.
    progress : Progress
        Called after every step.

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
    weight = optimizer.smoothness * scale ** (optimizer.power - 2.0)
    objective = Objective(matrix / scale, rotations, weight, optimizer.power)
    run = _Run(optimizer.begin(objective, rotations.blocks), scale, optimizer, progress)
    run.go()
    return replace(rotations, blocks=run.best_blocks), run.history()


class _Run:
    """The loop around a descent."""

    def __init__(
        self, descent: Descent, scale: float, settings: Optimizer, progress: Progress
    ) -> None:
        self.descent = descent
        self.settings = settings
        self.steps = settings.most_steps
        self.progress = progress
        self.scale = scale
        self.watch = Stopwatch()
        self.values = [descent.point.value]
        self.errors = [self._error(descent.point.residual)]
        self.seconds = [0.0]
        self.best_value = descent.point.value
        self.best_blocks = descent.point.blocks
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
            method=self.settings.name,
            errors=tuple(self.errors),
            seconds=tuple(self.seconds),
            stopped=self.stopped,
            details={
                "objective": self.best_value,
                "gradient_norm": self.descent.point.gradient_norm,
                "evaluations": self.descent.objective.evaluations,
            },
        )

    def _error(self, residual: float) -> float:
        return float(np.sqrt(max(residual, 0.0))) * self.scale

    def _advance(self) -> str | None:
        settings = self.settings
        rules = Rules(_WINDOW, settings.tolerance, settings.gradient_tolerance)
        most = self.steps + 1 - len(self.values) if settings.callback is None else 1
        with deferred_interrupts():  # a step is taken whole or not at all
            made = self.descent.advance(self.values, most, rules)
            point = self.descent.point
            if point.value < self.best_value:
                self.best_value, self.best_blocks = point.value, point.blocks
            self.values += made.values
            self.errors += [self._error(residual) for residual in made.residuals]
            self._record_time(len(made.values))
        for step in range(len(self.values) - len(made.values), len(self.values)):
            self.progress(step, self.steps, f"error {self.errors[step]:.6g}")
        step, error = len(self.values) - 1, self.errors[-1]
        if self.checkpoint is not None:
            self.checkpoint.save_if_due(self._state())
        if settings.callback is not None and settings.callback(step, error):
            return "the callback asked to stop"
        return made.reason

    def _record_time(self, steps: int) -> None:
        """Share the time since the last record among the steps taken together."""
        before, each = self.seconds[-1], self.watch.seconds() / max(steps, 1)
        self.seconds += [before + each * step for step in range(1, steps + 1)]
        self.watch.restart()

    def _reason_to_stop(self) -> str | None:
        settings, values = self.settings, self.values
        if len(values) > self.steps:
            return f"{self.steps} steps were taken"
        if not np.isfinite(values[-1]):
            return "the objective is not finite any more"
        if self.descent.point.gradient_norm <= settings.gradient_tolerance:
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
        objective = self.descent.objective
        identity = fingerprint(
            "optimisation",
            matrix=objective.matrix,
            scale=self.scale,
            rotations=objective.rotations,
            settings=settings.decisive(),
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
            **{f"optimizer.{name}": value for name, value in self.descent.state().items()},
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
        self.descent.restore(inner)
        self.values = [float(value) for value in state["values"]]
        self.errors = [float(value) for value in state["errors"]]
        self.seconds = [float(value) for value in state["seconds"]]
        self.best_value = float(state["best_value"])
        self.best_blocks = np.array(state["best_blocks"])
