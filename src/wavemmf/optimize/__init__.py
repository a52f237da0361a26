"""Optimising all rotations together on the manifold of orthogonal matrices.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=8, optimize=wm.optimize.LBFGS(steps=20))
>>> f.history.method
'lbfgs'
"""

from ._first_order import SGD, Adam
from ._lbfgs import LBFGS
from ._many import Optimised, halvings, optimize_many
from ._objective import Objective
from ._resolve import OPTIMIZERS, as_optimizer
from ._run import optimize_rotations
from ._settings import Optimizer
from ._stiefel import Stiefel

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "SGD",
    "Adam",
    "Objective",
    "Optimised",
    "Optimizer",
    "Stiefel",
    "as_optimizer",
    "halvings",
    "optimize_many",
    "optimize_rotations",
]
