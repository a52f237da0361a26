"""Where a page draws the nodes, which of them it joins by lines, and why there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InvalidInputError
from ..factorization import Factorization
from ..graphs import Graph, adjacency, as_matrix, is_graph
from ..plot._layout import edges, layout
from ._hierarchy import heirs, tree_order

__all__ = ["Drawing", "hilbert_points", "make_drawing"]

# Lines per node, on average, that are drawn for a matrix that is not a graph.
_LINES = 4


@dataclass(frozen=True, eq=False)
class Drawing:
    """Points and lines of a picture.

    Attributes
    ----------
    points : array of shape (n, 2)
        In the unit square; the second coordinate points upwards.
    lines : array of shape (m, 2)
        Pairs of nodes.
    note : str
        Says to the reader what the places and the lines mean.
    names : tuple of str
        Of the nodes; empty if they have none but their numbers.
    """

    points: NDArray[np.float64]
    lines: NDArray[np.int64]
    note: str
    names: tuple[str, ...] = ()


def make_drawing(f: Factorization, A: Any = None) -> Drawing:
    """Return the drawing of a graph or matrix, or without one that of the hierarchy.

    Examples
    --------
    >>> import wavemmf as wm
    >>> karate = wm.graphs.karate()
    >>> f = wm.factorize(karate, core=8, k=4)
    >>> len(make_drawing(f, karate).lines), len(make_drawing(f).lines)
    (78, 26)
    """
    if A is None:
        return _hierarchy(f)
    size = (adjacency(A) if is_graph(A) else as_matrix(A)).shape[0]
    if size != f.n:
        raise InvalidInputError(
            f"the factorization has {f.n} rows, but the graph or matrix beside it has {size}"
        )
    return _graph(A) if is_graph(A) else _matrix(A)


def _graph(graph: Any) -> Drawing:
    lines = edges(graph)
    note = "Lines are the edges of the graph."
    if not len(lines):
        note = "The edges of the graph are too many to draw." if adjacency(graph).nnz else ""
    placed = isinstance(graph, Graph) and graph.coordinates is not None
    note += "" if placed else " Nodes that are joined were placed close to each other."
    names = tuple(graph.node_names or ()) if isinstance(graph, Graph) else ()
    return Drawing(_into_unit_square(layout(graph)), lines, note.strip(), names)


def _matrix(A: Any) -> Drawing:
    strong = _strongest_entries(as_matrix(A))
    note = (
        "Lines are the largest entries of the matrix beside its diagonal; nodes that they join "
        "were placed close to each other."
    )
    return Drawing(_into_unit_square(layout(strong)), edges(strong), note)


def _strongest_entries(matrix: Any) -> sp.csr_array:
    """Return the sizes of the largest entries off the diagonal, symmetric."""
    upper = sp.triu(sp.coo_array(matrix), k=1).tocoo()
    n = upper.shape[0]
    sizes = np.abs(upper.data)
    kept = np.argsort(-sizes, kind="stable")[: _LINES * n]
    kept = kept[sizes[kept] > 0]
    rows, columns = (index[kept] for index in upper.coords)
    half = sp.csr_array((sizes[kept], (rows, columns)), shape=(n, n))
    return sp.csr_array(half + half.T)


def _hierarchy(f: Factorization) -> Drawing:
    order = tree_order(f)
    points = np.empty((f.n, 2))
    points[order] = hilbert_points(f.n)
    parents = heirs(f)
    dropped = np.flatnonzero(parents != np.arange(f.n))
    note = (
        "No graph was given, so this map is made of the factorization alone: nodes stand along a "
        "winding path in the order of the hierarchy below, and lines say what was merged into what."
    )
    return Drawing(points, np.stack([dropped, parents[dropped]], axis=1), note)


def hilbert_points(count: int) -> NDArray[np.float64]:
    """Return points of the unit square along Hilbert's curve: near in order is near in space.

    Examples
    --------
    >>> hilbert_points(4).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    """
    depth = max(1, int(np.ceil(np.log2(max(count, 2)) / 2)))
    rest = np.arange(count, dtype=np.int64) * 4**depth // max(count, 1)
    x, y = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for scale in 2 ** np.arange(depth):
        right, up = (rest // 2) % 2, (rest ^ (rest // 2)) % 2
        turned = up == 0
        flipped = turned & (right == 1)
        x, y = np.where(flipped, scale - 1 - x, x), np.where(flipped, scale - 1 - y, y)
        x, y = np.where(turned, y, x), np.where(turned, x, y)
        x, y = x + scale * right, y + scale * up
        rest = rest // 4
    points: NDArray[np.float64] = np.stack([x, y], axis=1) / (2.0**depth - 1)
    return points


def _into_unit_square(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shrink and move points, keeping their proportions, to the middle of the unit square."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max()) or 1.0
    moved: NDArray[np.float64] = (points - 0.5 * (low + high)) / width + 0.5
    return moved
