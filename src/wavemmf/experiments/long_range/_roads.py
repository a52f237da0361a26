"""The task of City-Networks on road networks: predict how far 16 hops lead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ..._graph import Graph
from ..._validation import check_choice
from ...datasets import minnesota, snap
from ...errors import InvalidInputError
from ...graphs._lengths import vector_lengths
from ...nn._labels import standardized
from ..nodes import NodeProblem
from ..signals import toronto
from ._city import CITIES, city_problem
from ._eccentricity import deciles, eccentricities

__all__ = ["HOPS", "LONG_RANGE_DATASETS", "load_long_range_problem", "road_problem"]

#: Reach of the eccentricity that is to be predicted.
HOPS = 16

Floats = npt.NDArray[np.float64]

# Coordinates in degrees are put on a plane that has equal units in both directions.
_IN_DEGREES = ("minnesota", "toronto")

_ROADS: dict[str, Callable[[], Graph]] = {
    "minnesota": minnesota,
    "toronto": lambda: toronto()[0],
    "amsterdam-roads": partial(snap, "amsterdam-roads"),
    "moscow-roads": partial(snap, "moscow-roads"),
}

#: Road networks that the task is built from here, and those that come with it.
LONG_RANGE_DATASETS = (*_ROADS, *CITIES)


def load_long_range_problem(name: str, cache: Any = None) -> NodeProblem:
    """Return the task on a road network by name.

    Parameters
    ----------
    name : str
        One of `LONG_RANGE_DATASETS`. Paris, Shanghai, L.A. and London are read by the class
        `CityNetwork` of PyTorch Geometric.
    cache : bool or folder, optional
        Where factorizations are kept; see `wavemmf.nn.wavelet_basis`.

    Returns
    -------
    NodeProblem
    """
    check_choice("dataset", name, LONG_RANGE_DATASETS)
    if name in CITIES:
        return city_problem(name, cache=cache)
    return road_problem(_ROADS[name](), name in _IN_DEGREES, cache)


def road_problem(roads: Graph, in_degrees: bool = False, cache: Any = None) -> NodeProblem:
    """Return the task on a road network with coordinates: on its largest component.

    A node's class is the decile of its eccentricity within 16 hops by road length; its features
    are its degree and the mean, the shortest and the longest of the lengths of its roads, each
    with mean 0 and standard deviation 1.

    Parameters
    ----------
    roads : Graph
        Roads are straight lines between its coordinates.
    in_degrees : bool
        Whether coordinates are longitude and latitude.
    cache : bool or folder, optional
        Where factorizations are kept.

    Examples
    --------
    >>> import wavemmf as wm
    >>> road_problem(wm.graphs.grid(8, 8))
    NodeProblem('grid(8, 8)', nodes=64, edges=112, features=4, classes=10)
    """
    if roads.coordinates is None:
        raise InvalidInputError("roads need coordinates: their lengths are computed from them")
    adjacency, points = _largest_component(roads)
    lengths = _lengths(adjacency, _on_plane(points) if in_degrees else points)
    y = torch.from_numpy(deciles(eccentricities(adjacency, lengths, HOPS)))
    graph = Graph(adjacency, coordinates=points, name=roads.name)
    return NodeProblem(roads.name, graph, _features(adjacency, lengths), y, cache=cache)


def _largest_component(roads: Graph) -> tuple[sp.csr_array, Floats]:
    pattern = sp.csr_array(roads.adjacency != 0, dtype=np.float64)
    _, component = sp.csgraph.connected_components(pattern, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return sp.csr_array(pattern[kept][:, kept]), np.asarray(roads.coordinates)[kept]


def _on_plane(degrees: Floats) -> Floats:
    return degrees * np.array([np.cos(np.deg2rad(degrees[:, 1].mean())), 1.0])


def _lengths(adjacency: sp.csr_array, points: Floats) -> Floats:
    tails = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    return vector_lengths(points[tails] - points[adjacency.indices])


def _features(adjacency: sp.csr_array, lengths: Floats) -> torch.Tensor:
    starts, degree = adjacency.indptr[:-1], np.diff(adjacency.indptr)
    ways = [reduce.reduceat(lengths, starts) for reduce in (np.add, np.minimum, np.maximum)]
    ways[0] /= degree
    return standardized(torch.from_numpy(np.stack([degree, *ways], axis=1)))
