"""Multiresolution matrix factorization: learn hierarchical structure in matrices and graphs.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=8)
>>> f.core_size
8
"""

import importlib
from typing import Any

from ._startup import ended_by_interrupts

with ended_by_interrupts():
    from . import baselines, datasets, graphs, io, plot, report, select
    from ._version import __version__
    from .errors import WavemmfError
    from .factorization import Factorization, History, Rotations, load
    from .factorize import factorize
    from .many import factorize_many
    from .precondition import preconditioner
    from .refine import refine

__all__ = [
    "Factorization",
    "History",
    "Rotations",
    "WavemmfError",
    "__version__",
    "baselines",
    "datasets",
    "factorize",
    "factorize_many",
    "graphs",
    "io",
    "load",
    "plot",
    "preconditioner",
    "refine",
    "report",
    "select",
]

#: Parts that need optional packages; imported when they are first asked for.
_OPTIONAL = ("estimator", "nn", "rl", "torch")
_ESTIMATORS = ("MMF", "MMFGaussianProcessRegressor", "MMFKernelRidge")


def __getattr__(name: str) -> Any:
    if name in _OPTIONAL:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _ESTIMATORS:
        return getattr(importlib.import_module(f"{__name__}.estimator"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
