"""Other ways to approximate a matrix, Nyström's among them as in section 7.1 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._validation import check_integer, check_memory
from .factorization._norms import frobenius_norm, relative_norm
from .graphs import as_matrix
from .kernels.givens import jacobi_iteration

__all__ = ["Approximation", "nystrom", "truncated_eigh", "truncated_jacobi"]

Floats = npt.NDArray[np.float64]

_NUMBER = 8  # bytes of a number


@dataclass(frozen=True, eq=False)
class Approximation:
    """A symmetric approximation and what it costs, comparable with a `Factorization`.

    Attributes
    ----------
    method : str
        What made it.
    dense : array, n by n
        The approximation.
    matrix_norm, residual_norm : float
        Frobenius norms of the matrix and of the difference.
    stored_numbers : int
        Numbers needed to keep it.
    multiplications : int
        Multiplications for one product with a vector.
    basis_nonzeros : int
        Non-zero entries of its basis.
    stored_bytes : int
        Bytes of those numbers and of the indices that go with them.
    """

    method: str
    dense: Floats
    matrix_norm: float
    residual_norm: float
    stored_numbers: int
    multiplications: int
    basis_nonzeros: int
    stored_bytes: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.dense)

    def error(self) -> float:
        """Return the Frobenius norm of the matrix minus the approximation."""
        return self.residual_norm

    def relative_error(self) -> float:
        """Return the error divided by the norm of the matrix (0 if both are)."""
        return relative_norm(self.residual_norm, self.matrix_norm)

    def to_dense(self) -> Floats:
        """Return the approximation as an array."""
        return self.dense

    def __matmul__(self, x: npt.ArrayLike) -> Floats:
        """Return the product with a vector or matrix."""
        return np.asarray(self.dense @ np.asarray(x), dtype=np.float64)


def nystrom(A: Any, core: int, seed: int = 0) -> Approximation:
    r"""Approximate by the Nyström method, :math:`A \approx C W^+ C^T`.

    `C` are `core` columns drawn uniformly without replacement, `W` the rows of C with the same
    indices; the inverse is the pseudo-inverse.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts.
    core : int
        Number of columns.
    seed : int
        Seed of the draw.

    Returns
    -------
    Approximation

    Examples
    --------
    >>> nystrom(np.ones((5, 5)), 1).error()
    0.0
    """
    import scipy.linalg

    matrix = _dense(A)
    n = len(matrix)
    core = check_integer("core", core, 0, n)
    chosen = np.sort(np.random.default_rng(seed).choice(n, core, replace=False))
    columns = matrix[:, chosen]
    # pinvh drops eigenvalues that are zero up to rounding, as a rank-deficient W requires
    inverse = scipy.linalg.pinvh(columns[chosen]) if core else np.zeros((0, 0))
    return _approximation(
        "nystrom",
        matrix,
        columns @ inverse @ columns.T,
        stored_numbers=n * core,
        multiplications=2 * n * core + core * core,
        basis_nonzeros=int(np.count_nonzero(columns)),
        stored_bytes=_NUMBER * n * core + _index_bytes(n) * core,
    )


def truncated_eigh(A: Any, core: int) -> Approximation:
    """Keep the `core` eigenpairs of largest magnitude: the best approximation of that rank.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts.
    core : int
        Number of eigenpairs.

    Returns
    -------
    Approximation

    Examples
    --------
    >>> round(truncated_eigh(np.diag([3.0, 2.0, -1.0]), 2).error(), 12)
    1.0
    """
    matrix = _dense(A)
    n = len(matrix)
    core = check_integer("core", core, 0, n)
    values, vectors = np.linalg.eigh(matrix)
    kept = np.argsort(-np.abs(values), kind="stable")[:core]
    basis = vectors[:, kept]
    return _approximation(
        "truncated_eigh",
        matrix,
        (basis * values[kept]) @ basis.T,
        stored_numbers=n * core + core,
        multiplications=2 * n * core + core,
        basis_nonzeros=int(np.count_nonzero(np.abs(basis) > 1e-14)),
        stored_bytes=_NUMBER * (n * core + core),
    )


def truncated_jacobi(A: Any, rotations: int) -> Approximation:
    r"""Approximate by a truncated Jacobi iteration, :math:`A \approx V \Lambda V^T`.

    `V` is a product of `rotations` Givens rotations, each of which makes the largest entry off the
    diagonal zero. It is kept as two numbers for each, its cosine and its sine.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts.
    rotations : int
        Number of Givens rotations, at most; none is left to be made of a diagonal matrix.

    Returns
    -------
    Approximation

    Examples
    --------
    >>> b = truncated_jacobi([[1.0, 2.0, 0.0], [2.0, 1.0, 0.5], [0.0, 0.5, 1.0]], 1)
    >>> round(b.error(), 12), b.stored_numbers, b.multiplications
    (0.707106781187, 5, 11)
    """
    matrix = _dense(A)
    n = len(matrix)
    rotations = check_integer("rotations", rotations, 1)
    # Entries are compared and squared: they should be around one.
    scale = 2.0 ** np.floor(np.log2(np.abs(matrix).max(initial=0.0) or 1.0))
    rotated, basis = matrix / scale, np.eye(n)
    made = jacobi_iteration(rotated, basis, rotations)
    return _approximation(
        "truncated_jacobi",
        matrix,
        (basis.T * (scale * rotated.diagonal())) @ basis,
        stored_numbers=2 * made + n,
        multiplications=8 * made + n,
        basis_nonzeros=int(np.count_nonzero(np.abs(basis) > 1e-14)),
        stored_bytes=_NUMBER * (2 * made + n) + _index_bytes(n) * 2 * made,
    )


def _index_bytes(n: int) -> int:
    return np.min_scalar_type(max(n - 1, 0)).itemsize


def _dense(A: Any) -> Floats:
    matrix: Any = as_matrix(A)
    n = matrix.shape[0]
    check_memory(5 * 8 * n * n, f"a dense baseline on {n} rows")
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)


def _approximation(method: str, matrix: Floats, dense: Floats, **costs: int) -> Approximation:
    dense = 0.5 * dense + 0.5 * dense.T
    return Approximation(
        method, dense, frobenius_norm(matrix), frobenius_norm(matrix - dense), **costs
    )
