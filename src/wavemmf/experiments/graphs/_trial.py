"""What the training on one fold came to, before a protocol judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Trial", "committee"]


@dataclass(frozen=True, eq=False)
class Trial:
    """Predictions for the test graphs of one fold.

    Parameters
    ----------
    probabilities : list of arrays of shape (graphs, classes)
        With validation graphs, one: that of the epoch they chose. Without, one for every epoch.
    chosen : list of int
        For every network the epoch (or the setting of a kernel) that was chosen, counted from 0.
    validation : list of lists of float
        For every network, its validation accuracies epoch by epoch.
    seconds : float
        Time of the training.
    """

    probabilities: list[npt.NDArray[np.float64]]
    chosen: list[int]
    validation: list[list[float]]
    seconds: float

    @property
    def predictions(self) -> list[npt.NDArray[np.int64]]:
        """The most probable class of every test graph."""
        return [each.argmax(axis=1) for each in self.probabilities]


def committee(trials: Sequence[Trial]) -> Trial:
    """Return what several networks say together: the mean of their probabilities.

    Examples
    --------
    >>> sure, unsure = np.array([[0.1, 0.9]]), np.array([[0.6, 0.4]])
    >>> together = committee([Trial([sure], [3], [[0.5]], 1.0), Trial([unsure], [7], [[0.5]], 1.0)])
    >>> together.predictions[0], together.chosen
    (array([1]), [3, 7])
    """
    every = zip(*(trial.probabilities for trial in trials), strict=True)
    return Trial(
        [np.mean(each, axis=0) for each in every],
        [epoch for trial in trials for epoch in trial.chosen],
        [curve for trial in trials for curve in trial.validation],
        sum(trial.seconds for trial in trials),
    )
