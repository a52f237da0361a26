"""How far wavelets reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..factorization import Factorization

__all__ = ["reach"]

# Rows of the basis at a time: memory stays proportional to n.
_ROWS = 256
# The basis leaves out what is no larger than this, and so does the count of it.
_NOISE = 1e-14


def reach(f: Factorization, share: float = 0.99) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the nodes of every wavelet and scaling function, in coordinate order.

    Parameters
    ----------
    f : Factorization
        Whose basis is looked at.
    share : float
        Part of the squared norm that the second count has to cover.

    Returns
    -------
    support : array of shape (n,)
        Nodes where the value is not zero.
    main : array of shape (n,)
        The fewest nodes that together have `share` of the squared norm.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> int(reach(f)[0].sum()) == f.basis_nonzeros
    True
    """
    support, main = np.zeros(f.n, np.int64), np.zeros(f.n, np.int64)
    for start in range(0, f.n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, f.n))
        unit = np.zeros((f.n, rows.size))
        unit[rows, np.arange(rows.size)] = 1.0
        sizes = np.abs(f.synthesize(unit))
        support[rows] = np.count_nonzero(sizes > _NOISE, axis=0)
        energy = np.cumsum(np.sort(sizes**2, axis=0)[::-1], axis=0)
        main[rows] = 1 + np.count_nonzero(energy < share * energy[-1], axis=0)
    return support, main
