"""Multiresolution matrix factorization: learn hierarchical structure in matrices and graphs.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=8)
>>> f.core_size
8
"""

from . import baselines, graphs, refine  # noqa: F401  (refine gives Factorization.refine its work)
from ._version import __version__
from .errors import WavemmfError
from .factorization import Factorization, History, Rotations, load
from .factorize import factorize

__all__ = [
    "Factorization",
    "History",
    "Rotations",
    "WavemmfError",
    "__version__",
    "baselines",
    "factorize",
    "graphs",
    "load",
]
