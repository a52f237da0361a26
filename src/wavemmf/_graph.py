"""The Graph that loaders and generators return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._validation import check_matrix
from .errors import InvalidInputError

__all__ = ["Graph", "graph_from_edges"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected, possibly weighted graph, with what is known about its vertices.

    Everything is checked and converted once, at construction.

    Parameters
    ----------
    adjacency : csr_array, shape (n, n)
        Symmetric and finite; any matrix that `check_matrix` takes. A self-loop is one
        diagonal entry.
    coordinates : ndarray, shape (n, d), optional
        Where to draw the vertices.
    name : str
        What to call the graph in reports.
    features : csr_array, shape (n, number of features), optional
        One row per vertex, finite.
    labels : ndarray of int, shape (n,), optional
        The class of each vertex.
    node_names, class_names : tuple of str, optional
        The original identifier of each vertex; the meaning of each label.
    metadata : mapping
        Facts about the source, such as how many malformed records were skipped.

    Examples
    --------
    >>> import numpy as np
    >>> Graph(np.array([[0, 1], [1, 0]]), name="edge")
    Graph('edge', n=2, num_edges=1)
    """

    adjacency: sp.csr_array
    coordinates: NDArray[np.float64] | None = None
    name: str = ""
    features: sp.csr_array | None = None
    labels: NDArray[np.int64] | None = None
    node_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        adjacency = sp.csr_array(check_matrix(self.adjacency))
        n = adjacency.shape[0]
        self._set("adjacency", adjacency)
        if self.coordinates is not None:
            self._set("coordinates", _check_coordinates(self.coordinates, n))
        if self.features is not None:
            features = sp.csr_array(self.features, dtype=np.float64)
            self._set("features", features)
            _check_length("features", features.shape[0], n)
            _check_features(features)
        if self.labels is not None:
            self._set("labels", _check_labels(self.labels, n))
        if self.node_names is not None:
            self._set("node_names", tuple(self.node_names))
            _check_length("node_names", len(self.node_names), n)
        if self.class_names is not None:
            self._set("class_names", tuple(self.class_names))

    def _set(self, name: str, value: object) -> None:
        # The instance is frozen for its users; construction is the one place that may write.
        object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Number of undirected edges; a self-loop counts as one."""
        loops = np.count_nonzero(self.adjacency.diagonal())
        return int(self.adjacency.nnz + loops) // 2

    def __repr__(self) -> str:
        title = f"{self.name!r}, " if self.name else ""
        return f"Graph({title}n={self.n}, num_edges={self.num_edges})"


def graph_from_edges(
    n: int, tails: ArrayLike, heads: ArrayLike, weights: ArrayLike | None = None, **extra: Any
) -> Graph:
    """Build a Graph from edges that name each unordered pair once; `extra` goes to Graph.

    Examples
    --------
    >>> graph_from_edges(3, [0, 1], [1, 2], name="path")
    Graph('path', n=3, num_edges=2)
    """
    tails, heads = np.asarray(tails), np.asarray(heads)
    values = np.ones(len(tails)) if weights is None else np.asarray(weights, dtype=np.float64)
    one_way = sp.csr_array(sp.coo_array((values, (tails, heads)), shape=(n, n)))
    loops = sp.diags_array(one_way.diagonal()).tocsr()
    adjacency = one_way + one_way.T
    return Graph(adjacency - loops if loops.count_nonzero() else adjacency, **extra)


def _check_coordinates(coordinates: ArrayLike, n: int) -> NDArray[np.float64]:
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim != 2:
        raise InvalidInputError(f"coordinates must have shape (n, d), got {points.shape}")
    _check_length("coordinates", len(points), n)
    if not np.isfinite(points).all():
        raise InvalidInputError("coordinates must be finite")
    return points


def _check_features(features: sp.csr_array) -> None:
    wrong = np.flatnonzero(~np.isfinite(features.data))
    if wrong.size:
        vertex = int(np.searchsorted(features.indptr, wrong[0], side="right")) - 1
        raise InvalidInputError(
            f"features must be finite, but feature {features.indices[wrong[0]]} of vertex "
            f"{vertex} is {features.data[wrong[0]]}"
        )


def _check_labels(labels: ArrayLike, n: int) -> NDArray[np.int64]:
    classes = np.asarray(labels)
    if classes.ndim != 1 or classes.dtype.kind not in "iu":
        raise InvalidInputError(
            f"labels must be a vector of integers, got shape {classes.shape}, {classes.dtype}"
        )
    _check_length("labels", len(classes), n)
    return classes.astype(np.int64)


def _check_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise InvalidInputError(f"{name} must have one row for each of {n} vertices, got {length}")
