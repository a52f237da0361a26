"""Smooth signals by the Laplacian of their graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..errors import InvalidInputError
from ..graphs import as_matrix

__all__ = ["STRENGTHS", "Tikhonov"]

Floats = npt.NDArray[np.float64]

#: Strengths that are tried, beside the mean of the diagonal.
STRENGTHS = tuple(float(a) for a in 10.0 ** np.arange(-2.0, 2.5, 0.5))


class Tikhonov:
    """Smoothing by ``(I + a L)^-1``, L being scaled to a diagonal of mean 1.

    Parameters
    ----------
    graph : graph or matrix
        The normalized Laplacian of a graph, or the matrix itself; positive semidefinite.
    n : int
        Rows that it must have.

    Examples
    --------
    >>> import wavemmf as wm
    >>> smooth = Tikhonov(wm.graphs.path(3), 3).smoother(100.0)
    >>> bool(np.ptp(smooth(np.array([[0.0], [1.0], [0.0]]))) < 0.2)
    True
    """

    def __init__(self, graph: Any, n: int) -> None:
        matrix = sp.csc_array(as_matrix(graph))
        if matrix.shape[0] != n:
            raise InvalidInputError(f"smooth has {matrix.shape[0]} vertices, and the signals {n}")
        scale = float(matrix.diagonal().mean()) if n else 1.0
        if scale < 0.0:
            raise InvalidInputError(
                f"smooth must be positive semidefinite, but its diagonal has mean {scale:.3g}"
            )
        self._matrix = matrix / (scale or 1.0)

    def smoother(self, strength: float) -> Callable[[Floats], Floats]:
        """Return the smoothing of columns with the given strength."""
        from scipy.sparse.linalg import splu

        n = self._matrix.shape[0]
        factors = splu(sp.csc_array(sp.eye_array(n) + strength * self._matrix))
        return lambda x: np.asarray(factors.solve(np.ascontiguousarray(x)))
