"""Multiresolution matrix factorization: learn hierarchical structure in matrices and graphs.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=8)
>>> f.core_size
8
"""

import importlib
import importlib.util
from typing import Any

from ._startup import ended_by_interrupts

with ended_by_interrupts():
    from . import (
        baselines,
        datasets,
        graphs,
        io,
        optimize,
        plot,
        precondition,
        report,
        select,
        signals,
    )
    from ._factorize import factorize
    from ._many import factorize_many
    from ._refine import refine
    from ._restarts import Search
    from ._version import __version__
    from .errors import WavemmfError
    from .factorization import CoreDiagonal, Factorization, History, Rotations, load
    from .signals import wavelets

__all__ = [
    "CoreDiagonal",
    "Factorization",
    "History",
    "Rotations",
    "Search",
    "WavemmfError",
    "__version__",
    "baselines",
    "datasets",
    "factorize",
    "factorize_many",
    "graphs",
    "io",
    "load",
    "optimize",
    "plot",
    "precondition",
    "refine",
    "report",
    "select",
    "signals",
    "wavelets",
]

#: Parts that need optional packages, and which: imported when they are first asked for.
_OPTIONAL = {
    "MMF": "sklearn",
    "estimator": "sklearn",
    "nn": "torch",
    "rl": "torch",
    "torch": "torch",
}
__all__ += [name for name, package in _OPTIONAL.items() if importlib.util.find_spec(package)]


def __getattr__(name: str) -> Any:
    if name == "MMF":
        return importlib.import_module(f"{__name__}.estimator").MMF
    if name in _OPTIONAL:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_OPTIONAL})
