"""Graphs and signals on which defaults are chosen; none of them is reported elsewhere.

Random functions of the coordinates (counts, rough and smooth fields, patches) on a grid, a
triangulation, a nearest-neighbour graph, parts of road networks, and trees; classes of nodes on
parts of citation graphs and of a network of pages. Edges with ends in space weigh 1/length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

import wavemmf as wm

__all__ = ["PROBLEMS", "problem"]

Graph = wm.graphs.Graph
Rng = np.random.Generator
# Nodes of a part of a larger graph.
_PART = 700


def _grid(rng: Rng) -> Graph:
    return wm.graphs.grid(26, 26)


def _triangulation(rng: Rng) -> Graph:
    """Keep six of ten edges of a triangulation of random points."""
    points = rng.random((_PART, 2))
    edges = _edges_of_triangles(Delaunay(points).simplices)
    return _by_length(points, edges[rng.random(len(edges)) < 0.6])


def _nearest(rng: Rng) -> Graph:
    """Join each of random points, in clusters, to its five nearest."""
    points = 0.1 * rng.normal(size=(_PART, 2)) + rng.random((12, 2))[rng.integers(12, size=_PART)]
    near = cKDTree(points).query(points, 6)[1][:, 1:]
    return _by_length(points, np.stack([np.repeat(np.arange(_PART), 5), near.ravel()], axis=1))


def _minnesota(rng: Rng) -> Graph:
    return _part(wm.graphs.minnesota(), 500)


def _amsterdam(rng: Rng) -> Graph:
    return _part(wm.datasets.snap("amsterdam-roads"), 1000)


def _suburb(rng: Rng) -> Graph:
    return _part(wm.datasets.snap("amsterdam-roads"), 30_000)


def _tree(rng: Rng) -> Graph:
    """Join random points by the shortest tree."""
    points = rng.random((_PART, 2))
    return _spanning(_by_length(points, _edges_of_triangles(Delaunay(points).simplices)))


def _street_tree(rng: Rng) -> Graph:
    return _spanning(_part(wm.graphs.minnesota(), 2000))


def _cora() -> Graph:
    return wm.datasets.planetoid("Cora").graph


def _citeseer() -> Graph:
    return wm.datasets.planetoid("CiteSeer").graph


def _pages() -> Graph:
    return wm.datasets.snap("musae-facebook")


_IN_SPACE: dict[str, Callable[[Rng], Graph]] = {
    "grid": _grid, "triangulation": _triangulation, "nearest": _nearest,
    "minnesota": _minnesota, "amsterdam": _amsterdam, "suburb": _suburb,
    "tree": _tree, "street tree": _street_tree,
}  # fmt: skip
_WITH_CLASSES: dict[str, Callable[[], Graph]] = {
    "cora": _cora, "citeseer": _citeseer, "pages": _pages,
}  # fmt: skip

#: Names of the problems.
PROBLEMS = (*_IN_SPACE, *_WITH_CLASSES)


def problem(name: str) -> tuple[Graph, Any]:
    """Return a graph and its signals, as columns; the same every time."""
    rng = np.random.default_rng(PROBLEMS.index(name))
    if name in _IN_SPACE:
        graph = _IN_SPACE[name](rng)
        return graph, _fields(graph, rng)
    whole = _WITH_CLASSES[name]()
    busiest = int(np.diff(wm.graphs.adjacency(whole).indptr).argmax())
    nodes = _around(whole, busiest, 2 * _PART)
    labels = np.asarray(whole.labels)[nodes]
    signals = np.eye(int(labels.max()) + 1)[labels]
    inside = sp.csr_array(wm.graphs.adjacency(whole)[nodes][:, nodes])
    return Graph(inside, name=name), signals[:, signals.any(axis=0)]


def _around(graph: Graph, start: int, count: int) -> Any:
    """Return the nodes reached first from one node."""
    whole = wm.graphs.adjacency(graph)
    order = breadth_first_order(whole, start, directed=False, return_predecessors=False)
    return np.sort(order[:count])


def _part(roads: Graph, start: int) -> Graph:
    nodes = _around(roads, start, _PART)
    inside = sp.coo_array(sp.triu(wm.graphs.adjacency(roads)[nodes][:, nodes]))
    return _by_length(np.asarray(roads.coordinates)[nodes], np.stack(inside.coords, axis=1))


def _spanning(graph: Graph) -> Graph:
    lengths = wm.graphs.adjacency(graph)
    lengths.data = 1.0 / lengths.data
    tree = sp.coo_array(minimum_spanning_tree(lengths))
    return _by_length(np.asarray(graph.coordinates), np.stack(tree.coords, axis=1))


def _edges_of_triangles(corners: Any) -> Any:
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    return np.unique(np.sort(edges, axis=1), axis=0)


def _by_length(points: Any, edges: Any) -> Graph:
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    graph = wm.graphs.graph_from_edges(len(points), *edges.T, coordinates=points)
    shortest = 1e-3 * float(np.ptp(points))
    return wm.graphs.weights_from_lengths(graph, "coordinates", at_least=shortest)


def _fields(graph: Graph, rng: Rng) -> Any:
    """Return random functions of the coordinates, at three scales."""
    points = np.asarray(graph.coordinates, float)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    signals = []
    for reach in (0.05, 0.15, 0.4):
        scaled = apart / reach
        rough, smooth = np.exp(-scaled), (1 + 3**0.5 * scaled) * np.exp(-(3**0.5) * scaled)
        roots = [np.linalg.cholesky(c + 1e-8 * np.eye(len(c))) for c in (rough, smooth)]
        draws = [root @ rng.normal(size=(len(points), 3)) for root in roots]
        noise = rng.normal(size=(len(points), 3))
        signals += [np.exp(1.2 * draws[0][:, 0] + 0.5 * noise[:, 0])]
        signals += [rng.poisson(3 * np.exp(draws[0][:, 1])).astype(float), draws[0][:, 2]]
        signals += [draws[1][:, 0] + 0.1 * noise[:, 1]]
        centres = rng.random((int(2 / reach) + 2, 2))
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=-1).argmin(axis=1)
        signals += [rng.normal(size=len(centres))[nearest] + 0.1 * noise[:, 2]]
    return np.stack(signals, axis=1)
