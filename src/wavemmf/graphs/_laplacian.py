"""Adjacency and Laplacian matrices of whatever counts as a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from .._validation import check_matrix
from ..errors import InvalidInputError
from ..io import load_if_path
from ..io._foreign import (
    from_igraph,
    from_pyg,
    from_torch,
    graph_of_networkx,
    is_igraph,
    is_networkx,
    is_pyg,
    is_torch,
)

__all__ = ["adjacency", "laplacian", "normalized_laplacian"]

# The largest weight for which n of them can be added without overflow, for any n < 2**64.
_SAFE_WEIGHT = 1e288


def adjacency(graph: Any, *, weighted: bool = True) -> sp.csr_array:
    """Return the adjacency matrix of a graph.

    Parameters
    ----------
    graph : Graph, networkx or igraph graph, PyG Data, torch, SciPy or NumPy matrix, str or Path
        Undirected, see `symmetric_part`. Plain matrices are taken as adjacency matrices; a path is
        read with `read`.
    weighted : bool
        Keep the edge weights (networkx, igraph: the attribute ``'weight'``; PyG: ``edge_weight``,
        or an ``edge_attr`` of one column), or set them all to 1.

    Returns
    -------
    csr_array of float64, shape (n, n)
        Self-loops stay, as one diagonal entry each.

    Examples
    --------
    >>> adjacency([[0, 3], [3, 0]], weighted=False).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    matrix = sp.csr_array(check_matrix(raw_adjacency(load_if_path(graph), weighted)))
    if not weighted:
        ones = np.ones_like(matrix.data)
        matrix = sp.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
    return matrix


def laplacian(graph: Any, *, weighted: bool = True) -> sp.csr_array:
    r"""Return the Laplacian :math:`D - A` of a graph.

    The degree of a vertex is :math:`D_{ii} = \sum_j |A_{ij}|`, a self-loop counted once. The
    absolute value matters only if there are negative weights: the result is then the signed
    Laplacian, which is positive semidefinite as well.

    Parameters
    ----------
    graph, weighted
        As in `adjacency`.

    Returns
    -------
    csr_array of float64, shape (n, n)

    Examples
    --------
    >>> laplacian([[0, 1], [1, 0]]).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    matrix = adjacency(graph, weighted=weighted)
    degrees = _degrees(matrix)
    if not np.isfinite(degrees).all():
        raise InvalidInputError("the edge weights are so large that the degrees overflow")
    return sp.csr_array(check_matrix(sp.diags_array(degrees).tocsr() - matrix))


def normalized_laplacian(graph: Any, *, weighted: bool = True) -> sp.csr_array:
    r"""Return the normalized Laplacian :math:`I - D^{-1/2} A D^{-1/2}` of a graph.

    Degrees are as in `laplacian`, so the eigenvalues lie in [0, 2] for any weights, negative
    ones included. The row of an isolated vertex is zero, its diagonal entry too (the convention
    of networkx and SciPy): every connected component then contributes one eigenvalue 0.

    Parameters
    ----------
    graph, weighted
        As in `adjacency`.

    Returns
    -------
    csr_array of float64, shape (n, n)
        Exactly symmetric, never NaN.

    Examples
    --------
    >>> normalized_laplacian([[0, 1, 0], [1, 0, 0], [0, 0, 0]]).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    matrix = adjacency(graph, weighted=weighted)
    if matrix.nnz and np.abs(matrix.data).max() > _SAFE_WEIGHT:
        matrix = matrix * 2.0**-64  # Exact, and a common factor cancels in the definition.
    degrees = _degrees(matrix)
    rows = np.repeat(np.arange(len(degrees)), np.diff(matrix.indptr))
    values = matrix.data / _geometric_mean(degrees[rows], degrees[matrix.indices])
    scaled = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    return sp.csr_array(check_matrix(sp.diags_array(np.sign(degrees)).tocsr() - scaled))


def raw_adjacency(graph: Any, weighted: bool) -> Any:
    if isinstance(graph, Graph):
        return graph.adjacency
    if is_networkx(graph):
        return graph_of_networkx(graph, weighted)
    if is_igraph(graph):
        return from_igraph(graph, weighted)
    if is_pyg(graph):
        return from_pyg(graph, weighted)
    if is_torch(graph):
        return from_torch(graph)
    return graph


def _degrees(matrix: sp.csr_array) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel()


def _geometric_mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    # sqrt(a * b) is exact for equal integers, so a cycle gets entries of exactly -1/2; the
    # product of two roots is the fallback that neither overflows nor underflows. Both are
    # symmetric in a and b to the last bit.
    if a.size and a.min() > 1e-150 and a.max() < 1e150:
        return np.asarray(np.sqrt(a * b))
    return np.asarray(np.sqrt(a) * np.sqrt(b))
