"""The result of a multiresolution matrix factorization (Definition 3 of the paper)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..errors import InvalidFactorizationError, InvalidInputError
from ..graphs import as_matrix
from ..kernels.basis import basis_rows
from ..validation import Matrix, check_choice, check_integer, check_memory
from .calculus import Calculus
from .compress import compress
from .estimate import estimated_error
from .fill import check_basis_memory
from .history import History
from .norms import frobenius_norm, relative_norm
from .plain import plain
from .pygsp_graph import to_pygsp
from .rotations import Floats, Integers, Rotations
from .symmetry import asymmetry, make_symmetric
from .transform import Signal, as_signal, transform, transform_scratch

__all__ = ["Factorization", "register_refiner"]

# Optimisation lives in a higher layer, which registers itself here.
_refiners: list[Callable[..., Any]] = []

# Entries of the basis up to this size are rounding noise of rows of unit length.
_NOISE = 1e-14


@dataclass(frozen=True, eq=False, repr=False)
class Factorization(Calculus):
    r"""A symmetric matrix as :math:`A \approx U_1^T \cdots U_L^T H U_L \cdots U_1`.

    Each :math:`U_\ell` rotates a few coordinates and is stored as a small orthogonal block; `H`
    is diagonal except for a dense block on the core coordinates. The rows of
    :math:`W = U_L \cdots U_1` are the wavelet basis. Objects are immutable; everything is
    checked once, at construction. Use `wavemmf.factorize` to compute one.

    Coefficients, frequencies and basis rows are in coordinate order: the wavelet that
    coordinate i was dropped as is row i, and the scaling functions are the rows `core_indices`.

    Parameters
    ----------
    rotations : Rotations
        Index sets and rotation blocks of all levels.
    diagonal_of_h : array of shape (n,)
        The diagonal of H.
    core : array or csr_array of shape (d, d)
        The block of H on ``rotations.core``; symmetric. Large cores are sparse.
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

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> x = np.arange(34.0)
    >>> bool(np.allclose(f.synthesize(f.analyze(x)), x))
    True
    """

    rotations: Rotations
    diagonal_of_h: Floats
    core: Any
    matrix_norm: float
    residual_norm: float
    history: History = field(default_factory=History)
    parameters: dict[str, Any] = field(default_factory=dict)
    error_is_exact: bool = True

    # Let ``array @ factorization`` call __rmatmul__ instead of iterating over the array.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        size = self.rotations.core.size
        if not sp.issparse(self.core):
            check_memory(2 * 8 * size * size, f"a core of {size} rows")
        for name, shape in (("diagonal_of_h", (self.n,)), ("core", (size, size))):
            values = _frozen_floats(getattr(self, name), name)
            if values.shape != shape:
                raise InvalidFactorizationError(
                    f"{name} must have shape {shape} to fit the rotations, got {values.shape}"
                )
            object.__setattr__(self, name, values)
        self._check_core()
        for name in ("matrix_norm", "residual_norm"):
            value = float(getattr(self, name))
            if not (np.isfinite(value) and value >= 0.0):
                raise InvalidFactorizationError(f"{name} must be finite and >= 0, got {value}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "parameters", plain("parameters", self.parameters))
        object.__setattr__(self, "error_is_exact", bool(self.error_is_exact))

    def _check_core(self) -> None:
        largest = max(_largest(self.core), _largest(self.diagonal_of_h))
        core = self.core
        apart = _largest(core - core.T) if sp.issparse(core) else asymmetry(core)
        if apart > 1e-9 * largest:
            raise InvalidFactorizationError("the core block is not symmetric")
        own = self.diagonal_of_h[self.core_indices]
        if _largest(own - self.core.diagonal()) > 1e-9 * largest:
            raise InvalidFactorizationError("the core's diagonal differs from that of H")

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
        diagonal, core, error = compress(matrix, rotations)
        return cls(
            rotations,
            diagonal,
            core,
            frobenius_norm(matrix),
            error,
            history or History(),
            parameters or {},
        )

    # -- what it is ---------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of rows of the matrix."""
        return self.rotations.n

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return (self.n, self.n)

    @property
    def num_levels(self) -> int:
        """Number of levels L."""
        return self.rotations.num_levels

    @property
    def core_size(self) -> int:
        """Number of coordinates in the core."""
        return self.core_indices.size

    @property
    def core_indices(self) -> Integers:
        """Coordinates of the core, ascending."""
        return self.rotations.core

    @property
    def frequencies(self) -> Floats:
        """The diagonal of H: the frequency of every wavelet, in coordinate order."""
        return self.diagonal_of_h

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
        estimate : float
            The estimated Frobenius error.
        standard_error : float
            Its standard error.

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
    def stored_numbers(self) -> int:
        """Numbers needed to keep it: rotation blocks, diagonal, and half of the symmetric core."""
        d = self.core_size
        core = int(sp.triu(self.core).nnz) if sp.issparse(self.core) else d * (d + 1) // 2
        return self.rotations.blocks.size + (self.n - d) + core

    @property
    def transform_multiplications(self) -> int:
        """Multiplications to analyze or synthesize one signal."""
        return self.rotations.blocks.size

    @property
    def multiplications(self) -> int:
        """Multiplications for one product of the approximation with a vector."""
        d = self.core_size
        core = int(self.core.nnz) if sp.issparse(self.core) else d * d
        return 2 * self.transform_multiplications + (self.n - d) + core

    @cached_property
    def basis_nonzeros(self) -> int:
        """Non-zero entries of the basis matrix W."""
        return int(self.basis().nnz)

    def __repr__(self) -> str:
        k = int(self.rotations.sizes.max(initial=0))
        return (
            f"Factorization(n={self.n}, levels={self.num_levels}, k={k}, core={self.core_size}, "
            f"relative_error={self.relative_error():.4g}, stored_numbers={self.stored_numbers})"
        )

    # -- the transform ------------------------------------------------------------------------

    def analyze(self, x: npt.ArrayLike, out: Signal | None = None) -> Signal:
        """Return the wavelet coefficients ``W x``.

        Parameters
        ----------
        x : array of shape (n,) or (n, m)
            One signal or m of them; float32 is transformed in float32, all else in float64.
        out : ndarray, optional
            Where to write the result; shape of `x`, dtype of the result. May be `x` itself.

        Returns
        -------
        ndarray of the shape of `x`

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(np.ones((4, 4)), core=1, k=2)
        >>> int(np.count_nonzero(np.abs(f.analyze(np.ones(4))) > 1e-9))
        1
        """
        return transform(self.rotations, x, out, forward=True)

    def synthesize(self, coefficients: npt.ArrayLike, out: Signal | None = None) -> Signal:
        """Return the signals ``W.T c``; the exact inverse of `analyze`.

        Parameters
        ----------
        coefficients : array of shape (n,) or (n, m)
            Wavelet coefficients in coordinate order.
        out : ndarray, optional
            Where to write the result.

        Returns
        -------
        ndarray of the shape of `coefficients`

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.cycle(8), core=2, k=2)
        >>> c = np.eye(8)
        >>> bool(np.allclose(f.analyze(f.synthesize(c)), c))
        True
        """
        return transform(self.rotations, coefficients, out, forward=False)

    # -- the matrix ---------------------------------------------------------------------------

    def __matmul__(self, x: npt.ArrayLike) -> Signal:
        """Return the product of the approximation with a vector (n,) or matrix (n, m)."""
        coefficients = self.analyze(as_signal(x, self.n))
        return self.synthesize(self._apply_h(coefficients))

    def __rmatmul__(self, x: npt.ArrayLike) -> Signal:
        """Return ``x @ approximation``; the approximation is symmetric."""
        return (self @ np.asarray(x).T).T

    def _apply_h(self, coefficients: Signal) -> Signal:
        shape = (self.n,) + (1,) * (coefficients.ndim - 1)
        result = coefficients * self.diagonal_of_h.astype(coefficients.dtype).reshape(shape)
        core = self.core.astype(coefficients.dtype, copy=False)
        result[self.core_indices] = core @ coefficients[self.core_indices]
        return result

    def h_matrix(self) -> sp.csr_array:
        """Return H, diagonal but for the core block, as a sparse array in coordinate order.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.cycle(6), core=2, k=2)
        >>> h = f.h_matrix()
        >>> h.shape, h.nnz <= 6 + 2
        ((6, 6), True)
        """
        entries = self.core.nnz if sp.issparse(self.core) else self.core.size
        check_memory(96 * (entries + self.n), f"H with a core of {entries} entries")
        where = np.delete(np.arange(self.n), self.core_indices)
        core = sp.coo_array(self.core)
        rows = np.concatenate([where, self.core_indices[core.coords[0]]])
        columns = np.concatenate([where, self.core_indices[core.coords[1]]])
        data = np.concatenate([self.diagonal_of_h[where], core.data])
        h = sp.csr_array((data, (rows, columns)), shape=self.shape)
        h.eliminate_zeros()
        return h

    def to_dense(self) -> Floats:
        """Return the approximation as a dense array.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(np.diag([1.0, 2.0, 3.0]), core=0, k=2)
        >>> f.to_dense()
        array([[1., 0., 0.],
               [0., 2., 0.],
               [0., 0., 3.]])
        """
        check_memory(3 * 8 * self.n * self.n, f"a dense {self.n} by {self.n} matrix")
        h = np.diag(self.diagonal_of_h)
        core = self.core.toarray() if sp.issparse(self.core) else self.core
        h[np.ix_(self.core_indices, self.core_indices)] = core
        half = self.synthesize(h, out=h)
        dense = np.ascontiguousarray(half.T)
        del h, half  # two of these arrays are enough
        return make_symmetric(self.synthesize(dense, out=dense))  # type: ignore[arg-type]

    def as_linear_operator(self, part: str = "matrix") -> LinearOperator:
        """Return a SciPy LinearOperator with a true adjoint.

        Parameters
        ----------
        part : {"matrix", "transform"}
            The approximation itself (its own adjoint), or the basis W, whose adjoint is
            `synthesize`.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> w = f.as_linear_operator("transform")
        >>> x = np.ones(34)
        >>> bool(np.allclose(w.H @ (w @ x), x))
        True
        """
        check_choice("part", part, ("matrix", "transform"))
        if part == "matrix":
            forward = backward = self.__matmul__
        else:
            forward, backward = self.analyze, self.synthesize
        return LinearOperator(
            shape=self.shape,
            dtype=np.float64,
            matvec=lambda x: forward(np.asarray(x).reshape(self.n)),
            rmatvec=lambda x: backward(np.asarray(x).reshape(self.n)),
            matmat=forward,
            rmatmat=backward,
        )

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
        return to_pygsp(self, graph)

    # -- the basis ----------------------------------------------------------------------------

    def basis(self, threshold: float = 0.0, return_discarded: bool = False) -> Any:
        """Return the basis W as a sparse array, one wavelet or scaling function per row.

        Parameters
        ----------
        threshold : float
            Leave out entries of this magnitude or less (rounding noise is always left out).
        return_discarded : bool
            Also return the Frobenius norm of what was left out, to judge the threshold.

        Returns
        -------
        csr_array of shape (n, n), or the pair (csr_array, float)

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> sparse, lost = f.basis(threshold=0.01, return_discarded=True)
        >>> sparse.nnz <= f.basis().nnz and lost >= 0
        True
        """
        if not (np.isreal(threshold) and threshold >= 0):
            raise InvalidInputError(f"threshold must be >= 0, got {threshold!r}")
        r = self.rotations
        check_basis_memory(r)
        indptr, indices, data, discarded = basis_rows(
            self.n, r.offsets, r.groups, r.block_offsets, r.blocks, max(float(threshold), _NOISE)
        )
        matrix = sp.csr_array((data, indices, indptr), shape=self.shape)
        matrix.sort_indices()
        return (matrix, float(np.sqrt(discarded))) if return_discarded else matrix

    def wavelet(self, level: int) -> Floats:
        """Return the wavelet of a 1-based level, shape (n,), or (c, n) if the level drops c > 1.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> round(float(np.linalg.norm(f.wavelet(1))), 12)
        1.0
        """
        level = check_integer("level", level, 1, self.num_levels)
        rows = self._rows(self.rotations.dropped(level))
        return rows[0] if len(rows) == 1 else rows

    def scaling_functions(self) -> Floats:
        """Return the scaling functions, one row per core coordinate, shape (d, n)."""
        return self._rows(self.core_indices)

    def _rows(self, coordinates: Integers) -> Floats:
        needed = 4 * 8 * self.n * coordinates.size + transform_scratch(self.n)
        check_memory(needed, f"{coordinates.size} rows of the basis of {self.n} coordinates")
        unit = np.zeros((self.n, coordinates.size))
        unit[coordinates, np.arange(coordinates.size)] = 1.0
        return np.ascontiguousarray(self.synthesize(unit).T)

    # -- improving it -------------------------------------------------------------------------

    def refine(self, A: Any, optimize: str = "lbfgs", **settings: Any) -> Factorization:
        """Optimise all rotations together for the matrix `A`; the index sets stay.

        Parameters
        ----------
        A : matrix, graph or path
            The matrix that was factorized.
        optimize : {"lbfgs", "cayley", "sgd", "adam"}
            The optimiser.
        **settings
            ``steps``, ``tolerance``, ``smoothness``, ``callback``, ``checkpoint`` and the others
            of `wavemmf.refine.refine`.

        Returns
        -------
        Factorization
            Never worse than this one.

        Examples
        --------
        >>> import wavemmf as wm
        >>> graph = wm.graphs.cayley_tree(3, 3)
        >>> f = wm.factorize(graph, core=4, k=4)
        >>> f.refine(graph, steps=20).error() <= f.error()
        True
        """
        refined: Factorization = _refiners[-1](self, A, optimize, **settings)
        return refined

    # -- keeping it ---------------------------------------------------------------------------

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
        from .storage import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            _freeze(value)
            object.__setattr__(self, name, value)


def _freeze(values: Any) -> None:
    """Let nobody write to an array or a sparse array; leave everything else."""
    sparse = sp.issparse(values)
    for array in (values.data, values.indices, values.indptr) if sparse else (values,):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)


def _frozen_floats(values: Any, name: str) -> Any:
    """Return a private copy in float64 that cannot be written to; sparse stays sparse."""
    sparse = sp.issparse(values)
    copy: Any = (
        sp.csr_array(values, dtype=np.float64, copy=True)
        if sparse
        else np.array(values, np.float64)
    )
    if not np.isfinite(copy.data if sparse else copy).all():
        raise InvalidFactorizationError(f"{name} holds NaN or infinite values")
    _freeze(copy)
    return copy


def _largest(values: Any) -> float:
    entries = values.data if sp.issparse(values) else values
    return float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))


def register_refiner(function: Callable[..., Factorization]) -> None:
    """Let `Factorization.refine` call `function`."""
    _refiners.append(function)
