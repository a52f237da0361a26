"""A preconditioner from a factorization that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_finite, check_integer, check_matrix
from ..errors import InvalidInputError, SingularError
from ..factorization import Factorization
from ._smoothing import smoothed

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["from_factorization"]


def from_factorization(
    f: Factorization, shift: float = 0.0, matrix: Any = None, smooth: int = 1
) -> LinearOperator:
    """Return ``(|M| + shift * I)^-1`` of an approximation M, for `scipy.sparse.linalg.cg`.

    Conjugate gradients need a positive definite preconditioner, and an approximation of a
    positive semidefinite matrix may have slightly negative eigenvalues: their magnitudes
    are taken, and none smaller than a thousandth of the largest unless the shift makes it so.

    Parameters
    ----------
    f : Factorization
        The approximation.
    shift : float
        What was added to the diagonal of the matrix of the system; not negative.
    matrix : ndarray or sparse array, optional
        The matrix of the system itself, with the shift, positive definite. If given, Jacobi
        steps with it come before and after, which saves more iterations than they cost.
    smooth : int
        How many steps, at least 1; each application takes ``2 * smooth`` products with
        `matrix`.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator

    See Also
    --------
    preconditioner : chooses rotations for this purpose; better than those of A.

    Examples
    --------
    >>> import scipy.sparse as sp, wavemmf as wm
    >>> from scipy.sparse.linalg import cg
    >>> a = wm.graphs.normalized_laplacian(wm.graphs.grid(12, 12)) + 0.01 * sp.eye_array(144)
    >>> f = wm.factorize(wm.graphs.grid(12, 12), core=20, k=4)
    >>> cg(a, np.ones(144), M=from_factorization(f, shift=0.01, matrix=a))[1]
    0
    """
    smooth = check_integer("smooth", smooth, 1)
    if check_finite("shift", shift) < 0.0:
        raise InvalidInputError(f"shift must be >= 0 for a preconditioner, got {shift!r}")
    largest = float(np.abs(f.h.spectrum.values).max(initial=0.0)) + shift
    if largest == 0.0:
        raise SingularError("the zero matrix is no preconditioner: give a shift")
    least = 1e-3 * largest if shift == 0.0 else 0.0
    inverse = f.apply(lambda values: 1.0 / np.maximum(np.abs(values) + shift, least))
    if matrix is None:
        return inverse.as_linear_operator()
    system = check_matrix(matrix)
    if system.shape != f.shape:
        raise InvalidInputError(f"matrix must have shape {f.shape}, got {system.shape}")
    return smoothed(inverse.as_linear_operator(), system, smooth)
