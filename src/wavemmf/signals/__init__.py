"""What wavelets are for: say signals in few numbers, take noise out of them, and look at the basis.

>>> import numpy as np
>>> import wavemmf as wm
>>> f = wm.wavelets(wm.graphs.grid(10, 10))
>>> smooth = np.add.outer(np.arange(10.0), np.arange(10.0)).ravel()
>>> bool(wm.signals.best_terms(f, smooth, share=0.3).error < 0.1)
True
"""

from ._adapt import COSTS, Adapted, adapt
from ._bands import bands
from ._compress import Compressed, compress, decompress
from ._denoise import denoise
from ._describe import describe
from ._terms import BestTerms, best_terms
from ._threshold import RULES, SHRINKS, noise_level, threshold
from ._wavelets import wavelets

__all__ = [
    "COSTS",
    "RULES",
    "SHRINKS",
    "Adapted",
    "BestTerms",
    "Compressed",
    "adapt",
    "bands",
    "best_terms",
    "compress",
    "decompress",
    "denoise",
    "describe",
    "noise_level",
    "threshold",
    "wavelets",
]
