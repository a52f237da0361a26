"""What is wrong with signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from ..factorization._transform import as_signal

__all__ = ["as_signals"]


def as_signals(x: Any, n: int) -> npt.NDArray[np.float64]:
    """Return one signal (n,) or m of them (n, m) as finite float64.

    Examples
    --------
    >>> as_signals([1, 2], 2)
    array([1., 2.])
    """
    signals = as_signal(x, n).astype(np.float64, copy=False)
    wrong = np.argwhere(~np.isfinite(signals))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        raise InvalidInputError(f"signals must be finite, but entry {place} is {signals[place]}")
    return signals
