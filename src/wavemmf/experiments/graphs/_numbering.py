"""Number the nodes of graphs otherwise: a factorization breaks ties by their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...graphs import Graph

__all__ = ["random_orders", "relabelled"]

Order = npt.NDArray[np.int64]


def relabelled(graph: Graph, order: npt.ArrayLike) -> Graph:
    """Return a graph with its nodes in another order.

    Parameters
    ----------
    graph : Graph
        Coordinates and names of nodes are left out.
    order : int array
        Which node is the first, the second and so on.

    Examples
    --------
    >>> import wavemmf as wm
    >>> relabelled(wm.graphs.path(3), [1, 0, 2]).adjacency.toarray()[0]
    array([0., 1., 1.])
    """
    order = np.asarray(order)
    return replace(
        graph,
        adjacency=graph.adjacency[order][:, order],
        labels=None if graph.labels is None else graph.labels[order],
        features=None if graph.features is None else graph.features[order],
        coordinates=None,
        node_names=None,
    )


def random_orders(graphs: Sequence[Graph], seed: int) -> list[Order]:
    """Return a random order of the nodes of every graph.

    Examples
    --------
    >>> import wavemmf as wm
    >>> [sorted(order.tolist()) for order in random_orders([wm.graphs.path(3)], seed=1)]
    [[0, 1, 2]]
    """
    rng = np.random.default_rng(seed)
    return [rng.permutation(graph.n) for graph in graphs]
