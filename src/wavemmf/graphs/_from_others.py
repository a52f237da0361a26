"""Graphs out of tables and out of networkx, when it must be said which column weighs the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._graph import Graph, graph_from_edges
from .._validation import check_named
from ..errors import InputTypeError, InvalidInputError
from ..io._foreign import is_networkx, networkx_adjacency
from ..io._text import check_order

__all__ = ["from_networkx", "from_pandas"]


def from_pandas(
    frame: Any,
    source: Any = "source",
    target: Any = "target",
    weight: Any = None,
    name: str = "",
) -> Graph:
    """Return the undirected graph whose edges are the rows of a DataFrame.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each edge. An edge may be listed more than once, either way round, if its
        weight is the same.
    source, target : column names
        Where the two ends of an edge stand. Integers that are not negative are used as they are,
        counted from 0, as in edge lists; anything else are names, numbered in order of first
        appearance, row by row, and kept as ``node_names``.
    weight : column name, optional
        Where its weight stands; 1 for all by default.
    name : str
        What to call the graph.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidInputError
        If there is no such column, or an entry is missing; the message names the row.

    Examples
    --------
    >>> import pandas as pd
    >>> roads = pd.DataFrame({"a": ["Paris", "Lyon"], "b": ["Lyon", "Nice"], "km": [465, 472]})
    >>> graph = from_pandas(roads, "a", "b", weight="km")
    >>> graph, graph.node_names
    (Graph(n=3, num_edges=2), ('Paris', 'Lyon', 'Nice'))
    """
    if not (hasattr(frame, "columns") and hasattr(frame, "isna")):
        raise InputTypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    columns = [source, target] + ([] if weight is None else [weight])
    for column in columns:
        check_named("column", column, frame.columns)
    if not len(frame):
        raise InvalidInputError("the DataFrame has no rows: there are no edges")
    _check_present(frame, columns)
    ends = np.stack([np.asarray(frame[source]), np.asarray(frame[target])], axis=1)
    values = None if weight is None else _as_weights(frame, weight)
    numbers, names = _numbered(ends)
    n = int(numbers.max()) + 1 if names is None else len(names)
    if names is None:
        check_order(n, len(numbers), "the DataFrame")
    first = _listed_once(frame, numbers, values, n)
    low, high = numbers[first].min(axis=1), numbers[first].max(axis=1)
    kept = None if values is None else values[first]
    return graph_from_edges(n, low, high, kept, name=name, node_names=names)


def from_networkx(graph: Any, weight: Any = "weight", name: str = "") -> Graph:
    """Return a networkx graph as a Graph, weighted by an attribute of its edges.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected; convert others with ``to_undirected()`` first.
    weight : str or None
        The attribute, which all edges must have; None to count every edge as 1.
    name : str
        What to call the graph.

    Returns
    -------
    Graph
        With the nodes in their order; unless they are 0, 1, 2, ... their names are ``node_names``.

    Raises
    ------
    InvalidInputError
        If an edge lacks the attribute, with that edge.

    Examples
    --------
    >>> import networkx
    >>> pair = networkx.Graph()
    >>> pair.add_edge("a", "b", w=2.5)
    >>> from_networkx(pair, weight="w").adjacency.toarray()
    array([[0. , 2.5],
           [2.5, 0. ]])
    """
    if not is_networkx(graph):
        raise InputTypeError(f"expected a networkx graph, got {type(graph).__name__}")
    if weight is not None:
        for one, other, attributes in graph.edges(data=True):
            check_named(f"attribute of the edge {one!r}, {other!r}", weight, attributes)
    nodes = list(graph)
    names = None if nodes == list(range(len(nodes))) else tuple(map(str, nodes))
    return Graph(networkx_adjacency(graph, weight), name=name, node_names=names)


def _check_present(frame: Any, columns: list[Any]) -> None:
    for column in columns:
        missing = np.flatnonzero(np.asarray(frame[column].isna()))
        if missing.size:
            row = frame.index[missing[0]]
            raise InvalidInputError(f"column {column!r} has no value in row {row!r}")


def _as_weights(frame: Any, column: Any) -> NDArray[np.float64]:
    try:
        values = np.asarray(frame[column], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"column {column!r} does not hold numbers: {error}") from error
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InvalidInputError(
            f"column {column!r} holds {values[wrong[0]]} in row {frame.index[wrong[0]]!r}; weights "
            "are finite"
        )
    return values


def _numbered(ends: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Return the ends of edges as numbers, and the names that these stand for."""
    if ends.dtype.kind in "iu" and ends.min() >= 0:
        return ends.astype(np.int64), None
    numbering: dict[Any, int] = {}
    flat = [numbering.setdefault(end, len(numbering)) for end in ends.ravel().tolist()]
    return np.array(flat, np.int64).reshape(-1, 2), tuple(map(str, numbering))


def _listed_once(
    frame: Any, numbers: NDArray[np.int64], values: NDArray[np.float64] | None, n: int
) -> NDArray[np.int64]:
    """Return the first row of every edge; rows of the same edge must weigh it the same."""
    key = numbers.min(axis=1) * n + numbers.max(axis=1)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if values is not None:
        wrong = np.flatnonzero(values != values[first[group]])
        if wrong.size:
            row, other = wrong[0], first[group[wrong[0]]]
            raise InvalidInputError(
                f"the edge in row {frame.index[row]!r} has weight {values[row]:g} there but "
                f"{values[other]:g} in row {frame.index[other]!r}; an edge has one weight"
            )
    return np.sort(first)
