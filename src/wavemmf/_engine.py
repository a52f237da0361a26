"""Which storage a factorization works on: by what either is estimated to cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .select import Evolution, Explicit, Neighbors, Random, Regular, Selector

__all__ = ["ENGINES", "Engine", "choose_engine"]

ENGINES = ("auto", "dense", "sparse")

# These selectors work on dense storage whatever they are given.
_DENSE = (Random, Neighbors, Regular, Explicit, Evolution)

# Fitted to runs on graphs of 1000 to 12,000 vertices, of 20 to 150 neighbours each. In units of
# what the dense engine takes for an entry of an n-by-n-by-n cube, the sparse engine takes this much
# for a level, and this much for an entry of a neighbour's row, of which a long one shows a part.
_SPARSE_LEVEL = 2.0**20
_SPARSE_ENTRY = 128.0
_LONG_ROW = 1024


class Engine(NamedTuple):
    """The storage, "dense" or "sparse", and why."""

    name: str
    why: str


def choose_engine(matrix: Any, engine: str, selector: Selector) -> Engine:
    """Return the engine that was asked for or, for "auto", the one that is estimated cheaper.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    engine : {"auto", "dense", "sparse"}
        What the user asked for.
    selector : Selector
        What will work on it.

    Examples
    --------
    >>> from wavemmf.select import Greedy
    >>> choose_engine(np.eye(3), "auto", Greedy())
    Engine(name='dense', why='the matrix is a dense array')
    >>> choose_engine(sp.eye_array(10**4, format="csr"), "auto", Greedy()).name
    'sparse'
    """
    if engine != "auto":
        return Engine(engine, "as asked for")
    if not sp.issparse(matrix):
        return Engine("dense", "the matrix is a dense array")
    if isinstance(selector, _DENSE):
        return Engine("dense", f"the selector {selector.name!r} works on dense storage")
    dense, sparse = estimated_costs(matrix)
    name = "sparse" if sparse < dense else "dense"
    return Engine(
        name,
        f"estimated cheaper: {dense:.2g} operations with dense storage, {sparse:.2g} with sparse",
    )


def estimated_costs(matrix: sp.csr_array) -> tuple[float, float]:
    """Return what greedy levels cost about on dense and on sparse storage, in the same unit.

    Examples
    --------
    >>> estimated_costs(sp.eye_array(2, format="csr"))
    (8.0, 2097408.0)
    """
    n = float(matrix.shape[0])
    lengths = np.diff(matrix.indptr).astype(np.float64)
    # Gram rows: every row goes through the rows of its neighbours.
    entries = float((lengths * np.minimum(lengths, _LONG_ROW)).sum())
    return n**3, _SPARSE_LEVEL * n + _SPARSE_ENTRY * entries
