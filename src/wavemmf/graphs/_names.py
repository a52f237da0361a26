"""What the nodes of a graph are called."""

from __future__ import annotations

from typing import Any

from .._graph import Graph
from ..errors import InvalidInputError
from ..io._foreign import is_igraph, is_networkx, is_pandas

__all__ = ["names_of"]


def names_of(obj: Any) -> tuple[str, ...] | None:
    """Return the names of the nodes of a graph or of the rows of a DataFrame, if it has any.

    Names that are the numbers of the rows say nothing, and count as none.

    Examples
    --------
    >>> import networkx as nx
    >>> names_of(nx.Graph([("b", "a")]))
    ('b', 'a')
    >>> names_of(nx.path_graph(3)) is None
    True
    """
    names = _labels(obj)
    if names is None or all(name == str(i) for i, name in enumerate(names)):
        return None
    return names


def _labels(obj: Any) -> tuple[str, ...] | None:
    if isinstance(obj, Graph):
        return None if obj.node_names is None else tuple(map(str, obj.node_names))
    if is_networkx(obj):
        return tuple(map(str, obj.nodes))
    if is_igraph(obj) and "name" in obj.vs.attributes():
        return tuple(map(str, obj.vs["name"]))
    if is_pandas(obj) and hasattr(obj, "columns"):
        return _row_names(obj)
    return None


def _row_names(frame: Any) -> tuple[str, ...]:
    rows, columns = (tuple(map(str, axis)) for axis in (frame.index, frame.columns))
    if rows != columns and sorted(rows) == sorted(columns):
        raise InvalidInputError(
            "rows and columns of the DataFrame have the same names in different orders: give "
            "frame[frame.index]"
        )
    return rows
