"""Sets of nodes or graphs that a network learns from, is chosen by and is tested on."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputTypeError, InvalidInputError

__all__ = ["check_inside", "check_subsets"]

Integers = npt.NDArray[np.int64]


def check_subsets(what: str, **given: Any) -> dict[str, Integers]:
    """Return sets of indices as arrays, if none is empty and no two have a member in common.

    Parameters
    ----------
    what : str
        What is numbered, in the singular.
    **given
        The sets by name.

    Examples
    --------
    >>> check_subsets("node", train=[0, 1], test=[1, 2])
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: node 1 is in both train and test; they must be disjoint
    """
    sets = {name: _indices(what, name, values) for name, values in given.items()}
    for one, other in combinations(sets, 2):
        shared = np.intersect1d(sets[one], sets[other])
        if shared.size:
            raise InvalidInputError(
                f"{what} {shared[0]} is in both {one} and {other}; they must be disjoint"
            )
    return sets


def check_inside(what: str, count: int, **sets: Integers) -> None:
    """Raise unless all indices are below `count`.

    Examples
    --------
    >>> check_inside("node", 2, train=np.array([0, 5]))
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: train names node 5, but there are 2, counted from 0
    """
    for name, indices in sets.items():
        if indices.max(initial=-1) >= count:
            raise InvalidInputError(
                f"{name} names {what} {indices.max()}, but there are {count}, counted from 0"
            )


def _indices(what: str, name: str, values: Any) -> Integers:
    indices = np.asarray(values)
    if indices.dtype.kind == "b":
        raise InputTypeError(f"{name} is a mask; give the indices, np.flatnonzero({name})")
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise InputTypeError(
            f"{name} must be a list of {what} indices, got shape {indices.shape}, {indices.dtype}"
        )
    if indices.size == 0:
        raise InvalidInputError(f"{name} must hold at least one {what}, got none")
    if indices.min() < 0:
        raise InvalidInputError(f"{name} holds the {what} {indices.min()}; they count from 0")
    found, counts = np.unique(indices, return_counts=True)
    if counts.max() > 1:
        raise InvalidInputError(f"{name} holds {what} {found[counts.argmax()]} more than once")
    return indices.astype(np.int64)
