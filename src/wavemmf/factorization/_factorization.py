"""The result of a multiresolution matrix factorization (Definition 3 of the paper)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._validation import Matrix
from ..errors import InvalidFactorizationError, InvalidInputError
from ..graphs import as_matrix
from ._accuracy import warn_if_rough
from ._compress import compress_matrix
from ._core_diagonal import CoreDiagonal
from ._estimate import estimated_error
from ._history import History
from ._norms import frobenius_norm, relative_norm
from ._plain import plain
from ._pygsp_graph import to_pygsp
from ._rotations import Floats, Rotations
from ._rounded import round_h, round_rotations
from ._wavelet_matrix import WaveletMatrix

__all__ = ["Factorization"]

# Squared norms below this share of their terms are not computed as a difference.
_CANCELLED = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Factorization(WaveletMatrix):
    r"""A symmetric matrix as :math:`A \approx U_1^T \cdots U_L^T H U_L \cdots U_1`.

    Each :math:`U_\ell` rotates a few coordinates and is stored as a small orthogonal block; `H`
    is diagonal except for a block on the core coordinates. The rows of
    :math:`W = U_L \cdots U_1` are the wavelet basis. Objects are immutable; everything is
    checked once, at construction. Use `wavemmf.factorize` to compute one.

    Coefficients, frequencies and basis rows are in coordinate order: the wavelet that
    coordinate i was dropped as is row i, and the scaling functions are the rows `core_indices`.

    Functions, inverses and determinants are exact for the approximation :math:`M = W^T H W`, and
    cost two transforms once the core is decomposed. They know nothing of how far M is from A.

    Parameters
    ----------
    rotations : Rotations
        Index sets and rotation blocks of all levels: W.
    h : CoreDiagonal
        H, with its core on ``rotations.core``. Large cores are sparse.
    matrix_norm : float
        Frobenius norm of the factorized matrix.
    residual_norm : float
        Frobenius norm of the matrix minus its approximation, or a bound on it.
    history : History
        How it was computed.
    parameters : dict
        The settings it was computed with.
    error_is_exact : bool
        Whether `residual_norm` is the error itself; if not, the error is no larger than that.
    node_names : sequence of str, optional
        What the rows are called. Signals may be pandas Series and DataFrames: their rows are put in
        order by name, and results are labelled in the same way.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> x = np.arange(34.0)
    >>> bool(np.allclose(f.synthesize(f.analyze(x)), x))
    True
    """

    matrix_norm: float
    residual_norm: float
    history: History = field(default_factory=History)
    parameters: dict[str, Any] = field(default_factory=dict)
    error_is_exact: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("matrix_norm", "residual_norm"):
            value = float(getattr(self, name))
            if not (np.isfinite(value) and value >= 0.0):
                raise InvalidFactorizationError(f"{name} must be finite and >= 0, got {value}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "parameters", plain("parameters", self.parameters))
        object.__setattr__(self, "error_is_exact", bool(self.error_is_exact))

    @classmethod
    def from_rotations(
        cls,
        matrix: Matrix,
        rotations: Rotations,
        history: History | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> Factorization:
        """Compute the best H, and the exact error, for given rotations.

        Parameters
        ----------
        matrix : ndarray or csr_array of float64
            The symmetric matrix, as `wavemmf.graphs.as_matrix` returns it.
        rotations : Rotations
            The index sets and blocks.
        history, parameters
            Kept with the result.

        Returns
        -------
        Factorization
        """
        h, error = compress_matrix(matrix, rotations)
        norm = frobenius_norm(matrix)
        return cls(rotations, h, norm, error, history or History(), parameters or {})

    # -- what is known of the error -----------------------------------------------------------

    def error(self) -> float:
        """Return the Frobenius norm of the matrix minus its approximation.

        Exact up to rounding if `error_is_exact`, which all but the largest sparse matrices are;
        otherwise a guaranteed bound. `estimate_error` estimates the error itself.
        """
        return self.residual_norm

    def relative_error(self) -> float:
        """Return the error divided by the norm of the matrix (0 if both are)."""
        return relative_norm(self.residual_norm, self.matrix_norm)

    def estimate_error(
        self, A: Any, samples: int = 32, seed: int = 0, *, matrix: str | None = None
    ) -> tuple[float, float]:
        r"""Estimate the error from products with random signs (Hutchinson's estimator).

        Parameters
        ----------
        A : matrix, graph or path
            The matrix that was factorized; anything that `wavemmf.factorize` takes.
        samples : int
            Number of random vectors z; the mean of :math:`\|(A - W^T H W) z\|^2` estimates the
            squared error.
        seed : int
            Seed of the random signs.
        matrix : str, optional
            Which matrix of a graph was factorized, as for `wavemmf.factorize`.

        Returns
        -------
        estimate, standard_error : float
            The estimated Frobenius error, and the standard error of that.

        Examples
        --------
        >>> import wavemmf as wm
        >>> a = wm.graphs.normalized_laplacian(wm.graphs.grid(12, 12))
        >>> f = wm.factorize(a, core=20, k=4)
        >>> estimate, spread = f.estimate_error(a, samples=64)
        >>> abs(estimate - f.error()) < 4 * spread
        True
        """
        given: Any = as_matrix(A, matrix=matrix)
        if given.shape != self.shape:
            raise InvalidInputError(f"A must have shape {self.shape}, got {given.shape}")
        return estimated_error(self, given, samples, seed)

    @property
    def optimized_in_parts(self) -> bool:
        """Whether the parts of a large matrix were optimised each on its own."""
        return self.history.method.endswith(" in parts")

    def __repr__(self) -> str:
        k = int(self.rotations.sizes.max(initial=0))
        parts = f", optimized={self.history.method!r}" if self.optimized_in_parts else ""
        return (
            f"Factorization(n={self.n}, levels={self.num_levels}, k={k}, core={self.core_size}, "
            f"relative_error={self.relative_error():.4g}, stored_numbers={self.stored_numbers}"
            f"{parts})"
        )

    # -- what takes an accurate approximation --------------------------------------------------

    def solve(self, b: Any, shift: float = 0.0) -> Any:
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

        Warns
        -----
        AccuracyWarning
            If M is so far from the matrix that the solution says little about that of the matrix;
            the message has the relative error that is to be expected.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> x = f.solve(np.arange(34.0), shift=0.1)
        >>> bool(np.allclose(f @ x + 0.1 * x, np.arange(34.0)))
        True
        """
        solution = super().solve(b, shift)
        warn_if_rough(self.h, self.residual_norm, float(shift), "solve")
        return solution

    def logdet(self) -> float:
        """Return the logarithm of the determinant of a positive definite approximation.

        Raises
        ------
        SingularError
            If an eigenvalue is not positive; see `shifted` and `slogdet`.

        Warns
        -----
        AccuracyWarning
            As for `solve`.
        """
        result = super().logdet()
        warn_if_rough(self.h, self.residual_norm, 0.0, "logdet")
        return result

    # -- other matrices in the same basis -----------------------------------------------------

    def apply(self, function: Callable[[Floats], Any]) -> Factorization:
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
        return self._function(self.h.apply(function))

    def inv(self) -> Factorization:
        """Return the inverse of the approximation; see `shifted` and `pinv` if it is singular."""
        return self._function(self.h.inv())

    def pinv(self, rcond: float = 1e-12) -> Factorization:
        """Return the pseudo-inverse; eigenvalues below ``rcond`` times the largest count as 0."""
        return self._function(self.h.pinv(rcond))

    def power(self, p: float) -> Factorization:
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
        return self._function(self.h.power(p))

    def _function(self, h: CoreDiagonal) -> Factorization:
        history = History(method="function of a factorization")
        return replace(
            self, h=h, matrix_norm=h.norm(), residual_norm=0.0, history=history, error_is_exact=True
        )

    def shifted(self, shift: float) -> Factorization:
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
        h = self.h.shifted(shift)
        return replace(self, h=h, matrix_norm=self._shifted_norm(float(shift), h))

    def _shifted_norm(self, s: float, h: CoreDiagonal) -> float:
        """Return the norm of the matrix plus s I, or the least it can be."""
        # |A + s I|^2 = |A|^2 + 2 s trace(A) + n s^2, in units in which squares stay in range.
        unit = max(self.matrix_norm, abs(s)) or 1.0
        t = s / unit
        terms = (self.matrix_norm / unit) ** 2, 2.0 * t * (self.trace() / unit), self.n * t**2
        if sum(terms) > _CANCELLED * (terms[0] + terms[2]):
            return unit * math.sqrt(sum(terms))
        # Nearly everything cancels. The best H is orthogonal to what is dropped, so their squares
        # add up; if neither is known exactly, what is certain is the difference of their norms.
        if self.error_is_exact:
            return math.hypot(h.norm(), self.residual_norm)
        return max(h.norm() - self.residual_norm, 0.0)

    def rounded(
        self, A: Any, digits: str = "float32", *, matrix: str | None = None
    ) -> Factorization:
        """Return a factorization that takes less room in a file, and what that costs.

        Levels are rounded to single precision or to 16 bits and made orthogonal again, so they are
        rotations as exact as before; H is computed anew from the matrix and rounded to single
        precision. What a file holds is what was rounded, and loading it gives the same numbers.

        Parameters
        ----------
        A : matrix, graph or path
            What was factorized: the error is computed from it, and is exact.
        digits : {"float32", "int16"}
            What levels are rounded to.
        matrix : str, optional
            As for `wavemmf.factorize`.

        Returns
        -------
        Factorization

        Raises
        ------
        InvalidInputError
            If this is a factorization of another matrix.

        Examples
        --------
        >>> import wavemmf as wm
        >>> graph = wm.graphs.karate()
        >>> f = wm.factorize(graph, core=8, k=16, rotations="compact")
        >>> bool(f.rounded(graph, "int16").error() < 1.01 * f.error())
        True
        """
        symmetric = as_matrix(A, matrix=matrix)
        norm = frobenius_norm(symmetric)
        if symmetric.shape[0] != self.n or not math.isclose(norm, self.matrix_norm, rel_tol=1e-9):
            raise InvalidInputError(
                f"this is a factorization of another matrix: of {self.n} rows and norm "
                f"{self.matrix_norm:.6g}, not of {symmetric.shape[0]} rows and norm {norm:.6g}"
            )
        rotations = round_rotations(self.rotations, digits)
        exact = self.from_rotations(symmetric, rotations, self.history, self.parameters)
        h, apart = round_h(exact.h)
        # The best H is orthogonal to what is dropped, so the squares add up.
        error = math.hypot(exact.residual_norm, apart)
        return replace(exact, h=h, residual_norm=error, node_names=self.node_names)

    # -- elsewhere ----------------------------------------------------------------------------

    def to_pygsp(self, graph: Any) -> Any:
        """Return the graph for PyGSP with this basis as its Fourier basis (extra ``pygsp``).

        Filter banks of PyGSP are functions of a Laplacian, and with ``method="exact"`` they are
        applied through the graph's eigenvectors. Here these are the wavelets and the eigenvectors
        of the core, sorted by frequency, so that a filter g gives ``self.apply(g)``; its error is
        that of the approximation. PyGSP keeps the basis as a dense array.

        Parameters
        ----------
        graph : Graph, adjacency matrix, or anything else that `as_matrix` reads
            The graph whose normalized or combinatorial Laplacian was factorized.

        Returns
        -------
        pygsp.graphs.Graph

        Raises
        ------
        InvalidInputError
            If this is a factorization of another matrix.

        Examples
        --------
        >>> import wavemmf as wm
        >>> graph = wm.graphs.karate()
        >>> seen = wm.factorize(graph, core=8, k=4).to_pygsp(graph)
        >>> from pygsp.filters import Itersine
        >>> Itersine(seen, Nf=6).analyze(np.ones(34), method="exact").shape
        (34, 6)
        """
        return to_pygsp(self, graph, self.matrix_norm)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the arrays in a file of it, indices included."""
        from ._storage import stored

        return sum(array.nbytes for array in stored(self)[1].values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, whole or not at all; read it back with `wavemmf.load`.

        Examples
        --------
        >>> import tempfile, pathlib, wavemmf as wm
        >>> f = wm.factorize(wm.graphs.cycle(8), core=2, k=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     f.save(pathlib.Path(folder) / "cycle.mmf")
        ...     wm.load(pathlib.Path(folder) / "cycle.mmf")
        Factorization(n=8, levels=6, k=2, core=2, relative_error=..., stored_numbers=33)
        """
        from ._storage import save

        save(self, path)
