"""The eigenvalues of H, and what functions of a matrix ask of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInputError, SingularError
from ._rotations import Floats

__all__ = ["SINGULAR", "Spectrum"]

#: Eigenvalues smaller than this share of the largest count as zero, in every function.
SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues in coordinate order, and the eigenvectors of the core.

    Attributes
    ----------
    values : array of shape (n,)
        The frequency of every wavelet; at core coordinates the eigenvalues of the core, ascending.
    core_vectors : array of shape (d, d)
        The eigenvectors of the core, one per column.

    Examples
    --------
    >>> Spectrum(np.array([4.0, 1.0]), np.eye(1)).mapped(np.sqrt)
    array([2., 1.])
    """

    values: Floats
    core_vectors: Floats

    def mapped(self, function: Callable[[Floats], Any]) -> Floats:
        """Return the function of every eigenvalue, which must be a real number."""
        if not callable(function):
            raise InvalidInputError(
                f"apply takes a function of eigenvalues, got {type(function).__name__}"
            )
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
        return mapped.astype(np.float64)

    def check_regular(self, what: str) -> None:
        """Raise if an eigenvalue is zero to working precision."""
        sizes = np.abs(self.values)
        largest = float(sizes.max(initial=0.0))
        if float(sizes.min(initial=np.inf)) <= SINGULAR * largest:
            raise SingularError(
                f"{what} needs a regular matrix, but its smallest eigenvalue is "
                f"{sizes.min():.3g} (the largest {largest:.3g}): shift it first (shifted), or take "
                "pinv"
            )

    def check_not_negative(self, what: str) -> None:
        """Raise if an eigenvalue is negative beyond rounding; those within are to count as 0."""
        least = float(self.values.min(initial=0.0))
        largest = float(np.abs(self.values).max(initial=0.0))
        if least < -SINGULAR * largest:
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
