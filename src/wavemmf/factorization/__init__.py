"""The immutable result: invariants, transforms, operator, save and load."""

from .core_diagonal import CoreDiagonal
from .factorization import Factorization
from .history import History
from .rotations import ORTHOGONALITY_TOLERANCE, Rotations
from .storage import load

__all__ = [
    "ORTHOGONALITY_TOLERANCE",
    "CoreDiagonal",
    "Factorization",
    "History",
    "Rotations",
    "load",
]
