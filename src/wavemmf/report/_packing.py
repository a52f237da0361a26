"""Arrays as text that a browser turns back into typed arrays without parsing numbers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["pack_floats", "pack_fractions", "pack_integers"]

_SCRIPT_NAMES = {
    "u1": "Uint8Array",
    "u2": "Uint16Array",
    "u4": "Uint32Array",
    "i2": "Int16Array",
    "f4": "Float32Array",
}
_SHARPEST = 2**15 - 1


def pack_integers(values: npt.ArrayLike) -> dict[str, Any]:
    """Pack non-negative integers in as few bytes as the largest needs.

    Examples
    --------
    >>> pack_integers([0, 1, 255])
    {'type': 'Uint8Array', 'scale': 1, 'data': 'AAH/'}
    """
    numbers = np.asarray(values, dtype=np.int64)
    largest = int(numbers.max(initial=0))
    kind = "u1" if largest < 2**8 else "u2" if largest < 2**16 else "u4"
    return _pack(numbers, kind)


def pack_floats(values: npt.ArrayLike) -> dict[str, Any]:
    """Pack numbers as they are, in single precision."""
    return _pack(np.asarray(values), "f4")


def pack_fractions(values: npt.ArrayLike) -> dict[str, Any]:
    """Pack numbers from -1 to 1 in two bytes each, rounded to multiples of 1 / 32767."""
    rounded = np.rint(np.asarray(values, dtype=np.float64) * _SHARPEST)
    return _pack(rounded, "i2", 1.0 / _SHARPEST)


def _pack(values: npt.NDArray[Any], kind: str, scale: float = 1) -> dict[str, Any]:
    raw = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()
    return {
        "type": _SCRIPT_NAMES[kind],
        "scale": scale,
        "data": base64.b64encode(raw).decode("ascii"),
    }
