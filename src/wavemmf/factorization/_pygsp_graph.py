"""A graph of PyGSP whose Fourier basis is the basis of a factorization."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import require
from .._validation import check_memory
from ..errors import InvalidInputError
from ..graphs import Graph, as_matrix
from ._core_diagonal import CoreDiagonal
from ._norms import frobenius_norm
from ._wavelet_matrix import WaveletMatrix

__all__ = ["to_pygsp"]

# PyGSP's names of the matrices that its filters are functions of.
_LAPLACIANS = ("normalized", "combinatorial")
_SAME = 1e-9


def to_pygsp(matrix: WaveletMatrix, graph: Any, norm: float) -> Any:
    """Return the graph for PyGSP, with eigenvalues and eigenvectors of a matrix of it.

    PyGSP's filters are functions of a Laplacian, applied through the eigenvectors of the graph
    (``method="exact"``); so they become functions of the factorization. `norm` is that of the
    Laplacian that was factorized, and tells which it was.
    """
    n = matrix.n
    check_memory(3 * 8 * n * n, f"a dense basis of {n} vectors")
    found = _with_laplacian(n, norm, graph, require("pygsp.graphs", extra="pygsp"))
    spectrum = matrix.h.spectrum
    order = np.argsort(spectrum.values, kind="stable")
    # The approximation of a Laplacian is not negative; rounding may be.
    found._e = np.maximum(spectrum.values[order], 0.0)
    found._U = np.ascontiguousarray(matrix.synthesize(_eigenvectors(matrix.h))[:, order])
    found._lmax, found._lmax_method = float(found._e[-1]), "fourier"
    found._coherence = float(np.abs(found._U).max())
    return found


def _eigenvectors(h: CoreDiagonal) -> Any:
    """Return the eigenvectors of H: unit vectors, but in the core."""
    vectors = np.eye(h.n)
    vectors[np.ix_(h.core_indices, h.core_indices)] = h.spectrum.core_vectors
    return vectors


def _with_laplacian(n: int, norm: float, graph: Any, pygsp: Any) -> Any:
    """Return PyGSP's graph of n vertices with the Laplacian that has this norm."""
    adjacency = as_matrix(graph, matrix="adjacency")
    coordinates = graph.coordinates if isinstance(graph, Graph) else None
    if adjacency.shape[0] != n:
        raise InvalidInputError(f"the graph has {adjacency.shape[0]} vertices, not {n}")
    for kind in _LAPLACIANS:
        made = pygsp.Graph(adjacency, lap_type=kind, coords=coordinates)
        if abs(frobenius_norm(made.L) - norm) <= _SAME * norm:
            return made
    raise InvalidInputError(
        "PyGSP filters by the normalized or the combinatorial Laplacian of a graph; this is a "
        "factorization of another matrix"
    )
