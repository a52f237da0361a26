"""H: the matrix in the wavelet basis, diagonal but for its core (Definition 2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_finite, check_memory
from ..errors import InvalidFactorizationError, InvalidInputError, SingularError
from ._norms import frobenius_norm
from ._rotations import Floats, Integers
from ._spectrum import SINGULAR, Spectrum
from ._symmetry import asymmetry, make_symmetric
from ._transform import Signal

__all__ = ["CoreDiagonal"]

# Largest difference between numbers that must agree, as a share of the largest entry.
_AGREE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class CoreDiagonal:
    """A symmetric matrix that is diagonal but for a block on a few coordinates, its core.

    Sums, products, functions and inverses with it cost n operations and what they cost on the
    core. A function of it is core-diagonal again, on the same core. Immutable, and checked
    once, at construction.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The whole diagonal, also at the core: the frequencies of the wavelets.
    core : array or sparse array of shape (d, d)
        The block, symmetric.
    core_indices : int array of shape (d,)
        The coordinates of the core, ascending.

    Examples
    --------
    >>> h = CoreDiagonal([5.0, 2.0, 2.0], [[2.0, 1.0], [1.0, 2.0]], [1, 2])
    >>> h @ np.ones(3)
    array([5., 3., 3.])
    >>> np.round(h.power(2).to_dense(), 12)
    array([[25.,  0.,  0.],
           [ 0.,  5.,  4.],
           [ 0.,  4.,  5.]])
    """

    diagonal: Floats
    core: Any
    core_indices: Integers

    # Let ``array @ h`` fail instead of iterating over the array.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        indices = np.array(self.core_indices, np.int64)
        if not sp.issparse(self.core):
            check_memory(2 * 8 * indices.size**2, f"a core of {indices.size} rows")
        object.__setattr__(self, "core_indices", indices)
        object.__setattr__(self, "diagonal", _own_floats(self.diagonal, "the diagonal of H"))
        object.__setattr__(self, "core", _own_floats(self.core, "the core"))
        self._check()
        self._freeze()

    def _check(self) -> None:
        indices, core = self.core_indices, self.core
        n = self.diagonal.size
        if self.diagonal.ndim != 1 or core.shape != (indices.size, indices.size):
            raise InvalidFactorizationError(
                f"H must have a diagonal of shape (n,) and a core of shape {(indices.size,) * 2}, "
                f"got {self.diagonal.shape} and {core.shape}"
            )
        if indices.size and (
            indices[0] < 0 or indices[-1] >= n or not (np.diff(indices) > 0).all()
        ):
            raise InvalidFactorizationError(f"core_indices must ascend within 0..{n - 1}")
        largest = max(_largest(core), _largest(self.diagonal))
        apart = _largest(core - core.T) if sp.issparse(core) else asymmetry(core)
        if apart > _AGREE * largest:
            raise InvalidFactorizationError("the core block is not symmetric")
        if _largest(self.diagonal[indices] - core.diagonal()) > _AGREE * largest:
            raise InvalidFactorizationError("the core's diagonal differs from that of H")

    # -- what it is ---------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.diagonal.size

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return (self.n, self.n)

    @property
    def core_size(self) -> int:
        """Number of coordinates in the core."""
        return self.core_indices.size

    @property
    def stored_numbers(self) -> int:
        """Numbers needed to keep it: the diagonal and half of the symmetric core."""
        d = self.core_size
        core = int(sp.triu(self.core).nnz) if sp.issparse(self.core) else d * (d + 1) // 2
        return self.n - d + core

    @property
    def multiplications(self) -> int:
        """Multiplications for one product with a vector."""
        core = int(self.core.nnz) if sp.issparse(self.core) else self.core_size**2
        return self.n - self.core_size + core

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self.core) else "dense"
        return f"CoreDiagonal(n={self.n}, core={self.core_size}, {kind})"

    def norm(self) -> float:
        """Return the Frobenius norm."""
        outside = np.delete(self.diagonal, self.core_indices)
        return math.hypot(frobenius_norm(outside), frobenius_norm(self.core))

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.diagonal.sum())

    def to_sparse(self) -> sp.csr_array:
        """Return it as a sparse array in coordinate order.

        Examples
        --------
        >>> import wavemmf as wm
        >>> h = wm.factorize(wm.graphs.cycle(6), core=2, k=2).h.to_sparse()
        >>> h.shape, h.nnz <= 6 + 2
        ((6, 6), True)
        """
        entries = self.core.nnz if sp.issparse(self.core) else self.core.size
        check_memory(96 * (entries + self.n), f"H with a core of {entries} entries")
        where = np.delete(np.arange(self.n), self.core_indices)
        core = sp.coo_array(self.core)
        rows = np.concatenate([where, self.core_indices[core.coords[0]]])
        columns = np.concatenate([where, self.core_indices[core.coords[1]]])
        data = np.concatenate([self.diagonal[where], core.data])
        h = sp.csr_array((data, (rows, columns)), shape=self.shape)
        h.eliminate_zeros()
        return h

    def to_dense(self) -> Floats:
        """Return it as a dense array."""
        check_memory(2 * 8 * self.n * self.n, f"a dense {self.n} by {self.n} matrix")
        dense = np.diag(self.diagonal)
        dense[np.ix_(self.core_indices, self.core_indices)] = self._dense_core()
        return dense

    # -- products and systems -----------------------------------------------------------------

    def __matmul__(self, x: Signal) -> Signal:
        """Return the product with a vector (n,) or matrix (n, m), in the dtype of that."""
        column = (self.n,) + (1,) * (x.ndim - 1)
        result = x * self.diagonal.astype(x.dtype).reshape(column)
        result[self.core_indices] = self.core.astype(x.dtype, copy=False) @ x[self.core_indices]
        return result

    def solve(self, c: Floats, shift: float = 0.0) -> Floats:
        """Solve ``(H + shift * I) y = c`` for the columns of c, of shape (n, m).

        Raises
        ------
        SingularError
            If the shifted matrix is singular to working precision.

        Examples
        --------
        >>> h = CoreDiagonal([2.0, 4.0], [[4.0]], [1])
        >>> h.solve(np.array([[2.0], [8.0]])).ravel()
        array([1., 2.])
        """
        s = check_finite("shift", shift)
        shifted = self.diagonal + s
        largest = float(np.abs(shifted).max(initial=0.0))
        smallest = float(np.abs(np.delete(shifted, self.core_indices)).min(initial=np.inf))
        if smallest <= SINGULAR * largest:
            raise _singular(f"a wavelet has frequency {smallest:.3g}", s)
        solve_core = self._core_solver(s, largest)
        # Zeros on the diagonal of the core do no harm: their quotients are overwritten.
        with np.errstate(divide="ignore", invalid="ignore"):
            solution = c / shifted[:, np.newaxis]
        solution[self.core_indices] = solve_core(c[self.core_indices])
        return solution

    def _core_solver(self, shift: float, largest: float) -> Callable[[Floats], Floats]:
        if self.core_size == 0:
            return np.copy
        if sp.issparse(self.core):
            from scipy.sparse.linalg import splu

            try:
                factors = splu(sp.csc_matrix(self.core + shift * sp.eye_array(self.core_size)))
            except RuntimeError as error:  # what SuperLU raises for exact zeros
                raise _singular("the core is singular", shift) from error
            if np.abs(factors.U.diagonal()).min() <= SINGULAR * largest:
                raise _singular("the core is singular", shift)
            return lambda c: np.asarray(factors.solve(np.ascontiguousarray(c)))
        values = self.spectrum.values[self.core_indices] + shift
        vectors = self.spectrum.core_vectors
        if np.abs(values).min() <= SINGULAR * max(largest, float(np.abs(values).max())):
            raise _singular("the core is singular", shift)
        return lambda c: np.asarray(vectors @ ((vectors.T @ c) / values[:, np.newaxis]))

    # -- functions ----------------------------------------------------------------------------

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues, and eigenvectors of the core: computed once, the only place where."""
        size = self.core_size
        check_memory(4 * 8 * size * size, f"the eigenvectors of a core of {size} rows")
        core_values, core_vectors = np.linalg.eigh(self._dense_core())
        values = self.diagonal.copy()
        values[self.core_indices] = core_values
        for array in (values, core_vectors):
            array.setflags(write=False)
        return Spectrum(values, core_vectors)

    def apply(self, function: Callable[[Floats], Any]) -> CoreDiagonal:
        """Return f(H): the function of every eigenvalue, in the same eigenvectors.

        Raises
        ------
        SingularError
            If the function is not finite and real at an eigenvalue.
        """
        diagonal = self.spectrum.mapped(function)
        size = self.core_size
        check_memory(5 * 8 * size * size, f"a function of a core of {size} rows")
        vectors = self.spectrum.core_vectors
        core = make_symmetric((vectors * diagonal[self.core_indices]) @ vectors.T)
        diagonal[self.core_indices] = core.diagonal()
        return CoreDiagonal(diagonal, core, self.core_indices)

    def inv(self) -> CoreDiagonal:
        """Return the inverse."""
        self.spectrum.check_regular("the inverse")
        return self.apply(np.reciprocal)

    def pinv(self, rcond: float = 1e-12) -> CoreDiagonal:
        """Return the pseudo-inverse; eigenvalues below ``rcond`` times the largest count as 0."""
        if not 0.0 <= rcond < 1.0:
            raise InvalidInputError(f"rcond must be at least 0 and below 1, got {rcond!r}")
        return self.apply(self.spectrum.inverted(rcond))

    def power(self, p: float) -> CoreDiagonal:
        """Return the power p; any real p if no eigenvalue is negative beyond rounding."""
        exponent = check_finite("p", p)
        if exponent < 0.0:
            self.spectrum.check_regular("a negative power")
        if exponent.is_integer():
            return self.apply(lambda values: np.power(values, exponent))
        self.spectrum.check_not_negative(f"the power {exponent:g}")
        return self.apply(lambda values: np.power(np.maximum(values, 0.0), exponent))

    def shifted(self, shift: float) -> CoreDiagonal:
        """Return H plus ``shift * I``."""
        s = check_finite("shift", shift)
        with np.errstate(over="ignore"):
            diagonal, core = self.diagonal + s, _shifted(self.core, s)
        if not (np.isfinite(diagonal).all() and np.isfinite(_entries(core)).all()):
            raise InvalidInputError(f"shift={shift!r} leaves the range of numbers")
        return CoreDiagonal(diagonal, core, self.core_indices)

    def scaled(self, factor: float) -> CoreDiagonal:
        """Return H times a number."""
        return CoreDiagonal(self.diagonal * factor, self.core * factor, self.core_indices)

    def with_dense_core(self) -> CoreDiagonal:
        """Return the same matrix, its core as an ndarray."""
        return CoreDiagonal(self.diagonal, self._dense_core(), self.core_indices)

    def coloured(self, noise: Floats) -> Floats:
        """Turn white noise, in place, into noise with this matrix as its covariance.

        No eigenvalue may be negative; those that are by rounding count as 0.
        """
        noise *= np.sqrt(np.maximum(self.spectrum.values, 0.0))[:, np.newaxis]
        noise[self.core_indices] = self.spectrum.core_vectors @ noise[self.core_indices]
        return noise

    def slogdet(self) -> tuple[float, float]:
        """Return the sign of the determinant and the logarithm of its magnitude, as NumPy does."""
        values = self.spectrum.values
        if (values == 0.0).any():
            return 0.0, -np.inf
        negative = int((values < 0.0).sum())
        return (-1.0 if negative % 2 else 1.0), float(np.log(np.abs(values)).sum())

    # -- keeping it ---------------------------------------------------------------------------

    def _dense_core(self) -> Floats:
        return self.core.toarray() if sp.issparse(self.core) else np.asarray(self.core)

    def _freeze(self) -> None:
        sparse = sp.issparse(self.core)
        parts = (self.core.data, self.core.indices, self.core.indptr) if sparse else (self.core,)
        for array in (self.diagonal, self.core_indices, *parts):
            array.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        # The spectrum is not taken along: it can be computed again.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._freeze()


def _own_floats(values: Any, name: str) -> Any:
    """Return a private copy in float64; sparse stays sparse."""
    copy: Any = (
        sp.csr_array(values, dtype=np.float64, copy=True)
        if sp.issparse(values)
        else np.array(values, np.float64)
    )
    if not np.isfinite(_entries(copy)).all():
        raise InvalidFactorizationError(f"{name} holds NaN or infinite values")
    return copy


def _entries(matrix: Any) -> Floats:
    return np.asarray(matrix.data if sp.issparse(matrix) else matrix)


def _largest(values: Any) -> float:
    entries = _entries(values)
    return float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))


def _shifted(core: Any, s: float) -> Any:
    size = core.shape[0]
    if sp.issparse(core):
        return core + s * sp.eye_array(size)
    check_memory(5 * 8 * size * size, f"another core of {size} rows")
    moved = np.array(core)
    moved[np.diag_indices(size)] += s
    return moved


def _singular(what: str, shift: float) -> SingularError:
    return SingularError(
        f"{what} with shift={shift:g}: give another shift to solve (A + shift I) x = b instead, or "
        "take pinv() @ b for the least-squares solution"
    )
