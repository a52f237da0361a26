"""What a checkpoint of a training must hold before a training is taken up from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["check_training_state"]

_RECORDS = {"errors": "f8", "rewards": "f8", "seconds": "f8", "graphs": "i8"}
_MOMENTS = ("exp_avg", "exp_avg_sq")
# Torch and the kernels would go on with these until something else breaks.
_FINITE = ("policy.", "adam.", "baseline.")
_NOT_NEGATIVE = (".step", ".exp_avg_sq")

Form = tuple[np.dtype[Any], tuple[int, ...]]


def check_training_state(
    state: dict[str, Any], like: dict[str, Any], parameters: Iterable[Any], levels: Sequence[int]
) -> None:
    """Refuse a state that does not fit: Adam takes moments of any shape and fails a step later.

    Parameters
    ----------
    state : dict
        What a file held.
    like : dict
        The state of a training that has just begun.
    parameters : iterable of tensors
        What Adam moves, in its order.
    levels : sequence of int
        Decisions per episode, for each graph.

    Raises
    ------
    ValueError, TypeError, KeyError
        With what does not fit.

    Examples
    --------
    >>> begun = {"noise": np.zeros(3, np.uint8)}
    >>> records = {f"history.{name}": np.zeros(0, kind) for name, kind in _RECORDS.items()}
    >>> found = {"updates": 0, "noise": np.zeros(2, np.uint8), **records}
    >>> check_training_state(found | {"history.batches": np.zeros(0, np.int64)}, begun, [], [])
    Traceback (most recent call last):
    ...
    ValueError: noise must be uint8 of shape (3,), got uint8 of shape (2,)
    """
    updates = state["updates"]
    if type(updates) is not int or updates < 0:
        raise ValueError(f"updates must be a count, got {updates!r}")
    needed = _as_begun(like) | _records(state)
    forms = needed | _moments(state, parameters) | _baselines(levels)
    for name in (*needed, *state):
        if name != "updates":
            _check(name, state[name], forms)


def _as_begun(like: dict[str, Any]) -> dict[str, Form]:
    """Return the forms of what never changes its shape."""
    fixed = {name: like[name] for name in like if name == "noise" or name.startswith("policy.")}
    return {name: (array.dtype, array.shape) for name, array in fixed.items()}


def _records(state: dict[str, Any]) -> dict[str, Form]:
    """Return the forms of the history: one entry per episode, and the batches add up to them."""
    batches = np.asarray(state["history.batches"])
    episodes = np.asarray(state["history.errors"]).size
    if batches.dtype.kind == "i" and (np.any(batches < 1) or batches.sum() != episodes):
        raise ValueError(f"history.batches must add up to {episodes} episodes")
    forms = {f"history.{name}": (np.dtype(d), (episodes,)) for name, d in _RECORDS.items()}
    return {**forms, "history.batches": (np.dtype(np.int64), (batches.size,))}


def _moments(state: dict[str, Any], parameters: Iterable[Any]) -> dict[str, Form]:
    """Return the forms of what Adam remembers of the parameters that it has moved."""
    forms: dict[str, Form] = {}
    for index, parameter in enumerate(parameters):
        own = {f"adam.{index}.{name}": tuple(parameter.shape) for name in _MOMENTS}
        own[f"adam.{index}.step"] = ()
        present = own.keys() & state.keys()
        if present and len(present) < len(own):
            raise KeyError(min(own.keys() - present))
        forms |= {name: (np.dtype(np.float32), shape) for name, shape in own.items()}
    return forms


def _baselines(levels: Sequence[int]) -> dict[str, Form]:
    return {f"baseline.{i}": (np.dtype(np.float64), (count,)) for i, count in enumerate(levels)}


def _check(name: str, value: Any, forms: dict[str, Form]) -> None:
    if name not in forms:
        raise ValueError(f"{name} does not belong there")
    array, (dtype, shape) = np.asarray(value), forms[name]
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} must be {dtype} of shape {shape}, got {array.dtype} of shape {array.shape}"
        )
    if name.startswith(_FINITE) and not np.all(np.isfinite(array)):
        raise ValueError(f"{name} holds numbers that are not finite")
    if name.endswith(_NOT_NEGATIVE) and np.any(array < 0):
        raise ValueError(f"{name} holds negative numbers")
