"""JSON as everybody reads it: without NaN and Infinity, which Python would write all the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["exact_json", "json_text", "read_exact_json"]

# How a number that JSON has no word for is kept in our own files.
_FLOAT = "wavemmf-float"


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return `value` as JSON; numbers that are not finite become null.

    Examples
    --------
    >>> json_text({"error": float("nan"), "steps": (np.int64(3),)}, indent=None)
    '{"error":null,"steps":[3]}'
    """
    plain = _plain(value, lambda number: None)
    separators = (",", ":") if indent is None else None
    return json.dumps(plain, indent=indent, separators=separators, allow_nan=False)


def exact_json(value: Any) -> str:
    """Return `value` as JSON from which `read_exact_json` makes the same value again.

    Examples
    --------
    >>> read_exact_json(exact_json([1.5, float("inf")]))
    [1.5, inf]
    """
    plain = _plain(value, lambda number: {_FLOAT: repr(number)})
    return json.dumps(plain, indent=1, allow_nan=False)


def read_exact_json(text: str | bytes) -> Any:
    """Return what `exact_json` was given; raises ValueError for what is not JSON."""
    return json.loads(text, object_hook=_as_float)


def _as_float(found: dict[str, Any]) -> Any:
    return float(found[_FLOAT]) if found.keys() == {_FLOAT} else found


def _plain(value: Any, otherwise: Callable[[float], Any]) -> Any:
    """Return plain values, with `otherwise` in place of numbers that are not finite."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else otherwise(value)
    if isinstance(value, Mapping):
        return {key: _plain(member, otherwise) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member, otherwise) for member in value]
    return value
