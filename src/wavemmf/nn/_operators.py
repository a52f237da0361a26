"""From a graph to the operators a network uses: its wavelet basis and its exact hops."""

from __future__ import annotations

import os
from typing import Any

import scipy.sparse as sp
import torch

from .._cache import open_cache
from .._factorize import factorize
from .._validation import check_choice
from ..factorization import Factorization
from ..graphs import adjacency, as_matrix
from ..graphs import normalized_laplacian as laplacian_of
from ._basis import WaveletBasis
from ._sparse import SparseOperator

__all__ = ["NETWORK_MATRICES", "hop_operator", "network_matrix", "wavelet_basis"]

#: Matrices of a graph whose basis a network may use.
NETWORK_MATRICES = ("augmented_laplacian", "normalized_laplacian", "laplacian", "adjacency")


def network_matrix(graph: Any, matrix: str = "augmented_laplacian") -> Any:
    r"""Return a matrix of a graph.

    Parameters
    ----------
    graph : Graph, PyG Data, networkx graph or adjacency matrix
        The graph.
    matrix : {"augmented_laplacian", "normalized_laplacian", "laplacian", "adjacency"}
        The first is :math:`I - \hat A` with :math:`\hat A = \tilde D^{-1/2} (A + I) \tilde
        D^{-1/2}`, the propagation of graph convolutional networks; its frequencies lie in [0, 2).

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    >>> network_matrix([[0, 1], [1, 0]]).toarray()
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    if check_choice("matrix", matrix, NETWORK_MATRICES) != "augmented_laplacian":
        return as_matrix(graph, matrix=matrix)
    looped = adjacency(graph)
    # One self-loop per node, whatever it had: with another weight it would count twice.
    looped = sp.csr_array(
        looped - sp.diags_array(looped.diagonal()) + sp.eye_array(looped.shape[0])
    )
    return laplacian_of(looped)


def hop_operator(graph: Any, dtype: torch.dtype = torch.float32) -> SparseOperator:
    r"""Return :math:`\hat A`, one exact hop with self-loops and symmetric normalisation.

    Examples
    --------
    >>> hop_operator([[0, 1], [1, 0]])(torch.tensor([[1.0], [0.0]])).T
    tensor([[0.5000, 0.5000]])
    """
    laplacian = network_matrix(graph)
    hop = sp.csr_array(sp.eye_array(laplacian.shape[0]) - laplacian)
    hop.eliminate_zeros()
    return SparseOperator(hop, dtype)


def wavelet_basis(
    graph: Any,
    core: int | None = None,
    k: int = 8,
    matrix: str = "augmented_laplacian",
    cache: bool | str | os.PathLike[str] | None = None,
    method: str = "auto",
    threshold: float = 1e-3,
    learn: bool = False,
    **settings: Any,
) -> WaveletBasis:
    """Factorize a matrix of a graph and return its basis.

    Parameters
    ----------
    graph : Graph, PyG Data, networkx graph or adjacency matrix
        The graph.
    core, k : int
        Sizes of the core (a tenth of the nodes by default) and of the rotations.
    matrix : str
        One of `NETWORK_MATRICES`.
    cache : bool or folder, optional
        Keep the factorization on disk, True for the user's cache folder, and find it again by the
        content of the matrix and the settings. A selector of your own needs a method
        ``fingerprint_parts()`` that returns all its choices depend on.
    method, threshold, learn
        As for `WaveletBasis`.
    **settings
        Further settings of `wavemmf.factorize`.

    Returns
    -------
    WaveletBasis

    Examples
    --------
    >>> import wavemmf as wm
    >>> wavelet_basis(wm.graphs.karate(), core=8, k=4).n
    34
    """
    symmetric = network_matrix(graph, matrix)
    f = _factorized(symmetric, {"core": core, "k": k, **settings}, cache)
    return WaveletBasis(f, method, threshold, learn)


def _factorized(symmetric: Any, settings: dict[str, Any], cache: Any) -> Factorization:
    store = open_cache(cache)
    if store is None:
        return factorize(symmetric, **settings)
    key = store.key([symmetric], settings)
    found = store.load(key, 1)
    if found is None:
        found = [factorize(symmetric, **settings)]
        if found[0].history.stopped != "interrupted":
            store.save(key, found)
    return found[0]
