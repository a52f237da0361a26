"""How many steps on a graph it takes from a vertex to a set of others."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["farthest_hops"]


@jit
def farthest_hops(indptr, indices, centres, set_indptr, set_indices, first, last):
    """Hops from ``centres[i]`` to the farthest vertex of set i that can be reached.

    Sets `first` to `last` only. The search ends when all of the set is found, so the cost is the
    number of edges that near.
    """
    n = indptr.size - 1
    result = np.zeros(last - first, np.int64)
    wanted = np.full(n, -1, np.int64)
    seen = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    distance = np.empty(n, np.int64)
    for i in range(first, last):
        missing = set_indptr[i + 1] - set_indptr[i]
        for q in range(set_indptr[i], set_indptr[i + 1]):
            wanted[set_indices[q]] = i
        queue[0], distance[0], seen[centres[i]] = centres[i], 0, i
        at, end = 0, 1
        while at < end and missing > 0:
            vertex = queue[at]
            if wanted[vertex] == i:
                missing -= 1
                result[i - first] = distance[at]
            for q in range(indptr[vertex], indptr[vertex + 1]):
                neighbour = indices[q]
                if seen[neighbour] != i:
                    seen[neighbour] = i
                    queue[end] = neighbour
                    distance[end] = distance[at] + 1
                    end += 1
            at += 1
    return result
