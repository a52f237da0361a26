"""A factorization with its core diagonalised: every wavelet has a frequency and a level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..factorization import Factorization

__all__ = ["Diagonal", "diagonalized"]

Floats = npt.NDArray[np.float64]


class Diagonal(NamedTuple):
    """The frequencies and levels of all wavelets, and how those of the core are turned.

    Attributes
    ----------
    frequencies, levels : float arrays of shape (n,)
        As `wavemmf.nn.Basis` has them.
    vectors : float array of shape (core, core)
        Eigenvectors of the core, one per column.
    """

    frequencies: Floats
    levels: Floats
    vectors: Floats


def diagonalized(f: Factorization) -> Diagonal:
    """Diagonalise the core of a factorization.

    Examples
    --------
    >>> import wavemmf as wm
    >>> diagonalized(wm.factorize(wm.graphs.cycle(6), core=2, k=2)).vectors.shape
    (2, 2)
    """
    spectrum = f.h.spectrum
    levels = relative_levels(f.rotations.level_of)
    return Diagonal(spectrum.values.copy(), levels, spectrum.core_vectors.copy())


def relative_levels(levels: npt.ArrayLike) -> Floats:
    """Return levels counted from 1 as parts of the last; 0, which is the core, becomes 1.

    So graphs of different depths compare, and a wavelet has the same level in every batch.

    Examples
    --------
    >>> relative_levels([1, 2, 0])
    array([0.5, 1. , 1. ])
    """
    given = np.asarray(levels, dtype=np.float64)
    return np.where(given > 0, given / max(given.max(initial=0.0), 1.0), 1.0)
