"""Signals on graphs, and the bases that wavelets are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._graph import Graph
from ..datasets import data_file
from ..errors import FileFormatError, InvalidInputError
from ..graphs import adjacency, normalized_laplacian
from ..io._edgelist import read_edge_list
from ..io._text import read_text

__all__ = ["TORONTO_SIGNALS", "eigenvector_basis", "haar_basis", "toronto"]

Floats = npt.NDArray[np.float64]

TORONTO_SIGNALS = ("pedestrians", "vehicles")


def toronto() -> tuple[Graph, dict[str, Floats]]:
    """Return the street intersections of Toronto, and counts at each of them.

    Returns
    -------
    Graph
        2275 intersections at (longitude, latitude), 3381 streets of weight 1.
    dict
        The signals, by the names in `TORONTO_SIGNALS`.

    References
    ----------
    City of Toronto open data, as used by Saito, Irion and Shao for HGLET, GHWT and eGHWT.
    """
    coordinates = _numbers("signals/toronto.xy")
    edges = read_edge_list(data_file("signals/toronto.edges"), num_nodes=len(coordinates))
    graph = Graph(edges.adjacency, coordinates=coordinates, name="toronto")
    return graph, {name: _counts(f"signals/toronto.{name}", graph.n) for name in TORONTO_SIGNALS}


def _counts(name: str, n: int) -> Floats:
    found = _numbers(name)
    if found.shape != (n,):
        raise FileFormatError(
            f"{name} must hold {n} numbers, one a line; its shape is {found.shape}"
        )
    return found


def _numbers(name: str) -> Floats:
    path = data_file(name)
    text = read_text(path)
    if not text.strip():
        raise FileFormatError(f"{path} holds no numbers")
    try:
        found = np.loadtxt(text.splitlines(), comments=None)
    except ValueError as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from error
    if not np.isfinite(found).all():
        raise FileFormatError(f"{path} holds numbers that are not finite")
    return found


def eigenvector_basis(graph: Any) -> Floats:
    """Return the eigenvectors of the normalized Laplacian as rows.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> eigenvector_basis(path(4)).shape
    (4, 4)
    """
    vectors: Floats = np.linalg.eigh(normalized_laplacian(graph).toarray())[1]
    return np.ascontiguousarray(vectors.T)


def haar_basis(graph: Any) -> sp.csr_array:
    """Return Haar wavelets on the tree of a recursive spectral bisection, as rows.

    A set of vertices is cut by the sign of the second eigenvector of its random-walk Laplacian, or,
    if it is not connected, into its largest component and the rest. Each cut gives one wavelet,
    constant on both sides; the first row is constant.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> haar_basis(path(4)).toarray().round(3)[1]
    array([ 0.5,  0.5, -0.5, -0.5])
    """
    matrix = adjacency(graph)
    if (matrix.data < 0.0).any():
        raise InvalidInputError("a graph that is cut must have no negative weights")
    n = matrix.shape[0]
    rows = [(np.arange(n), np.full(n, n**-0.5))]
    waiting = [np.arange(n)]
    while waiting:
        members = waiting.pop()
        if members.size < 2:
            continue
        first = _one_side(sp.csr_array(matrix[members][:, members]))
        left, right = members[first], members[~first]
        values = np.where(first, 1.0 / left.size, -1.0 / right.size)
        rows.append((members, values / np.linalg.norm(values)))
        waiting += [right, left]
    indptr = np.concatenate([[0], np.cumsum([members.size for members, _ in rows])])
    columns = np.concatenate([members for members, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return sp.csr_array((values, columns, indptr), shape=(n, n))


def _one_side(matrix: sp.csr_array) -> npt.NDArray[np.bool_]:
    """Return which vertices are on the side of the first one."""
    count, component = connected_components(matrix, directed=False)
    if count > 1:
        side = component == np.argmax(np.bincount(component))
    else:
        degrees = np.asarray(matrix.sum(axis=1)).ravel()
        second = np.linalg.eigh(normalized_laplacian(matrix).toarray())[1][:, 1]
        side = second / np.sqrt(degrees) > 0.0
        if side.all() or not side.any():  # rounding: cut off one vertex
            side = np.arange(side.size) == 0
    return side if side[0] else ~side
