"""What is kept beside the numbers of a factorization: values that every file format has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidFactorizationError

__all__ = ["plain"]


def plain(name: str, value: Any) -> Any:
    """Return a copy of plain values, as it will be when it was saved and loaded.

    Tuples and arrays become lists, NumPy's numbers those of Python, and keys become strings.

    Raises
    ------
    InvalidFactorizationError
        For anything else; the message names its place.

    Examples
    --------
    >>> plain("parameters", {"k": np.int64(8), "cores": (4, 8)})
    {'k': 8, 'cores': [4, 8]}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(f"{name}[{key!r}]", member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(f"{name}[{i}]", member) for i, member in enumerate(value)]
    raise InvalidFactorizationError(
        f"{name} must be made of numbers, strings, lists and dicts, got {type(value).__name__}"
    )
