"""Signals that know the names of their nodes: pandas Series and DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..errors import InvalidFactorizationError, InvalidInputError
from ..io._foreign import is_pandas

__all__ = ["by_name", "check_names"]

# Names that an error lists; there may be thousands.
_SHOWN = 3


def check_names(names: Any, n: int) -> tuple[str, ...] | None:
    """Return the names of n nodes as a tuple of strings.

    Raises
    ------
    InvalidFactorizationError
        If there are not n strings.

    Examples
    --------
    >>> check_names(["a", "b"], 2)
    ('a', 'b')
    """
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence):
        kind = type(names).__name__
        raise InvalidFactorizationError(f"node_names must be a sequence of strings, got {kind}")
    if len(names) != n:
        raise InvalidFactorizationError(f"node_names must name {n} nodes, got {len(names)} names")
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise InvalidFactorizationError(f"node_names must be strings, got {wrong!r}")
    return tuple(names)


def by_name(x: Any, names: Sequence[str] | None, n: int) -> tuple[Any, Callable[[Any], Any]]:
    """Return the numbers of a signal in the order of the nodes, and what labels results like it.

    Only pandas objects have labels; anything else, and its results, are left as they are.

    Parameters
    ----------
    x : Series, DataFrame or anything else
        Its index must hold every node once, in any order.
    names : sequence of str, optional
        The names of the nodes; without any they are called by their numbers.
    n : int
        Number of nodes.

    Raises
    ------
    InvalidInputError
        If a node is missing, or a label is no node or there twice.

    Examples
    --------
    >>> import pandas as pd
    >>> values, labelled = by_name(pd.Series([1.0, 2.0], ["b", "a"]), ("a", "b"), 2)
    >>> values
    array([2., 1.])
    >>> labelled(10 * values).to_dict()
    {'b': 10.0, 'a': 20.0}
    """
    if not is_pandas(x):
        return x, _unlabelled
    rows = _rows(x.index, names, n)

    def labelled(result: Any) -> Any:
        values = np.empty_like(result)
        values[rows] = result
        pandas = require("pandas", "pandas")
        if values.ndim == 1:
            return pandas.Series(values, index=x.index, name=x.name)
        return pandas.DataFrame(values, index=x.index, columns=x.columns)

    return x.to_numpy()[rows], labelled


def _unlabelled(result: Any) -> Any:
    return result


def _rows(index: Any, names: Sequence[str] | None, n: int) -> npt.NDArray[np.intp]:
    """Return for every node the row of the index that names it."""
    pandas = require("pandas", "pandas")
    labels = pandas.Index([str(label) for label in index], dtype=object)
    known = pandas.Index([str(i) for i in range(n)] if names is None else names, dtype=object)
    for what, which in (("signal", labels), ("graph", known)):
        if not which.is_unique:
            twice = which[which.duplicated()]
            raise InvalidInputError(f"the {what} names some nodes twice: {_some(twice)}")
    rows = labels.get_indexer(known)
    missing, extra = known[rows < 0], labels[known.get_indexer(labels) < 0]
    if len(missing) or len(extra):
        raise InvalidInputError(_mismatch(missing, extra, named=names is not None))
    return np.asarray(rows, np.intp)


def _mismatch(missing: Any, extra: Any, named: bool) -> str:
    parts = []
    if len(missing):
        parts.append(f"has no value for {len(missing)} nodes: {_some(missing)}")
    if len(extra):
        parts.append(f"has {len(extra)} labels that are no nodes: {_some(extra)}")
    remedy = (
        "reindex it by node_names"
        if named
        else "the factorization knows no names, only numbers from 0"
    )
    return f"the signal {' and '.join(parts)}; {remedy}, or give values in node order (to_numpy())"


def _some(labels: Any) -> str:
    shown = ", ".join(repr(label) for label in labels[:_SHOWN])
    return shown + (", ..." if len(labels) > _SHOWN else "")
