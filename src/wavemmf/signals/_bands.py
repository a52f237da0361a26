"""Wavelets of about the same scale, put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..factorization import Factorization
from ._check import check_factorization

__all__ = ["bands"]


def bands(f: Factorization) -> NDArray[np.int64]:
    """Return for every coefficient the band of its wavelet: 0 is the finest, -1 the core.

    Wavelets are put into bands in the order in which they were dropped: while it lasts, each band
    takes half of the coordinates that are left. A band is to a graph what an octave is to a line.

    Parameters
    ----------
    f : Factorization
        Whose wavelets.

    Returns
    -------
    array of shape (n,)
        In coordinate order, as coefficients are.

    Examples
    --------
    >>> import wavemmf as wm
    >>> np.bincount(bands(wm.wavelets(wm.graphs.cycle(16), core=2)) + 1)
    array([2, 8, 4, 2])
    """
    check_factorization(f)
    found = np.full(f.n, -1, np.int64)
    dropped = f.rotations.wavelets
    first, left, band = 0, f.n, 0
    while first < dropped.size:
        last = min(dropped.size, first + (left + 1) // 2)
        found[dropped[first:last]] = band
        left -= last - first
        first, band = last, band + 1
    return found
