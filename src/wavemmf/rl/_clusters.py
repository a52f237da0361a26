"""Connected clusters of a large graph to train on: transfer (appendix D.3 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._validation import check_integer
from ..graphs import Graph, adjacency, as_matrix, is_graph, partition
from ..io import load_if_path

__all__ = ["clusters"]


def clusters(A: Any, size: int = 100, smallest: int = 16, seed: int = 0) -> list[Any]:
    """Return connected pieces of about `size` vertices.

    The graph is cut by `wavemmf.graphs.partition`, that is by METIS if it is installed (extra
    ``partition``): parts of equal size with few edges between them, in milliseconds. Parts that are
    not connected are divided into their components.

    Parameters
    ----------
    A : graph, matrix or path
        A graph gives clusters that are graphs, so that each gets its own normalized Laplacian; a
        matrix gives its diagonal blocks.
    size : int
        Vertices per part.
    smallest : int
        Components smaller than this are left out.
    seed : int
        Seed of the partitioner.

    Returns
    -------
    list of Graph, or of csr_array

    Examples
    --------
    >>> import wavemmf as wm
    >>> parts = clusters(wm.graphs.grid(12, 12), size=36)
    >>> sum(part.n for part in parts)
    144
    """
    size = check_integer("size", size, 2)
    smallest = check_integer("smallest", smallest, 2)
    seed = check_integer("seed", seed, 0)
    A = load_if_path(A)
    matrix = sp.csr_array(adjacency(A) if is_graph(A) else as_matrix(A))
    name = getattr(A, "name", "") or "graph"
    pieces = []
    for index, rows in enumerate(_connected_parts(matrix, size, seed)):
        if rows.size >= smallest:
            block = matrix[rows][:, rows]
            pieces.append(Graph(block, name=f"{name} {index}") if is_graph(A) else block)
    return pieces


def _connected_parts(matrix: Any, size: int, seed: int) -> list[Any]:
    n = matrix.shape[0]
    edges = matrix - sp.diags_array(matrix.diagonal())
    edges = sp.csr_array(edges)
    edges.eliminate_zeros()
    labels = partition(edges, max(1, round(n / size)), seed)
    parts = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        count, component = connected_components(edges[rows][:, rows], directed=False)
        parts += [rows[component == index] for index in range(count)]
    return parts
