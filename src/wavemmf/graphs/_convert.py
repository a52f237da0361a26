"""The front door: turn whatever the user has into the symmetric matrix to factorize."""

from __future__ import annotations

from typing import Any

from .._graph import Graph
from .._validation import Matrix, check_choice, check_matrix
from ..errors import InputTypeError
from ..io import load_if_path
from ..io._foreign import from_torch, is_igraph, is_networkx, is_pyg, is_torch
from ._laplacian import adjacency, laplacian, normalized_laplacian

__all__ = ["as_matrix", "is_graph"]

MATRICES = {
    "normalized_laplacian": normalized_laplacian,
    "laplacian": laplacian,
    "adjacency": adjacency,
}


def as_matrix(obj: Any, matrix: str | None = None) -> Matrix:
    """Return the symmetric float64 matrix that `obj` stands for.

    Parameters
    ----------
    obj : object
        A matrix (ndarray, scipy sparse of any format, dense or sparse torch tensor, pandas
        DataFrame, anything with ``__array__`` or ``__dlpack__``, nested lists), a graph (Graph,
        networkx or igraph graph, PyG Data), or the path of a file that `read` understands: .mtx,
        .npz and .npy hold matrices, edge lists graphs.
    matrix : {"normalized_laplacian", "laplacian", "adjacency"}, optional
        Which matrix of the graph to take. By default graphs give their normalized Laplacian
        and matrices are taken as they are; if given, a matrix is taken as an adjacency matrix.

    Returns
    -------
    ndarray or csr_array of float64, shape (n, n)
        See `check_matrix`; it may share memory with `obj`.

    Examples
    --------
    >>> as_matrix([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    >>> as_matrix([[0, 5], [5, 0]], matrix="normalized_laplacian").toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if matrix is not None:
        check_choice("matrix", matrix, MATRICES)
    obj = load_if_path(obj)
    if matrix is None and not is_graph(obj):
        return check_matrix(plain_matrix(obj))
    return MATRICES[matrix or "normalized_laplacian"](obj)


def is_graph(obj: Any) -> bool:
    """Whether `obj` is a graph object (Graph, networkx, igraph, PyG) rather than a plain matrix.

    Examples
    --------
    >>> is_graph([[0, 1], [1, 0]])
    False
    """
    return isinstance(obj, Graph) or is_networkx(obj) or is_igraph(obj) or is_pyg(obj)


def plain_matrix(obj: Any) -> Any:
    if obj is None or callable(obj):
        raise InputTypeError(
            f"cannot read {type(obj).__name__} as a matrix: give a NumPy, SciPy sparse or torch "
            "matrix, a networkx graph, a PyG Data, a wavemmf Graph, or the path of a file"
        )
    return from_torch(obj) if is_torch(obj) else obj
