"""Real signals on real graphs, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._graph import Graph
from .._optional import require
from ..datasets import data_file, planetoid, snap
from ..datasets._digits import read_idx
from ..errors import InvalidInputError
from ..graphs import graph_from_edges, grid, weights_from_lengths
from .signals import TORONTO_SIGNALS, read_signals, toronto

__all__ = ["SIGNALS", "signal_problem"]

Floats = npt.NDArray[np.float64]

# Test images of digits that are taken as signals.
_IMAGES = 100


def _toronto(name: str) -> tuple[Any, Floats]:
    graph, signals = toronto()
    return weights_from_lengths(graph, "coordinates"), signals[name]


def _digits(name: str) -> tuple[Any, Floats]:
    images = read_idx(data_file("mnist/t10k-images-idx3-ubyte"), dimensions=3)[:_IMAGES]
    height, width = images.shape[1:]
    return grid(height, width), images.reshape(len(images), -1).T / 255.0


def _labels(graph: Graph) -> tuple[Any, Floats]:
    labels = np.asarray(graph.labels)
    return graph, np.eye(int(labels.max()) + 1)[labels]


def _cortex(name: str) -> tuple[Any, Floats]:
    datasets, surface = (require(f"nilearn.{part}", "docs") for part in ("datasets", "surface"))
    files = datasets.fetch_surf_fsaverage("fsaverage5")
    points, faces = surface.load_surf_mesh(files["white_left"])
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [0, 2]]])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    graph = graph_from_edges(len(points), edges[:, 0], edges[:, 1], coordinates=points)
    values = surface.load_surf_data(files[f"{_MAPS[name]}_left"])
    return weights_from_lengths(graph, "coordinates"), np.asarray(values, np.float64)


_MAPS = {"depth": "sulc", "curvature": "curv", "thickness": "thick"}

#: The signals of every graph that has some.
SIGNALS: dict[str, tuple[str, ...]] = {
    "toronto": TORONTO_SIGNALS,
    "digits": ("images",),
    "cora": ("labels",),
    "citeseer": ("labels",),
    "pubmed": ("labels",),
    "lastfm": ("labels",),
    "cortex": tuple(_MAPS),
}

_READERS: dict[str, Callable[[str], tuple[Any, Floats]]] = {
    "toronto": _toronto,
    "digits": _digits,
    "cora": lambda name: _labels(planetoid("Cora").graph),
    "citeseer": lambda name: _labels(planetoid("CiteSeer").graph),
    "pubmed": lambda name: _labels(planetoid("PubMed").graph),
    "lastfm": lambda name: _labels(snap("lastfm")),
    "cortex": _cortex,
}


def signal_problem(graph: str, signal: str, read_graph: Callable[[str], Any]) -> tuple[Any, Floats]:
    """Return a graph and its signal, by their names or from files.

    Examples
    --------
    >>> signal_problem("toronto", "heights", lambda name: None)
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: signals of toronto are pedestrians, vehicles; got 'heights'
    """
    if graph not in SIGNALS:
        return read_graph(graph), read_signals(signal)
    if signal not in SIGNALS[graph]:
        known = ", ".join(SIGNALS[graph])
        raise InvalidInputError(f"signals of {graph} are {known}; got {signal!r}")
    return _READERS[graph](signal)
