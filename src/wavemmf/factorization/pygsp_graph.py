"""A graph of PyGSP whose Fourier basis is the basis of a factorization."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._optional import require
from ..errors import InvalidInputError
from ..graphs import Graph, as_matrix
from ..validation import check_memory
from .functions import Spectrum
from .norms import frobenius_norm

__all__ = ["to_pygsp"]

# PyGSP's names of the matrices that its filters are functions of.
_LAPLACIANS = ("normalized", "combinatorial")
_SAME = 1e-9


class _Factorized(Protocol):
    @property
    def n(self) -> int: ...
    @property
    def matrix_norm(self) -> float: ...
    @property
    def _spectrum(self) -> Spectrum: ...
    def synthesize(self, coefficients: Any) -> Any: ...


def to_pygsp(f: _Factorized, graph: Any) -> Any:
    """Return the graph for PyGSP, with eigenvalues and eigenvectors of the approximation.

    PyGSP's filters are functions of a Laplacian, applied through the eigenvectors of the graph
    (``method="exact"``); so they become functions of the factorization.
    """
    n = f.n
    check_memory(3 * 8 * n * n, f"a dense basis of {n} vectors")
    found = _with_laplacian(f, graph, require("pygsp.graphs", extra="pygsp"))
    spectrum = f._spectrum
    order = np.argsort(spectrum.values, kind="stable")
    # The approximation of a Laplacian is not negative; rounding may be.
    found._e = np.maximum(spectrum.values[order], 0.0)
    found._U = np.ascontiguousarray(f.synthesize(_eigenvectors(n, spectrum))[:, order])
    found._lmax, found._lmax_method = float(found._e[-1]), "fourier"
    found._coherence = float(np.abs(found._U).max())
    return found


def _eigenvectors(n: int, spectrum: Spectrum) -> Any:
    """Return the eigenvectors of H: unit vectors, but in the core."""
    vectors = np.eye(n)
    core = spectrum.core_indices
    vectors[np.ix_(core, core)] = spectrum.core_vectors
    return vectors


def _with_laplacian(f: _Factorized, graph: Any, pygsp: Any) -> Any:
    """Return PyGSP's graph with the Laplacian that was factorized."""
    adjacency = as_matrix(graph, matrix="adjacency")
    coordinates = graph.coordinates if isinstance(graph, Graph) else None
    if adjacency.shape[0] != f.n:
        raise InvalidInputError(f"the graph has {adjacency.shape[0]} vertices, not {f.n}")
    for kind in _LAPLACIANS:
        made = pygsp.Graph(adjacency, lap_type=kind, coords=coordinates)
        if abs(frobenius_norm(made.L) - f.matrix_norm) <= _SAME * f.matrix_norm:
            return made
    raise InvalidInputError(
        "PyGSP filters by the normalized or the combinatorial Laplacian of a graph; this is a "
        "factorization of another matrix"
    )
