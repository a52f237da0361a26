"""Data sets and generated examples by the names the command line uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._graph import Graph
from .._validation import check_named
from ..datasets import digits_kernel, linqs, minnesota, mnist_kernel, snap, snap_names
from ..errors import InvalidInputError
from ._generators import cayley_tree, cycle, grid, kronecker
from ._karate import karate

__all__ = ["named", "names"]

_LOADERS: dict[str, Callable[[], Any]] = {
    "karate": karate,
    "cayley": partial(cayley_tree, 4, 4),
    "kronecker": kronecker,
    "minnesota": minnesota,
    "cycle": partial(cycle, 64),
    "grid": partial(grid, 32, 32),
    "digits": digits_kernel,
    "mnist": mnist_kernel,
    "cora": partial(linqs, "cora"),
    "citeseer": partial(linqs, "citeseer"),
    "webkb": partial(linqs, "webkb"),
}


def named(name: str) -> Graph | NDArray[np.float64]:
    """Return a data set by name: a Graph, or a matrix for kronecker, digits and mnist.

    Parameters
    ----------
    name : str
        One of `names`; SNAP graphs as ``"snap:power"`` or just ``"power"``.

    Examples
    --------
    >>> named("karate")
    Graph('karate', n=34, num_edges=78)
    >>> named("cycle")
    Graph('cycle(64)', n=64, num_edges=64)
    """
    if not isinstance(name, str):
        raise InvalidInputError(f"the name of a data set is a string, got {name!r}")
    if name in _LOADERS:
        return _LOADERS[name]()  # type: ignore[no-any-return]
    stem = name.removeprefix("snap:")
    if stem not in snap_names():
        check_named("data set", name, names())
    return snap(stem)


def names() -> list[str]:
    """Return the names that `named` knows.

    Examples
    --------
    >>> names()[:3]
    ['karate', 'cayley', 'kronecker']
    """
    return [*_LOADERS, *(f"snap:{stem}" for stem in snap_names())]
