"""The immutable result: invariants, transforms, operator, save and load."""

from ._core_diagonal import CoreDiagonal
from ._factorization import Factorization
from ._history import History
from ._rotations import ORTHOGONALITY_TOLERANCE, Rotations
from ._storage import load

__all__ = [
    "ORTHOGONALITY_TOLERANCE",
    "CoreDiagonal",
    "Factorization",
    "History",
    "Rotations",
    "load",
]
