"""Optimising all rotations together on the manifold of orthogonal matrices.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=8, optimize=wm.optimize.LBFGS(steps=20))
>>> f.history.method
'lbfgs'
"""

from .first_order import SGD, Adam
from .lbfgs import LBFGS
from .objective import Objective
from .resolve import OPTIMIZERS, as_optimizer
from .run import optimize_rotations
from .settings import Optimizer
from .stiefel import Stiefel

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "SGD",
    "Adam",
    "Objective",
    "Optimizer",
    "Stiefel",
    "as_optimizer",
    "optimize_rotations",
]
