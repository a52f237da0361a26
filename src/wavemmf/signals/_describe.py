"""What every wavelet is like: where it is, how far it reaches, how fast it changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._graph import Graph
from .._optional import require
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..graphs import adjacency
from ..graphs._lengths import vector_lengths
from ..io import load_if_path
from ..kernels.hops import farthest_hops
from ..parallel.threads import run_all
from ._bands import bands
from ._check import check_factorization

__all__ = ["describe"]

# What is smaller than this part of a unit vector is not counted as reach.
_NEGLIGIBLE = 1e-3
# Wavelets of one piece of work.
_ROWS = 4096


def describe(f: Factorization, graph: Any = None, *, table: bool = False) -> Any:
    """Tell for every wavelet and scaling function where it is and how far it reaches.

    Parameters
    ----------
    f : Factorization
        The basis.
    graph : graph, optional
        The graph it belongs to, for distances: anything `wavemmf.graphs.adjacency` takes.
    table : bool
        Return a pandas DataFrame instead of a structured array.

    Returns
    -------
    structured array or DataFrame of n rows, in coordinate order
        ``level``: the level that dropped it, from 1; 0 for scaling functions. ``band``: see
        `bands`. ``centre``: the node where it is largest. ``frequency``: its entry of the diagonal
        of H. ``support``: nodes where it is larger than 0.001. With a graph, ``hops``: steps from
        the centre to the farthest node of the support. If the graph has coordinates,
        ``distance``: the same as a distance between coordinates. If nodes have names,
        ``centre_name``; rows of a DataFrame are then labelled as coefficients are.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.grid(8, 8)
    >>> rows = describe(wm.wavelets(graph), graph)
    >>> rows.dtype.names
    ('level', 'band', 'centre', 'frequency', 'support', 'hops', 'distance')
    >>> int(rows["support"].min()) >= 2
    True
    """
    check_factorization(f)
    basis = f.basis(threshold=_NEGLIGIBLE)
    centres = _centres(basis)
    columns: dict[str, npt.NDArray[Any]] = {
        "level": _levels(f),
        "band": bands(f),
        "centre": centres,
        "frequency": np.asarray(f.frequencies),
        "support": np.diff(basis.indptr).astype(np.int64),
    }
    if graph is not None:
        graph = load_if_path(graph)
        matrix = adjacency(graph)
        if matrix.shape[0] != f.n:
            raise InvalidInputError(
                f"the graph has {matrix.shape[0]} vertices, and the factorization {f.n} rows"
            )
        columns["hops"] = _hops(matrix, basis, centres)
        if isinstance(graph, Graph) and graph.coordinates is not None:
            columns["distance"] = _distances(graph.coordinates, basis, centres)
    if f.node_names is not None:
        columns["centre_name"] = np.array(f.node_names)[centres]
    if table:
        return require("pandas", "pandas").DataFrame(columns, index=_labels(f))
    kinds = [(name, values.dtype) for name, values in columns.items()]
    rows = np.empty(f.n, kinds)
    for name, values in columns.items():
        rows[name] = values
    return rows


def _labels(f: Factorization) -> list[str] | None:
    return None if f.node_names is None else list(f.node_names)


def _levels(f: Factorization) -> npt.NDArray[np.int64]:
    r = f.rotations
    levels = np.zeros(f.n, np.int64)
    levels[r.wavelets] = 1 + np.repeat(np.arange(r.num_levels), np.diff(r.drop_offsets))
    return levels


def _centres(basis: Any) -> npt.NDArray[np.int64]:
    """Return the column of the largest magnitude of every row, the first of equals."""
    rows = np.repeat(np.arange(basis.shape[0]), np.diff(basis.indptr))
    order = np.lexsort((basis.indices, -np.abs(basis.data), rows))
    # Every row has unit length, so it has an entry.
    return np.asarray(basis.indices[order[basis.indptr[:-1]]], np.int64)


def _hops(matrix: Any, basis: Any, centres: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    n = basis.shape[0]
    shared = (matrix.indptr, matrix.indices, centres, basis.indptr, basis.indices)
    calls = [(*shared, first, min(n, first + _ROWS)) for first in range(0, n, _ROWS)]
    return np.concatenate([np.empty(0, np.int64), *run_all(farthest_hops, calls)])


def _distances(
    points: npt.NDArray[np.float64], basis: Any, centres: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    rows = np.repeat(np.arange(basis.shape[0]), np.diff(basis.indptr))
    apart = points[basis.indices] - points[centres[rows]]
    return np.maximum.reduceat(vector_lengths(apart), basis.indptr[:-1])
