"""What is wrong with signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization
from ..factorization._transform import as_signal

__all__ = ["as_signals", "check_factorization"]

# Coefficients are sums of many entries, so there must be room above the entries.
_LARGEST = 1e300


def check_factorization(f: Any) -> None:
    """Raise an error if this is no factorization.

    Examples
    --------
    >>> check_factorization("karate")
    Traceback (most recent call last):
    ...
    wavemmf.errors.InputTypeError: f must be a Factorization, got str
    """
    if not isinstance(f, Factorization):
        raise InputTypeError(f"f must be a Factorization, got {type(f).__name__}")


def as_signals(x: Any, n: int) -> npt.NDArray[np.float64]:
    """Return one signal (n,) or m of them (n, m) as float64, finite and not too large.

    Examples
    --------
    >>> as_signals([1, 2], 2)
    array([1., 2.])
    """
    missing = int(np.ma.getmaskarray(x).sum()) if isinstance(x, np.ma.MaskedArray) else 0
    if missing:
        raise InvalidInputError(
            f"signals must have a value everywhere, but {missing} entries are masked"
        )
    signals = as_signal(x, n).astype(np.float64, copy=False)
    wrong = np.argwhere(~(np.abs(signals) <= _LARGEST))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        raise InvalidInputError(
            f"signals must be finite and at most {_LARGEST:g} in magnitude, but entry {place} is "
            f"{signals[place]}"
        )
    return signals
