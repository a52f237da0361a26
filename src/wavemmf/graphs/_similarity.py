"""A graph of who is alike, from features of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from .._validation import check_integer
from ..errors import InvalidInputError

__all__ = ["similarity_graph"]

# Similarities of so many rows with all others are held at a time.
_ROWS = 512


def similarity_graph(features: Any, neighbors: int = 5) -> Graph:
    """Join every vertex with those whose features are most like its own.

    Two vertices are alike by the cosine of their features, each weighted with how rare it is,
    log(n / number of vertices that have it). That is the weight of the edge; an edge is there if
    either end counts the other among its nearest.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, number of features)
        Nonnegative, such as which words a document has.
    neighbors : int
        How many a vertex chooses; fewer if not so many have anything in common with it.

    Returns
    -------
    Graph

    Examples
    --------
    >>> similarity_graph([[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]], neighbors=1)
    Graph('similarity', n=4, num_edges=2)
    """
    check_integer("neighbors", neighbors, 1)
    rows = _directions(features)
    n = rows.shape[0]
    found = [
        _nearest(rows, start, min(start + _ROWS, n), neighbors) for start in range(0, n, _ROWS)
    ]
    heads, tails, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    chosen = sp.csr_array(sp.coo_array((weights, (heads, tails)), shape=(n, n)))
    return Graph(chosen.maximum(chosen.T), name="similarity")


def _directions(features: Any) -> sp.csr_array:
    """Return the features weighted by rarity, rows of length one."""
    x = sp.csr_array(features, dtype=np.float64, copy=True)  # zeros are taken out of it
    if x.ndim != 2 or x.shape[0] < 1:
        raise InvalidInputError(f"features must have a row for every vertex, got shape {x.shape}")
    if not (np.isfinite(x.data).all() and (x.data >= 0.0).all()):
        raise InvalidInputError("features must be finite and not negative")
    x.eliminate_zeros()
    # Only directions matter: a power of two, which is exact, keeps squares in range.
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    largest = np.zeros(x.shape[0])
    np.maximum.at(largest, rows, x.data)
    x.data /= np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1021, 1023))[rows]
    holders = np.bincount(x.indices, minlength=x.shape[1])
    rarity = np.log(x.shape[0] / np.maximum(holders, 1))
    weighted = sp.csr_array(x * rarity)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    return sp.csr_array(sp.diags_array(inverse) @ weighted)


def _nearest(
    rows: sp.csr_array, start: int, stop: int, neighbors: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return heads, tails and weights of the edges chosen by vertices start to stop."""
    likeness = (rows[start:stop] @ rows.T).toarray()
    own = np.arange(stop - start)
    likeness[own, start + own] = 0.0
    count = min(neighbors, rows.shape[0])
    tails = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
    weights = np.take_along_axis(likeness, tails, axis=1)
    heads = np.repeat(np.arange(start, stop), count).reshape(weights.shape)
    there = weights > 0.0
    return heads[there], tails[there].astype(np.int64), weights[there]
