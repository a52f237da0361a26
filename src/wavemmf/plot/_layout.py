"""Where to draw the vertices of a graph."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInputError
from ..graphs import Graph, adjacency, normalized_laplacian

__all__ = ["as_points", "edges", "layout"]

# Forces between all pairs of vertices: above this many the eigenvectors have to do.
_FEW = 600
# More edges than this would be a grey blot, and slow.
_MOST_EDGES = 50_000


def layout(graph: Any) -> NDArray[np.float64]:
    """Return a point in the plane for every vertex; the same for the same graph.

    Coordinates that the graph has are taken. Otherwise vertices are placed by forces (networkx,
    if it is installed and the graph is small), or by two eigenvectors of the Laplacian.

    Parameters
    ----------
    graph : Graph, networkx graph, PyG Data or adjacency matrix
        The graph.

    Returns
    -------
    array of shape (n, 2)

    Examples
    --------
    >>> import wavemmf as wm
    >>> layout(wm.graphs.grid(4, 5)).shape
    (20, 2)
    """
    if isinstance(graph, Graph) and graph.coordinates is not None:
        return graph.coordinates[:, :2]
    n = adjacency(graph).shape[0]
    if n <= _FEW and importlib.util.find_spec("networkx") is not None:
        return _by_forces(graph)
    return _by_eigenvectors(graph)


def as_points(coordinates: Any, graph: Any) -> NDArray[np.float64]:
    """Return the coordinates that a user gave for the vertices of a graph, as points in the plane.

    Examples
    --------
    >>> as_points([[0, 0], [1, 2]], [[0, 1], [1, 0]]).shape
    (2, 2)
    """
    points = np.asarray(coordinates, dtype=np.float64)
    n = adjacency(graph).shape[0]
    if points.ndim != 2 or points.shape[0] != n or points.shape[1] < 2:
        raise InvalidInputError(
            f"coordinates must have shape ({n}, 2), a row for each vertex, got {points.shape}"
        )
    if not np.isfinite(points).all():
        raise InvalidInputError("coordinates must be finite")
    return points[:, :2]


def edges(graph: Any) -> NDArray[np.int64]:
    """Return the pairs of vertices to join by lines; none if they would be too many to see.

    Examples
    --------
    >>> import wavemmf as wm
    >>> edges(wm.graphs.path(3)).tolist()
    [[0, 1], [1, 2]]
    """
    rows, columns = adjacency(graph).tocoo().coords
    once = rows < columns
    pairs = np.stack([rows[once], columns[once]], axis=1).astype(np.int64)
    return pairs if len(pairs) <= _MOST_EDGES else pairs[:0]


def _by_forces(graph: Any) -> NDArray[np.float64]:
    import networkx as nx

    drawn = nx.from_scipy_sparse_array(adjacency(graph))
    points = _by_eigenvectors(graph)
    # Vertices with the same neighbours begin at the same place, and no force would part them.
    points = points + 0.02 * np.random.default_rng(0).standard_normal(points.shape)
    points = nx.spring_layout(drawn, pos=dict(enumerate(points)), seed=0, iterations=100)
    return np.array([points[i] for i in range(len(points))], dtype=np.float64)


def _by_eigenvectors(graph: Any) -> NDArray[np.float64]:
    laplacian = normalized_laplacian(graph)
    n = laplacian.shape[0]
    if n <= 3:
        return np.array([[i, 0.0] for i in range(n)], dtype=np.float64)
    if n <= _FEW:
        vectors = np.linalg.eigh(laplacian.toarray())[1]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        from scipy.sparse.linalg import eigsh

        vectors = eigsh(laplacian, k=3, sigma=-1e-3, v0=start)[1]
    points: NDArray[np.float64] = np.array(vectors[:, 1:3], dtype=np.float64)
    points /= np.maximum(np.abs(points).max(axis=0), 1e-12)
    return points
