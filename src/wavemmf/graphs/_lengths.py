"""From the lengths of edges to weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._graph import Graph
from .._validation import check_choice, check_positive
from ..errors import InvalidInputError
from ..io import load_if_path
from ._laplacian import adjacency
from ._names import names_of

__all__ = ["vector_lengths", "weights_from_lengths"]

_LENGTHS = ("weights", "coordinates")


def weights_from_lengths(
    graph: Any, lengths: str = "weights", at_least: float | None = None
) -> Graph:
    """Return the graph with the weight ``1 / length`` on every edge: close vertices are alike.

    Parameters
    ----------
    graph : Graph, or anything `wavemmf.graphs.adjacency` takes
        The graph.
    lengths : {"weights", "coordinates"}
        Whether the weights it has are the lengths, or the distances between the coordinates of
        the ends are.
    at_least : float, optional
        Shorter edges count as this long. Without it an edge of length zero is an error.

    Returns
    -------
    Graph

    Examples
    --------
    >>> weights_from_lengths([[0, 4], [4, 0]]).adjacency.toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    check_choice("lengths", lengths, _LENGTHS)
    if at_least is not None:
        at_least = check_positive("at_least", at_least)
    graph = load_if_path(graph)
    given = (
        graph if isinstance(graph, Graph) else Graph(adjacency(graph), node_names=names_of(graph))
    )
    edges = sp.coo_array(given.adjacency)
    tails, heads = edges.coords
    long = edges.data if lengths == "weights" else _distances(given, tails, heads)
    if at_least is not None:
        long = np.maximum(long, at_least)
    wrong = np.flatnonzero(~((long > 0.0) & np.isfinite(long)))
    if wrong.size:
        first = wrong[0]
        raise InvalidInputError(
            f"lengths must be finite and above 0, but the edge between {tails[first]} and "
            f"{heads[first]} has length {long[first]}; at_least= gives short edges a length"
        )
    with np.errstate(over="ignore"):
        weights = 1.0 / long
    return replace(given, adjacency=sp.coo_array((weights, (tails, heads)), shape=edges.shape))


def _distances(graph: Graph, tails: Any, heads: Any) -> Any:
    if graph.coordinates is None:
        raise InvalidInputError(
            "lengths='coordinates' needs a graph with coordinates, and this one has none"
        )
    with np.errstate(over="ignore"):  # refused as an infinite length
        return vector_lengths(graph.coordinates[tails] - graph.coordinates[heads])


def vector_lengths(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the Euclidean length of every row, whatever the unit of its entries is.

    A row is divided by a power of two, which is exact, so that its squares stay in range.

    Examples
    --------
    >>> vector_lengths(np.array([[3.0, 4.0], [3e200, 4e200], [0.0, 0.0]]))
    array([5.e+000, 5.e+200, 0.e+000])
    """
    exponents = np.frexp(np.abs(vectors).max(axis=1, initial=0.0))[1]
    units = np.ldexp(1.0, np.clip(exponents, -1021, 1023))
    return np.asarray(np.sqrt(((vectors / units[:, None]) ** 2).sum(axis=1)) * units)
