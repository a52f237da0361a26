"""The immutable result: invariants, transforms, operator, save and load."""

from ._core_diagonal import CoreDiagonal
from ._factorization import Factorization
from ._history import History
from ._rotations import KINDS, ORTHOGONALITY_TOLERANCE, Rotations
from ._storage import load

__all__ = [
    "KINDS",
    "ORTHOGONALITY_TOLERANCE",
    "CoreDiagonal",
    "Factorization",
    "History",
    "Rotations",
    "load",
]
