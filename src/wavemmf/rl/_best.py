"""The best trajectories that a training has met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from .._restarts import Candidate
from ..factorization import Factorization, Rotations
from ..select._plan import Task

__all__ = ["Best"]

_FIELDS = tuple(field.name for field in fields(Rotations) if field.name not in ("n", "kind"))


class Best:
    """A few rotations of one matrix, no two of which rotate the same groups.

    They are a selector whose choices are at hand, so that `wavemmf.factorize` optimises them.

    Parameters
    ----------
    count : int
        How many are kept.
    """

    name = "learned"

    def __init__(self, count: int) -> None:
        self.count = count
        self.kept: list[Candidate] = []

    def offer_all(self, errors: Any, rotations: Callable[[int], Rotations]) -> None:
        """Take in the trajectories of a batch that are among the best; errors must be finite."""
        for b in np.argsort(errors, kind="stable")[: self.count].tolist():
            if len(self.kept) == self.count and errors[b] >= self.kept[-1].error:
                return
            self._offer(Candidate(rotations(b), float(errors[b])))

    def _offer(self, new: Candidate) -> None:
        twins = [old for old in self.kept if old.indices == new.indices]
        if twins and twins[0].error <= new.error:
            return
        rest = [old for old in self.kept if old.indices != new.indices]
        self.kept = sorted([*rest, new], key=lambda candidate: candidate.error)[: self.count]

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Return the best."""
        return self.kept[0].rotations

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Return the best `count`."""
        return [candidate.rotations for candidate in self.kept[:count]]

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays, for a checkpoint."""
        if not self.kept:
            return {}
        arrays = {"best.errors": np.array([candidate.error for candidate in self.kept])}
        for index, candidate in enumerate(self.kept):
            for name in _FIELDS:
                arrays[f"best.{index}.{name}"] = getattr(candidate.rotations, name)
        return arrays

    def restore(self, arrays: dict[str, Any], matrix: Any) -> None:
        """Take in what `arrays` gave, if it fits the matrix."""
        errors = arrays.get("best.errors", np.zeros(0))
        if len(arrays) != (errors.size > 0) + errors.size * len(_FIELDS):
            raise ValueError("the best trajectories are not complete")
        for index, error in enumerate(errors.tolist()):
            parts = {name: arrays[f"best.{index}.{name}"] for name in _FIELDS}
            rotations = Rotations(n=len(matrix), **parts)
            if not Factorization.from_rotations(matrix, rotations).error() < np.inf:
                raise ValueError("the best trajectories hold numbers that are not finite")
            self.kept.append(Candidate(rotations, error))
