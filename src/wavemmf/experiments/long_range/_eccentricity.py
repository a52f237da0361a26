"""How far the farthest node within some hops is, by road."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..._validation import check_integer
from ...errors import InvalidInputError
from ...kernels._jit import jit

__all__ = ["deciles", "eccentricities"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def eccentricities(adjacency: sp.csr_array, lengths: Floats, hops: int = 16) -> Floats:
    """Return for every node the longest of the shortest ways to the nodes within some hops.

    Ways are measured by length, and lead only through nodes that are within these hops themselves,
    as in City-Networks (Liang et al. 2025).

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        The graph; only where its entries are counts.
    lengths : float array
        One for every stored entry, in their order, not negative.
    hops : int
        How many edges a node may be away.

    Returns
    -------
    float array of shape (n,)

    Examples
    --------
    >>> path = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> eccentricities(path, np.array([1.0, 1.0, 5.0, 5.0, 2.0, 2.0]), hops=2)
    array([6., 7., 6., 7.])
    """
    check_integer("hops", hops, 0)
    lengths = np.asarray(lengths, dtype=np.float64)
    if lengths.shape != (adjacency.nnz,) or not (lengths >= 0.0).all():
        raise InvalidInputError(
            f"lengths must be {adjacency.nnz} numbers that are not negative, one per entry"
        )
    farthest = np.zeros(adjacency.shape[0])
    pointers, neighbours = (part.astype(np.int64) for part in (adjacency.indptr, adjacency.indices))
    _farthest_in_balls(pointers, neighbours, lengths, hops, farthest)
    return farthest


@jit
def _farthest_in_balls(pointers, neighbours, lengths, hops, farthest):  # type: ignore[no-untyped-def]
    """Write the eccentricity of every node within its ball; a queue corrects distances."""
    n = pointers.size - 1
    ball, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    inside, waiting = np.full(n, -1), np.zeros(n, np.bool_)
    distance = np.empty(n)
    for centre in range(n):
        ball[0], inside[centre] = centre, centre
        begin, count = 0, 1
        for _ in range(hops):
            end = count
            for i in range(begin, end):
                for entry in range(pointers[ball[i]], pointers[ball[i] + 1]):
                    other = neighbours[entry]
                    if inside[other] != centre:
                        inside[other], ball[count] = centre, other
                        count += 1
            begin = end
        for i in range(count):
            distance[ball[i]] = np.inf
        distance[centre] = 0.0
        queue[0], first, held = centre, 0, 1
        while held:
            node = queue[first]
            first, held = (first + 1) % n, held - 1
            waiting[node] = False
            for entry in range(pointers[node], pointers[node + 1]):
                other = neighbours[entry]
                way = distance[node] + lengths[entry]
                if inside[other] == centre and way < distance[other]:
                    distance[other] = way
                    if not waiting[other]:
                        queue[(first + held) % n], waiting[other] = other, True
                        held += 1
        for i in range(count):
            farthest[centre] = max(farthest[centre], distance[ball[i]])


def deciles(values: Floats, classes: int = 10) -> Integers:
    """Return classes of equal size (but for one), in ascending order of the values.

    Equal values are told apart by their position.

    Examples
    --------
    >>> deciles(np.array([0.3, 0.1, 0.2, 0.4]), classes=2)
    array([1, 0, 0, 1])
    """
    found = np.empty(len(values), np.int64)
    ranks = np.arange(len(values)) * classes // max(len(values), 1)
    found[np.argsort(values, kind="stable")] = ranks
    return found
