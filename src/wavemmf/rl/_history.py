"""What happened in training, episode by episode."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TrainingHistory"]

_COLUMNS = {"errors": np.float64, "rewards": np.float64, "seconds": np.float64, "graphs": np.int64}


def _empty() -> npt.NDArray[Any]:
    return np.zeros(0)


@dataclass
class TrainingHistory:
    """Arrays with one entry per episode.

    Attributes
    ----------
    errors : array
        Frobenius error that the episode ended with.
    rewards : array
        Sum of the rewards of the episode.
    seconds : array
        Time since the start of the training at the end of the episode's batch.
    graphs : array of int
        Which of the graphs was played.
    batches : list of int
        Episodes per update.
    stopped : str
        Why the training ended.

    Examples
    --------
    >>> history = TrainingHistory()
    >>> history.add([2.0, 4.0], [-2.0, -4.0], seconds=0.1, graph=0)
    >>> history.batch_errors.tolist()
    [3.0]
    """

    errors: npt.NDArray[Any] = field(default_factory=_empty)
    rewards: npt.NDArray[Any] = field(default_factory=_empty)
    seconds: npt.NDArray[Any] = field(default_factory=_empty)
    graphs: npt.NDArray[Any] = field(default_factory=_empty)
    batches: list[int] = field(default_factory=list)
    stopped: str = ""

    @property
    def episodes(self) -> int:
        """Number of episodes played."""
        return int(self.errors.size)

    @property
    def batch_errors(self) -> npt.NDArray[Any]:
        """Mean error of every batch."""
        bounds = np.cumsum([0, *self.batches])
        return np.array([self.errors[a:b].mean() for a, b in pairwise(bounds)])

    def add(self, errors: Any, rewards: Any, seconds: float, graph: int) -> None:
        """Append the episodes of one batch."""
        count = len(errors)
        more = {
            "errors": errors,
            "rewards": rewards,
            "seconds": np.full(count, seconds),
            "graphs": np.full(count, graph),
        }
        for name, dtype in _COLUMNS.items():
            joined = np.concatenate([getattr(self, name), np.asarray(more[name])])
            setattr(self, name, joined.astype(dtype))
        self.batches.append(count)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything but the reason to stop as arrays by name."""
        columns = {name: np.asarray(getattr(self, name), d) for name, d in _COLUMNS.items()}
        return {**columns, "batches": np.array(self.batches, np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]], stopped: str) -> TrainingHistory:
        """Build the history from what `arrays` gave."""
        columns = {name: np.asarray(arrays[name], dtype) for name, dtype in _COLUMNS.items()}
        return cls(**columns, batches=[int(b) for b in arrays["batches"]], stopped=stopped)

    def summary(self) -> dict[str, Any]:
        """Return the figures that tell whether something was learned, as plain values."""
        if not self.episodes:
            return {"episodes": 0, "stopped": self.stopped}
        tenth = max(1, self.episodes // 10)
        return {
            "episodes": self.episodes,
            "error_first": float(self.errors[:tenth].mean()),
            "error_last": float(self.errors[-tenth:].mean()),
            "error_best": float(self.errors.min()),
            "reward_last": float(self.rewards[-tenth:].mean()),
            "seconds": float(self.seconds[-1]),
            "stopped": self.stopped,
        }
