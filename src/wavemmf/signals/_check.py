"""What is wrong with signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization
from ..factorization._names import by_name
from ..factorization._transform import as_signal

__all__ = ["as_signals", "check_factorization"]

# Coefficients are sums of many entries, so there must be room above the entries.
_LARGEST = 1e300


def as_signals(
    x: Any, f: Factorization
) -> tuple[npt.NDArray[np.float64], Callable[[npt.NDArray[Any]], Any]]:
    """Return one signal (n,) or m of them (n, m) as float64, and what labels results.

    The signals are finite and not too large.

    Examples
    --------
    >>> import wavemmf as wm
    >>> as_signals([1, 2], wm.wavelets(wm.graphs.path(2)))[0]
    array([1., 2.])
    """
    check_factorization(f)
    missing = int(np.ma.getmaskarray(x).sum()) if isinstance(x, np.ma.MaskedArray) else 0
    if missing:
        raise InvalidInputError(
            f"signals must have a value everywhere, but {missing} entries are masked"
        )
    values, labelled = by_name(x, f.node_names, f.n)
    signals = as_signal(values, f.n).astype(np.float64, copy=False)
    wrong = np.argwhere(~(np.abs(signals) <= _LARGEST))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        name = "" if f.node_names is None else f" (node {f.node_names[place[0]]!r})"
        raise InvalidInputError(
            f"signals must be finite and at most {_LARGEST:g} in magnitude, but entry "
            f"{place}{name} is {signals[place]}"
        )
    return signals, labelled


def check_factorization(f: Any) -> None:
    """Refuse anything but a factorization.

    Examples
    --------
    >>> check_factorization("f")
    Traceback (most recent call last):
    ...
    wavemmf.errors.InputTypeError: f must be a Factorization, got str
    """
    if not isinstance(f, Factorization):
        raise InputTypeError(f"f must be a Factorization, got {type(f).__name__}")
