"""A factorization with its core diagonalised: every wavelet has a frequency and a level."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization import Factorization
from ..validation import check_memory

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
    d = f.core_size
    check_memory(4 * 8 * d * d, f"the eigenvectors of a core of {d} rows")
    core: Any = f.core.toarray() if sp.issparse(f.core) else np.asarray(f.core)
    values, vectors = np.linalg.eigh(core)
    frequencies = f.frequencies.copy()
    frequencies[f.core_indices] = values
    levels = relative_levels(f.rotations.level_of)
    return Diagonal(frequencies, levels, np.ascontiguousarray(vectors))


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
