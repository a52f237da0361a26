"""The wavelet basis of a graph in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._factorize import factorize
from .._progress import Progress
from ..factorization import Factorization
from ..graphs import as_matrix
from ..graphs._names import names_of
from ..io import load_if_path
from ..select import Diffusion

__all__ = ["wavelets"]

# Scaling functions that are left by default, or a tenth of the rows if that is less.
_CORE = 8


def wavelets(
    graph: Any,
    core: int | float | None = None,
    k: int = 2,
    *,
    select: Any = None,
    matrix: str | None = None,
    executor: Any = None,
    progress: Progress | bool | None = None,
) -> Factorization:
    """Return an orthonormal wavelet basis for signals on a graph, as a factorization.

    The rotations are those of `wavemmf.select.Diffusion`: smooth signals have few large
    coefficients, and wavelets live on few vertices.

    Parameters
    ----------
    graph : graph, matrix or path
        As for `wavemmf.factorize`. Weights say how alike neighbours are; if they are lengths, see
        `wavemmf.graphs.weights_from_lengths`.
    core : int or float, optional
        Scaling functions that are left, or their share of the rows: 8 by default, or a tenth of
        the rows if that is less.
    k : int
        Coordinates per rotation; 2 gives the sparsest wavelets.
    select : selector, optional
        Another selector, or ``wm.select.Diffusion(time=...)``.
    matrix, executor, progress
        As for `wavemmf.factorize`.

    Returns
    -------
    Factorization
        ``f.analyze(x)`` and ``f.synthesize(c)`` are the transform, ``f.basis()`` the wavelets.

    Examples
    --------
    >>> import numpy as np
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.karate())
    >>> x = np.arange(34.0)
    >>> bool(np.allclose(f.synthesize(f.analyze(x)), x))
    True
    """
    graph = load_if_path(graph)
    symmetric = as_matrix(graph, matrix=matrix)
    if core is None:
        core = min(_CORE, -(-symmetric.shape[0] // 10))
    chosen = Diffusion() if select is None else select
    found = factorize(symmetric, core, k, select=chosen, executor=executor, progress=progress)
    return replace(found, node_names=names_of(graph))
