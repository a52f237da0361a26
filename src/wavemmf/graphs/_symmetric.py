"""What to factorize in place of an asymmetric matrix or a directed graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._graph import Graph
from .._validation import check_matrix
from ..io import load_if_path
from ..io._foreign import is_pandas
from ._convert import is_graph, plain_matrix
from ._laplacian import raw_adjacency
from ._names import names_of

__all__ = ["symmetric_part"]


def symmetric_part(obj: Any, as_graph: bool = False) -> Any:
    """Return ``(A + A.T) / 2`` of a matrix, or a directed graph as an undirected one.

    Parameters
    ----------
    obj : matrix, graph or path
        Anything that `wavemmf.factorize` takes, but for being symmetric.
    as_graph : bool
        Take a matrix as the adjacency matrix of a directed graph.

    Returns
    -------
    ndarray, csr_array, DataFrame or Graph
        The symmetric part of a matrix; a data frame stays one. Of a graph, a `Graph`: an edge
        that is present in one direction is mirrored, one that is present in both gets the mean
        of its two weights.

    Examples
    --------
    >>> symmetric_part([[1, 4], [0, 1]])
    array([[1., 2.],
           [2., 1.]])
    >>> symmetric_part([[0, 4], [0, 0]], as_graph=True).adjacency.toarray()
    array([[0., 4.],
           [4., 0.]])
    """
    obj = load_if_path(obj)
    if isinstance(obj, Graph):
        return obj
    if as_graph or is_graph(obj):
        directed = raw_adjacency(obj, weighted=True)
        check_matrix(directed, symmetrize=True)  # for its complaints only
        return Graph(_undirected(directed), node_names=names_of(obj))
    matrix = check_matrix(plain_matrix(obj), symmetrize=True)
    return type(obj)(matrix, obj.index, obj.columns) if is_pandas(obj) else matrix


def _undirected(directed: Any) -> sp.csr_array:
    matrix = sp.csr_array(directed, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    present = sp.csr_array(
        (np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    share = present + present.T
    share.data = 2.0 / share.data
    return sp.csr_array((0.5 * matrix + 0.5 * matrix.T).multiply(share))
