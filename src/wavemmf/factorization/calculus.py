"""An approximation used as a matrix: inverses, powers, determinants, samples.

Everything is exact for the approximation M = W^T H W, and costs two transforms once the core is
decomposed. Nothing here knows how far M is from the matrix that was factorized.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..errors import InvalidInputError, SingularError
from ..validation import (
    as_generator,
    check_finite,
    check_integer,
    check_matrix,
    check_memory,
)
from .functions import Spectrum
from .history import History
from .norms import frobenius_norm
from .rotations import Floats, Integers, Rotations
from .smoothing import smoothed
from .solve import h_solver
from .transform import Signal, as_signal, transform_scratch

__all__ = ["Calculus"]

Self = TypeVar("Self", bound="Calculus")

# Entries of the core's rows of the basis that are made dense at a time.
_COLUMNS = 1_000_000
# Squared norms below this share of their terms are not computed as a difference.
_CANCELLED = 1e-6


class Calculus:
    """The part of `Factorization` that treats it as a matrix with a known spectrum."""

    if TYPE_CHECKING:  # what `Factorization` has, and the methods here use
        rotations: Rotations
        diagonal_of_h: Floats
        core: Any
        matrix_norm: float
        residual_norm: float
        error_is_exact: bool

        @property
        def n(self) -> int: ...  # noqa: D102
        @property
        def core_indices(self) -> Integers: ...  # noqa: D102
        def analyze(self, x: Any, out: Any = None) -> Signal: ...  # noqa: D102
        def synthesize(self, coefficients: Any, out: Any = None) -> Signal: ...  # noqa: D102
        def basis(self) -> Any: ...  # noqa: D102
        def as_linear_operator(self) -> LinearOperator: ...  # noqa: D102

    @cached_property
    def _spectrum(self) -> Spectrum:
        return Spectrum(self.diagonal_of_h, self.core, self.core_indices)

    # -- linear systems -----------------------------------------------------------------------

    def solve(self, b: npt.ArrayLike, shift: float = 0.0) -> Signal:
        """Solve ``(M + shift * I) x = b`` for the approximation M, exactly.

        Two transforms, a division, and a system of the size of the core; nothing is densified
        if the core is sparse.

        Parameters
        ----------
        b : array of shape (n,) or (n, m)
            Right-hand sides.
        shift : float
            Added to the diagonal, for example to make a Laplacian regular.

        Returns
        -------
        array of the shape of `b`

        Raises
        ------
        SingularError
            If the shifted approximation is singular to working precision.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> x = f.solve(np.arange(34.0), shift=0.1)
        >>> bool(np.allclose(f @ x + 0.1 * x, np.arange(34.0)))
        True
        """
        signal = as_signal(b, self.n)
        solver = h_solver(
            self.diagonal_of_h, self.core, self.core_indices, check_finite("shift", shift)
        )
        coefficients = self.analyze(signal).reshape(self.n, -1).astype(np.float64)
        return self.synthesize(solver(coefficients)).reshape(signal.shape).astype(signal.dtype)

    def preconditioner(
        self, shift: float = 0.0, matrix: Any = None, smooth: int = 1
    ) -> LinearOperator:
        """Return ``(|M| + shift * I)^-1`` as an operator, for `scipy.sparse.linalg.cg`.

        Conjugate gradients need a positive definite preconditioner, and an approximation of a
        positive semidefinite matrix may have slightly negative eigenvalues: their magnitudes
        are taken, and none smaller than a thousandth of the largest unless the shift makes it so.

        Parameters
        ----------
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
        wavemmf.preconditioner : chooses rotations for this purpose; better than those of A.

        Examples
        --------
        >>> import wavemmf as wm
        >>> from scipy.sparse.linalg import cg
        >>> a = wm.graphs.normalized_laplacian(wm.graphs.grid(12, 12)) + 0.01 * sp.eye_array(144)
        >>> f = wm.factorize(wm.graphs.grid(12, 12), core=20, k=4)
        >>> cg(a, np.ones(144), M=f.preconditioner(shift=0.01, matrix=a))[1]
        0
        """
        smooth = check_integer("smooth", smooth, 1)
        if check_finite("shift", shift) < 0.0:
            raise InvalidInputError(f"shift must be >= 0 for a preconditioner, got {shift!r}")
        largest = float(np.abs(self._spectrum.values).max(initial=0.0)) + shift
        if largest == 0.0:
            raise SingularError("the zero matrix is no preconditioner: give a shift")
        least = 1e-3 * largest if shift == 0.0 else 0.0
        inverse = self.apply(lambda values: 1.0 / np.maximum(np.abs(values) + shift, least))
        if matrix is None:
            return inverse.as_linear_operator()
        system = check_matrix(matrix)
        if system.shape != (self.n, self.n):
            raise InvalidInputError(
                f"matrix must have shape {(self.n, self.n)}, got {system.shape}"
            )
        return smoothed(inverse.as_linear_operator(), system, smooth)

    # -- functions of the matrix --------------------------------------------------------------

    def apply(self: Self, function: Callable[[Floats], Any]) -> Self:
        """Return f(M): the function of every eigenvalue, in the same eigenvectors.

        The result has the same rotations and another H. It is exact for the approximation: its
        `error()` is 0, which says nothing about the function of the original matrix.

        Parameters
        ----------
        function : callable
            Takes the eigenvalues as an array and returns as many real numbers, for example
            ``np.exp`` or ``lambda x: np.exp(-3 * x)`` (a heat kernel).

        Returns
        -------
        Factorization

        Raises
        ------
        SingularError
            If the function is not finite and real at an eigenvalue.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> heat = f.apply(lambda x: np.exp(-x))
        >>> import scipy.linalg
        >>> bool(np.allclose(heat.to_dense(), scipy.linalg.expm(-f.to_dense())))
        True
        """
        if not callable(function):
            raise InvalidInputError(
                f"apply takes a function of eigenvalues, got {type(function).__name__}"
            )
        diagonal, core = self._spectrum.apply(function)
        return replace(
            self,  # type: ignore[type-var]
            diagonal_of_h=diagonal,
            core=core,
            matrix_norm=_norm_of_h(diagonal, core, self.core_indices),
            residual_norm=0.0,
            error_is_exact=True,
            history=History(method="function of a factorization"),
        )

    def inv(self: Self) -> Self:
        """Return the inverse of the approximation.

        Raises
        ------
        SingularError
            If an eigenvalue is zero to working precision; see `shifted` and `pinv`.
        """
        self._spectrum.check_regular("the inverse")
        return self.apply(np.reciprocal)

    def pinv(self: Self, rcond: float = 1e-12) -> Self:
        """Return the pseudo-inverse; eigenvalues below ``rcond`` times the largest count as 0."""
        if not 0.0 <= rcond < 1.0:
            raise InvalidInputError(f"rcond must be at least 0 and below 1, got {rcond!r}")
        return self.apply(self._spectrum.inverted(rcond))

    def power(self: Self, p: float) -> Self:
        """Return the power p of the approximation; any real p if no eigenvalue is negative.

        Eigenvalues that are negative by rounding alone count as 0.

        Raises
        ------
        SingularError
            If p is negative and an eigenvalue is zero to working precision, or p is not an integer
            and an eigenvalue is negative.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4).shifted(1.0)
        >>> root = f.power(0.5)
        >>> bool(np.allclose(root @ (root @ np.eye(34)), f.to_dense()))
        True
        """
        exponent = check_finite("p", p)
        if exponent < 0.0:
            self._spectrum.check_regular("a negative power")
        if exponent.is_integer():
            return self.apply(lambda values: np.power(values, exponent))
        self._spectrum.check_not_negative(f"the power {exponent:g}")
        return self.apply(lambda values: np.power(np.maximum(values, 0.0), exponent))

    def shifted(self: Self, shift: float) -> Self:
        """Return the factorization of the matrix plus ``shift * I``, without factorizing again.

        This is how to follow a matrix whose diagonal is moved as a whole, and how to make a
        singular one regular. The error is the same, and so is the basis. If the shift cancels
        nearly all of a matrix whose error is a bound, `matrix_norm` is the least that is certain.

        Parameters
        ----------
        shift : float
            What is added to every entry of the diagonal; may be negative.

        Returns
        -------
        Factorization

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> g = f.shifted(2.0)
        >>> bool(np.allclose(g.to_dense(), f.to_dense() + 2.0 * np.eye(34)))
        True
        """
        s = check_finite("shift", shift)
        with np.errstate(over="ignore"):
            diagonal, core = self.diagonal_of_h + s, _shifted(self.core, s)
        if not (np.isfinite(diagonal).all() and np.isfinite(_entries(core)).all()):
            raise InvalidInputError(f"shift={shift!r} leaves the range of numbers")
        return replace(
            self,  # type: ignore[type-var]
            diagonal_of_h=diagonal,
            core=core,
            matrix_norm=self._shifted_norm(s, diagonal, core),
        )

    def _shifted_norm(self, s: float, diagonal: Floats, core: Any) -> float:
        """Return the norm of the matrix plus s I, or the least it can be."""
        # |A + s I|^2 = |A|^2 + 2 s trace(A) + n s^2, in units in which squares stay in range.
        unit = max(self.matrix_norm, abs(s)) or 1.0
        t = s / unit
        terms = (self.matrix_norm / unit) ** 2, 2.0 * t * (self.trace() / unit), self.n * t**2
        if sum(terms) > _CANCELLED * (terms[0] + terms[2]):
            return unit * math.sqrt(sum(terms))
        # Nearly everything cancels. The best H is orthogonal to what is dropped, so their squares
        # add up; if neither is known exactly, what is certain is the difference of their norms.
        kept = _norm_of_h(diagonal, core, self.core_indices)
        if self.error_is_exact:
            return math.hypot(kept, self.residual_norm)
        return max(kept - self.residual_norm, 0.0)

    # -- numbers ------------------------------------------------------------------------------

    def eigvalsh(self) -> Floats:
        """Return the eigenvalues of the approximation, ascending."""
        return np.sort(self._spectrum.values)

    def trace(self) -> float:
        """Return the trace of the approximation, which is that of the matrix."""
        return float(self.diagonal_of_h.sum())

    def diagonal(self) -> Floats:
        """Return the diagonal of the approximation.

        It takes the basis, not only a transform: its cost is the number of non-zeros in it.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> bool(np.allclose(f.diagonal(), np.diag(f.to_dense())))
        True
        """
        w = self.basis()
        fathers = w[self.core_indices]
        columns = max(1, _COLUMNS // max(1, self.core_indices.size))
        needed = 8 * w.nnz + 16 * fathers.nnz + 4 * 8 * max(_COLUMNS, self.core_indices.size)
        check_memory(needed, f"the diagonal, from a basis of {w.nnz} numbers")
        outside = self.diagonal_of_h.copy()
        outside[self.core_indices] = 0.0
        squared = sp.csr_array((w.data**2, w.indices, w.indptr), shape=w.shape)
        result = np.asarray(squared.T @ outside)
        inside = sp.csc_array(fathers)
        for first in range(0, self.n, columns):  # dense, but few columns at a time
            part = inside[:, first : first + columns].toarray()
            result[first : first + columns] += np.einsum("ij,ij->j", part, self.core @ part)
        return result

    def slogdet(self) -> tuple[float, float]:
        """Return the sign of the determinant and the logarithm of its magnitude, as NumPy does."""
        values = self._spectrum.values
        if (values == 0.0).any():
            return 0.0, -np.inf
        negative = int((values < 0.0).sum())
        return (-1.0 if negative % 2 else 1.0), float(np.log(np.abs(values)).sum())

    def logdet(self) -> float:
        """Return the logarithm of the determinant of a positive definite approximation.

        Raises
        ------
        SingularError
            If an eigenvalue is not positive; see `shifted` and `slogdet`.
        """
        least = float(self._spectrum.values.min(initial=np.inf))
        if least <= 0.0:
            raise SingularError(
                f"logdet needs positive eigenvalues, the smallest is {least:.3g}: shift the matrix "
                "first (shifted), or take slogdet"
            )
        return self.slogdet()[1]

    def sample(self, rng: Any = None, size: int | None = None) -> Floats:
        """Draw from the normal distribution whose covariance is the approximation.

        Parameters
        ----------
        rng : numpy Generator or seed
            Where the random numbers come from.
        size : int, optional
            How many samples; one vector by default.

        Returns
        -------
        array of shape (n,) or (size, n)

        Raises
        ------
        SingularError
            If the approximation has a negative eigenvalue.
        """
        count = 1 if size is None else check_integer("size", size, 0)
        needed = 5 * 8 * self.n * count + transform_scratch(self.n)
        check_memory(needed, f"{count} samples of {self.n} numbers")
        self._spectrum.check_not_negative("a sample")
        root = np.sqrt(np.maximum(self._spectrum.values, 0.0))
        noise = as_generator(rng).standard_normal((self.n, count))
        noise *= root[:, np.newaxis]
        vectors = self._spectrum.core_vectors
        noise[self.core_indices] = vectors @ noise[self.core_indices]
        drawn = np.ascontiguousarray(self.synthesize(noise).T, dtype=np.float64)
        return drawn[0] if size is None else drawn


def _shifted(core: Any, s: float) -> Any:
    size = core.shape[0]
    if sp.issparse(core):
        return core + s * sp.eye_array(size)
    check_memory(5 * 8 * size * size, f"another core of {size} rows")
    moved = np.array(core)
    moved[np.diag_indices(size)] += s
    return moved


def _entries(matrix: Any) -> Floats:
    return np.asarray(matrix.data if sp.issparse(matrix) else matrix)


def _norm_of_h(diagonal: Floats, core: Any, core_indices: Integers) -> float:
    outside = np.delete(diagonal, core_indices)
    return math.hypot(frobenius_norm(outside), frobenius_norm(core))
