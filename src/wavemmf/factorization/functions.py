"""Functions of the approximation: f(W^T H W) = W^T f(H) W, and f(H) is core-diagonal again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..errors import InvalidInputError, SingularError
from ..validation import check_memory
from .rotations import Floats, Integers

__all__ = ["Spectrum"]

# Eigenvalues smaller than this share of the largest count as zero, in every function.
_SINGULAR = 1e-12


class Spectrum:
    """The eigenvalues of H, and the eigenvectors of its core block.

    H is diagonal outside the core, so its eigenvalues are the frequencies of the wavelets and
    those of the core. One decomposition of the core serves all functions.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The diagonal of H.
    core : array or sparse array of shape (d, d)
        Its core block.
    core_indices : int array of shape (d,)
        Where the core block sits.

    Examples
    --------
    >>> spectrum = Spectrum(np.array([4.0, 1.0]), np.array([[1.0]]), np.array([1]))
    >>> spectrum.apply(np.sqrt)[0]
    array([2., 1.])
    """

    def __init__(self, diagonal: Floats, core: Any, core_indices: Integers) -> None:
        size = core.shape[0]
        check_memory(4 * 8 * size * size, f"the eigenvectors of a core of {size} rows")
        dense = core.toarray() if sp.issparse(core) else np.asarray(core)
        self.core_indices = core_indices
        self.core_values, self.core_vectors = scipy.linalg.eigh(dense)
        #: Eigenvalue of every wavelet; at core coordinates those of the core, ascending.
        self.values = diagonal.copy()
        self.values[core_indices] = self.core_values

    def apply(self, function: Callable[[Floats], Any]) -> tuple[Floats, Floats]:
        """Return diagonal and core of ``function(H)``; the function maps eigenvalues to numbers."""
        with np.errstate(all="ignore"):
            mapped = np.asarray(function(self.values.copy()))
        if mapped.shape != self.values.shape:
            raise InvalidInputError(
                f"the function must return one value for each of {self.values.size} eigenvalues, "
                f"got shape {mapped.shape}"
            )
        if np.iscomplexobj(mapped) or not np.isfinite(mapped).all():
            bad = self.values[~np.isfinite(mapped) | (np.imag(mapped) != 0.0)]
            raise SingularError(
                f"the function has no finite real value at {bad.size} of {self.values.size} "
                f"eigenvalues, such as {bad.flat[0] if bad.size else np.nan:.3g}; shift the matrix "
                "first (shifted), or take pinv"
            )
        size = self.core_values.size
        check_memory(5 * 8 * size * size, f"a function of a core of {size} rows")
        diagonal = mapped.astype(np.float64)
        core = (self.core_vectors * diagonal[self.core_indices]) @ self.core_vectors.T
        core = 0.5 * (core + core.T)
        diagonal[self.core_indices] = core.diagonal()
        return diagonal, core

    def check_regular(self, what: str) -> None:
        """Raise if an eigenvalue is zero to working precision."""
        sizes = np.abs(self.values)
        largest = float(sizes.max(initial=0.0))
        if float(sizes.min(initial=np.inf)) <= _SINGULAR * largest:
            raise SingularError(
                f"{what} needs a regular matrix, but its smallest eigenvalue is "
                f"{sizes.min():.3g} (the largest {largest:.3g}): shift it first (shifted), or take "
                "pinv"
            )

    def check_not_negative(self, what: str) -> None:
        """Raise if an eigenvalue is negative beyond rounding; those within are to count as 0."""
        least = float(self.values.min(initial=0.0))
        largest = float(np.abs(self.values).max(initial=0.0))
        if least < -_SINGULAR * largest:
            raise SingularError(
                f"{what} needs a matrix without negative eigenvalues, but the smallest is "
                f"{least:.3g}: shift it first (shifted)"
            )

    def inverted(self, rcond: float) -> Callable[[Floats], Floats]:
        """Return the function that inverts eigenvalues, and leaves out those below a share."""
        least = rcond * float(np.abs(self.values).max(initial=0.0))

        def invert(values: Floats) -> Floats:
            there = np.abs(values) > least
            return np.divide(1.0, values, out=np.zeros_like(values), where=there)

        return invert
