"""Zachary's karate club, small enough to be part of the code."""

from __future__ import annotations

import numpy as np

from .._graph import Graph, graph_from_edges

__all__ = ["karate"]

# Line i lists the neighbours of vertex i that have a larger number.
_LARGER_NEIGHBOURS = """\
1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31
2 3 7 13 17 19 21 30
3 7 8 9 13 27 28 32
7 12 13
6 10
6 10 16
16

30 32 33
33



33
32 33
32 33


32 33
33
32 33

32 33
25 27 29 32 33
25 27 31
31
29 33
33
31 33
32 33
32 33
32 33
33
"""

# Who stayed with the instructor (0) and who followed the administrator (1), by vertex.
_CLUBS = "0000000001000011001010111111111111"


def karate() -> Graph:
    """Return the karate club network of Zachary (1977), unweighted.

    Returns
    -------
    Graph
        34 members, 78 friendships, numbered from 0 in the usual order (the instructor is 0,
        the administrator 33). The labels are the two clubs the group split into.

    References
    ----------
    W. W. Zachary, An information flow model for conflict and fission in small groups,
    Journal of Anthropological Research 33, 452-473 (1977).

    Examples
    --------
    >>> karate()
    Graph('karate', n=34, num_edges=78)
    """
    neighbours = [line.split() for line in _LARGER_NEIGHBOURS.split("\n")]
    edges = [(vertex, int(other)) for vertex, others in enumerate(neighbours) for other in others]
    tails, heads = np.array(edges).T
    return graph_from_edges(
        34,
        tails,
        heads,
        name="karate",
        labels=np.array([int(club) for club in _CLUBS]),
        class_names=("Mr. Hi", "Officer"),
    )
