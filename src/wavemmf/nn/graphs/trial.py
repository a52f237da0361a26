"""What the training on one fold came to, before a protocol judges it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

__all__ = ["Trial"]


@dataclass(frozen=True, eq=False)
class Trial:
    """Predictions for the test graphs of one fold.

    Parameters
    ----------
    predictions : list of int arrays
        With a validation set, one: that of the epoch it chose. Without, one for every epoch.
    chosen : int or None
        The epoch (or the setting of a kernel) that was chosen, counted from 0.
    validation : list of float
        Validation accuracies of all epochs.
    seconds : float
        Time of the training.
    """

    predictions: list[npt.NDArray[Any]]
    chosen: int | None
    validation: list[float]
    seconds: float
