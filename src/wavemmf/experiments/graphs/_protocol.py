"""How folds become an accuracy: the protocols, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidInputError
from .._results import mean_and_error

__all__ = ["PROTOCOLS", "FoldOutcome", "GraphClassification"]

Floats = npt.NDArray[np.float64]

#: What the protocols are, in words.
PROTOCOLS = {
    "honest": "epoch (and setting of the kernel) chosen on a hold-out of the training fold",
    "xu": "one epoch for all folds, the one with the best mean test accuracy (optimistic)",
}


@dataclass(frozen=True)
class FoldOutcome:
    """What came of one fold.

    Parameters
    ----------
    test_size, distinct_size : int
        Test graphs, and those of them that no training graph is isomorphic to.
    test_correct, distinct_correct : list of int
        How many of them were classified correctly: one number under "honest", one for every
        epoch under "xu".
    chosen : list of int
        For every network the epoch its hold-out chose, from 0.
    validation : list of lists of float
        For every network the accuracies on its hold-out, epoch by epoch.
    seconds : float
        Time of the training.
    """

    test_size: int
    distinct_size: int
    test_correct: list[int]
    distinct_correct: list[int]
    chosen: list[int]
    validation: list[list[float]]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class GraphClassification:
    """Accuracies of one model on one data set, over seeds and folds.

    Parameters
    ----------
    dataset, model, protocol, folds : str
        What was run, and how.
    seeds : tuple of int
        Each has folds of its own (if they are drawn) and random numbers of its own.
    outcomes : tuple of tuples of FoldOutcome
        For every seed, one per fold.
    facts : dict
        Settings of the model.
    """

    dataset: str
    model: str
    protocol: str
    folds: str
    seeds: tuple[int, ...]
    outcomes: tuple[tuple[FoldOutcome, ...], ...]
    facts: dict[str, Any]

    @property
    def epochs(self) -> list[int]:
        """For every seed, which of the counts of correct graphs is taken."""
        return [_epoch(folds) for folds in self.outcomes]

    @property
    def accuracies(self) -> Floats:
        """Test accuracies, shape (seeds, folds)."""
        return np.array(
            [
                [fold.test_correct[epoch] / fold.test_size for fold in folds]
                for folds, epoch in zip(self.outcomes, self.epochs, strict=True)
            ]
        )

    @property
    def distinct_accuracies(self) -> Floats:
        """Accuracies without test graphs isomorphic to a training graph; NaN if none is left."""
        return np.array(
            [
                [
                    fold.distinct_correct[epoch] / fold.distinct_size
                    if fold.distinct_size
                    else np.nan
                    for fold in folds
                ]
                for folds, epoch in zip(self.outcomes, self.epochs, strict=True)
            ]
        )

    @property
    def accuracy_mean(self) -> float:
        """Mean test accuracy."""
        return float(self.accuracies.mean())

    @property
    def accuracy_std(self) -> float:
        """Standard deviation over folds, the mean of that of every seed."""
        return float(self.accuracies.std(axis=1).mean())

    def better_by(self, other: GraphClassification) -> tuple[float, float]:
        """Return the mean of this accuracy minus that of `other`, fold by fold, and its error.

        Seeds of one fold number share nothing but the data, so differences are averaged over seeds
        first, and the standard error is that over folds.

        Raises
        ------
        InvalidInputError
            If the two were not run on the same folds.
        """
        both = f"{self.model} and {other.model}"
        for name in ("dataset", "protocol", "folds", "seeds"):
            if getattr(self, name) != getattr(other, name):
                raise InvalidInputError(f"{both} were not run with the same {name}")
        if self.accuracies.shape != other.accuracies.shape:
            raise InvalidInputError(f"{both} were not run on the same folds")
        return mean_and_error((self.accuracies - other.accuracies).mean(axis=0))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        distinct = self.distinct_accuracies
        some = bool(np.isfinite(distinct).any())
        folds = [fold for each in self.outcomes for fold in each]
        return {
            "dataset": self.dataset,
            "model": self.model,
            "protocol": self.protocol,
            "protocol_in_words": PROTOCOLS[self.protocol],
            "folds": self.folds,
            "runs": int(self.accuracies.size),
            "accuracy_mean": self.accuracy_mean,
            "accuracy_std": self.accuracy_std,
            "accuracy_of_seeds": self.accuracies.mean(axis=1).tolist(),
            "without_duplicates_mean": float(np.nanmean(distinct)) if some else None,
            "without_duplicates_std": float(np.nanstd(distinct, axis=1).mean()) if some else None,
            "duplicates_share": 1.0
            - sum(fold.distinct_size for fold in folds) / sum(fold.test_size for fold in folds),
            "seconds": sum(fold.seconds for fold in folds),
            "seeds": list(self.seeds),
            "epochs_chosen": self.epochs if self.protocol == "xu" else None,
            "accuracies": self.accuracies.tolist(),
            "outcomes": [[fold.to_json() for fold in each] for each in self.outcomes],
            "settings": self.facts,
        }


def _epoch(folds: Sequence[FoldOutcome]) -> int:
    """Return the one place for all folds with the best mean accuracy; under "honest" there is one.

    The first among equals: never one for each fold.
    """
    curves = np.array([np.array(fold.test_correct) / fold.test_size for fold in folds])
    return int(curves.mean(axis=0).argmax())
