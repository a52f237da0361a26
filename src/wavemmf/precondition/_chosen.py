"""A preconditioner of a matrix: rotations chosen for what iterations find hard.

A factorization is good where entries are large, and conjugate gradients are slow where eigenvalues
are small. So the rotations are chosen for a matrix that has the same eigenvectors, and large
eigenvalues where the matrix of the system has small ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._factorize import factorize
from .._validation import check_finite, check_integer, check_memory
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..graphs import as_matrix
from ._smoothing import largest_eigenvalue_bound, smoothed

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["preconditioner"]

# Powers are taken as long as a product costs no more multiplications than this for every row.
_MULTIPLICATIONS_PER_ROW = 512


def preconditioner(
    A: Any,
    core: int | float | None = None,
    k: int = 4,
    *,
    shift: float = 0.0,
    matrix: str | None = None,
    power: int = 4,
    smooth: int = 1,
) -> LinearOperator:
    r"""Return a preconditioner of ``A + shift * I`` for `scipy.sparse.linalg.cg`.

    With :math:`N = D^{-1/2} (A + s I) D^{-1/2}`, D the diagonal, rotations are chosen for
    :math:`(I - N / \lambda)^p`, where :math:`\lambda` bounds the eigenvalues of N: what is smooth
    for N is large there. The inverse of N in their basis, diagonal but for the core, corrects
    between Jacobi steps with the matrix itself. The result is symmetric positive definite.

    Parameters
    ----------
    A : matrix, graph or path
        Whatever `factorize` takes; ``A + shift * I`` must be positive definite.
    core, k : int
        As in `factorize`.
    shift : float
        What is added to the diagonal.
    matrix : str, optional
        Which matrix of a graph is meant, as in `factorize`.
    power : int
        The power p, at least 1. Larger powers take longer to set up and save iterations; no more
        are taken than the sparsity of A allows.
    smooth : int
        Jacobi steps before and after the correction. Each application takes ``2 * smooth``
        products with the matrix; 0 leaves the steps out.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator

    Raises
    ------
    InvalidInputError
        For input or settings that are not allowed, such as a diagonal that is not positive.

    See Also
    --------
    from_factorization : the same steps around a factorization that exists.

    Examples
    --------
    >>> import wavemmf as wm
    >>> from scipy.sparse.linalg import cg
    >>> grid = wm.graphs.grid(12, 12)
    >>> a = wm.graphs.laplacian(grid) + 0.01 * sp.eye_array(144)
    >>> cg(a, np.ones(144), M=preconditioner(a))[1]
    0
    """
    from scipy.sparse.linalg import LinearOperator

    power = check_integer("power", power, 1)
    smooth = check_integer("smooth", smooth, 0)
    shift = check_finite("shift", shift)
    plain = as_matrix(A, matrix=matrix)
    n = plain.shape[0]
    system = plain + shift * (sp.eye_array(n, format="csr") if sp.issparse(plain) else np.eye(n))
    bound = largest_eigenvalue_bound(system)
    scale = 1.0 / np.sqrt(system.diagonal())
    normalized = _scaled(system, scale)
    engine = "sparse" if sp.issparse(system) else "dense"
    chosen = factorize(_diffusion(normalized, bound, power), core, k, engine=engine)
    inverse = _inverse(Factorization.from_rotations(normalized, chosen.rotations))
    correction = LinearOperator(
        system.shape,
        matvec=lambda r: scale * (inverse @ (scale * np.asarray(r).reshape(n))),
        rmatvec=lambda r: scale * (inverse @ (scale * np.asarray(r).reshape(n))),
        dtype=np.float64,
    )
    return smoothed(correction, system, smooth) if smooth else correction


def _inverse(normalized: Factorization) -> Factorization:
    # H consists of diagonal blocks of W N W^T, so it is positive definite if N is.
    least = float(normalized.eigvalsh()[0])
    if least <= 0.0:
        raise InvalidInputError(
            f"the matrix is not positive definite: relative to its diagonal it has an eigenvalue "
            f"of at most {least:.3g}; give a larger shift"
        )
    return normalized.inv()


def _scaled(system: Any, scale: Any) -> Any:
    if sp.issparse(system):
        wings = sp.diags_array(scale)
        return sp.csr_array(wings @ system @ wings)
    return scale[:, np.newaxis] * system * scale


def _diffusion(normalized: Any, bound: float, power: int) -> Any:
    """Return ``(I - N / bound) ** power``, or a lower power if rows fill up before."""
    n = normalized.shape[0]
    if not sp.issparse(normalized):
        check_memory(3 * 8 * n * n, f"powers of a dense matrix of {n} rows")
        step = np.eye(n) - normalized / bound
        result = np.linalg.matrix_power(step, power)
        return 0.5 * (result + result.T)
    step = sp.csr_array(sp.eye_array(n) - normalized / bound)
    row_lengths = np.diff(step.indptr)
    result = step
    for _ in range(power - 1):
        if int(row_lengths[result.indices].sum()) > _MULTIPLICATIONS_PER_ROW * n:
            break
        result = sp.csr_array(result @ step)
    return 0.5 * (result + result.T)
