"""A symmetric two-level cycle: smoothing with the exact matrix around a coarse correction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInputError
from ..factorization._rotations import Floats

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["largest_eigenvalue_bound", "smoothed"]

# What a Jacobi step is damped to, as a share of the bound on the largest eigenvalue: the best
# factor for the upper three quarters of the spectrum, and below 2, so that steps converge.
_DAMPING = 4.0 / 3.0


def smoothed(coarse: LinearOperator, matrix: Any, steps: int) -> LinearOperator:
    """Return `coarse` with `steps` damped Jacobi steps on `matrix` before and after it.

    With S the smoother, C the coarse operator and A the matrix this is
    ``S + S^T - S A S^T + (I - S A) C (I - A S^T)``: positive definite if A is and C is positive
    semidefinite, however far C is from the inverse of A, because the steps converge.

    Parameters
    ----------
    coarse : LinearOperator
        Positive semidefinite; roughly the inverse of `matrix`.
    matrix : ndarray or sparse array of shape (n, n)
        The matrix of the system, positive definite.
    steps : int
        Jacobi steps on either side; each is a product with the matrix, but for the first.

    Returns
    -------
    LinearOperator

    Examples
    --------
    >>> a = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> from scipy.sparse.linalg import LinearOperator
    >>> none = LinearOperator((2, 2), matvec=lambda r: 0.0 * r)
    >>> smoothed(none, a, steps=1) @ np.ones(2)
    array([0.69135802, 0.69135802])
    """
    from scipy.sparse.linalg import LinearOperator

    weights = _DAMPING / largest_eigenvalue_bound(matrix) / matrix.diagonal()

    def cycle(residual: Floats) -> Floats:
        right = np.asarray(residual, dtype=np.float64).reshape(-1)
        x: Floats = weights * right
        for _ in range(steps - 1):
            x += weights * (right - matrix @ x)
        x += coarse.matvec(right - matrix @ x)
        for _ in range(steps):
            x += weights * (right - matrix @ x)
        return x

    return LinearOperator(matrix.shape, matvec=cycle, rmatvec=cycle, dtype=np.float64)


def largest_eigenvalue_bound(matrix: Any) -> float:
    """Return a bound on the eigenvalues of ``D^-1 A``, D the diagonal of A (Gershgorin).

    Raises
    ------
    InvalidInputError
        If an entry of the diagonal is not positive: the matrix is not positive definite then.

    Examples
    --------
    >>> largest_eigenvalue_bound(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    1.5
    """
    diagonal = matrix.diagonal()
    least = float(diagonal.min())
    if least <= 0.0:
        raise InvalidInputError(
            f"the matrix is not positive definite: its diagonal holds {least:.3g} at row "
            f"{int(diagonal.argmin())}; give a larger shift"
        )
    return float((np.asarray(abs(matrix).sum(axis=1)).ravel() / diagonal).max())
