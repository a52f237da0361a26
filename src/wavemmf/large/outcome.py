"""Collect the levels of all parts and stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import CoreDiagonal, Rotations
from ..select._part import Reduced
from .cut import Cut

__all__ = ["Collected", "Outcome"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """Rotations of all stages with H and the error.

    Attributes
    ----------
    rotations : Rotations
        All levels.
    h : CoreDiagonal
        H, its core sparse.
    residual : float
        Frobenius norm of what the dropped rows lose.
    discarded : float
        Bound on the norm of all entries discarded as negligible: the true error is within
        this of `residual`.
    stages : list of dict
        What each stage did.
    """

    rotations: Rotations
    h: CoreDiagonal
    residual: float
    discarded: float
    stages: list[dict[str, Any]]


class Collected:
    """The levels of all parts and stages, in the numbering of the whole matrix."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.diagonal = np.zeros(n)
        self.squared_error = 0.0
        self.discarded = 0.0
        self.stages: list[dict[str, Any]] = []
        self._rotations: list[tuple[Rotations, Integers]] = []

    def add(self, pieces: Cut, reduced: list[Reduced], labels: Integers, learned: bool) -> None:
        """Add a stage; `labels` are the numbers that its rows have in the whole matrix."""
        for result, members in zip(reduced, pieces.members, strict=True):
            own = labels[members]
            self._rotations.append((result.rotations, own))
            dropped = result.rotations.wavelets
            self.diagonal[own[dropped]] = result.diagonal[dropped]
            self.squared_error += result.squared_error
        # Different parts touch different entries, so their squares add up; stages do not.
        self.discarded += float(np.sqrt(sum(result.discarded**2 for result in reduced)))
        self.stages.append(
            {
                "rows": pieces.rows,
                "parts": len(reduced),
                "borders": pieces.borders,
                "left": sum(result.matrix.shape[0] for result in reduced),
                "learned": learned,
                "residual": float(np.sqrt(self.squared_error)),
                "discarded": self.discarded,
            }
        )

    def outcome(self, core: Any, labels: Integers) -> Outcome:
        """Return everything, given what is left and the numbers of its rows."""
        self.diagonal[labels] = core.diagonal()
        rotations = Rotations.one_after_another(self.n, self._rotations)
        h = CoreDiagonal(self.diagonal, core, rotations.core)
        residual = float(np.sqrt(self.squared_error))
        return Outcome(rotations, h, residual, self.discarded, self.stages)
