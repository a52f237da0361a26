"""Pictures of factorizations (extra ``plot``).

Every function draws on the axes it is given, or on new ones, and returns them.

>>> import wavemmf as wm
>>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
>>> wm.plot.spectrum(f).get_xlabel()
'level'
"""

from __future__ import annotations

from ._canvas import check_plot_path, save_figure
from ._comparison import comparison
from ._curves import convergence, sparse_approximation, spectrum, training
from ._layout import layout
from ._matrices import compression, h_matrix
from ._wavelets import scaling_function, signal, wavelet

__all__ = [
    "check_plot_path",
    "comparison",
    "compression",
    "convergence",
    "h_matrix",
    "layout",
    "save_figure",
    "scaling_function",
    "signal",
    "sparse_approximation",
    "spectrum",
    "training",
    "wavelet",
]
