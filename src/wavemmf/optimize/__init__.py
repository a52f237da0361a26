"""Optimising all rotations together on the manifold of orthogonal matrices."""

from .objective import Objective
from .run import METHODS, Settings, optimize

__all__ = ["METHODS", "Objective", "Settings", "optimize"]
