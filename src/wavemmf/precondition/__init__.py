"""Preconditioners for conjugate gradients: fewer iterations than Jacobi's, not less time.

>>> import wavemmf as wm
>>> wm.precondition.preconditioner(wm.graphs.cycle(12), shift=0.1).shape
(12, 12)
"""

from ._chosen import preconditioner
from ._given import from_factorization

__all__ = ["from_factorization", "preconditioner"]
