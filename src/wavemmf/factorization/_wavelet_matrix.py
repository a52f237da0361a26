"""A matrix in a wavelet basis (appendix B.2 of the paper): W^T H W, with a fast transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._validation import as_generator, check_choice, check_integer, check_memory
from ..errors import InvalidFactorizationError, InvalidInputError, SingularError
from ._basis import basis_matrix, diagonal_of_product, rows_of_basis
from ._core_diagonal import CoreDiagonal
from ._fill import warn_of_large_basis
from ._like_matrix import LikeMatrix
from ._names import by_name, check_names
from ._rotations import Floats, Integers, Rotations
from ._symmetry import make_symmetric
from ._transform import Signal, as_signal, check_no_nan, transform, transform_scratch

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["WaveletMatrix"]


@dataclass(frozen=True, eq=False, repr=False)
class WaveletMatrix(LikeMatrix):
    r"""The symmetric matrix :math:`M = W^T H W`, W a product of rotations, H core-diagonal.

    Everything is exact for M, and costs two transforms once the core is decomposed.

    Parameters
    ----------
    rotations : Rotations
        Index sets and rotation blocks of all levels: W.
    h : CoreDiagonal
        H, with its core on ``rotations.core``.
    node_names : sequence of str, optional
        What the rows are called: pandas signals are put in order by it.

    Examples
    --------
    >>> rotations = Rotations.from_levels(2, [[0, 1]], [[[0.6, 0.8], [-0.8, 0.6]]], [[1]])
    >>> m = WaveletMatrix(rotations, CoreDiagonal([1.0, 2.0], [[1.0]], [0]))
    >>> m.eigvalsh(), bool(np.isclose(m.to_dense().trace(), m.trace()))
    (array([1., 2.]), True)
    """

    rotations: Rotations
    h: CoreDiagonal
    node_names: Sequence[str] | None = field(default=None, kw_only=True)

    # Let ``array @ matrix`` call __rmatmul__ instead of iterating over the array.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        if self.h.n != self.n or not np.array_equal(self.h.core_indices, self.rotations.core):
            raise InvalidFactorizationError(
                f"H has {self.h.n} rows and a core of {self.h.core_size}, which does not fit "
                f"rotations of {self.n} coordinates that leave a core of {self.rotations.core.size}"
            )
        object.__setattr__(self, "node_names", check_names(self.node_names, self.n))

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
        return self.h.core_size

    @property
    def core_indices(self) -> Integers:
        """Coordinates of the core, ascending."""
        return self.h.core_indices

    @property
    def core(self) -> Any:
        """The block of H on the core: an ndarray, or a csr_array if it is large."""
        return self.h.core

    @property
    def frequencies(self) -> Floats:
        """The diagonal of H: the frequency of every wavelet, in coordinate order."""
        return self.h.diagonal

    @property
    def stored_numbers(self) -> int:
        """Numbers needed to keep it: rotations, diagonal, and half of the symmetric core."""
        return self.rotations.blocks.size + self.h.stored_numbers

    @property
    def transform_multiplications(self) -> int:
        """Multiplications to analyze or synthesize one signal."""
        return self.rotations.multiplications

    @property
    def multiplications(self) -> int:
        """Multiplications for one product of the approximation with a vector."""
        return 2 * self.transform_multiplications + self.h.multiplications

    @cached_property
    def basis_nonzeros(self) -> int:
        """Non-zero entries of the basis matrix W."""
        return int(basis_matrix(self.rotations)[0].nnz)

    # -- the transform ------------------------------------------------------------------------

    def analyze(self, x: Any, out: Signal | None = None, *, allow_nan: bool = False) -> Any:
        """Return the wavelet coefficients ``W x``.

        Parameters
        ----------
        x : array of shape (n,) or (n, m), Series or DataFrame
            One signal or m of them; float32 is transformed in float32, all else in float64. The
            index of a Series or DataFrame must hold the name of every node (its number, if there
            are no `node_names`), in any order.
        out : ndarray, optional
            Where to write the result; shape of `x`, dtype of the result. May be `x` itself.
        allow_nan : bool
            Let NaN through, which spoils every coefficient that it reaches, instead of refusing it.

        Returns
        -------
        ndarray of the shape of `x`, or Series or DataFrame with the index of `x`
            The coefficient with the label of a node is that of the wavelet in whose place the
            node was dropped.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(np.ones((4, 4)), core=1, k=2)
        >>> int(np.count_nonzero(np.abs(f.analyze(np.ones(4))) > 1e-9))
        1
        """
        return self._transformed(x, out, allow_nan, forward=True)

    def synthesize(
        self, coefficients: Any, out: Signal | None = None, *, allow_nan: bool = False
    ) -> Any:
        """Return the signals ``W.T c``; the exact inverse of `analyze`.

        Parameters
        ----------
        coefficients : array of shape (n,) or (n, m), Series or DataFrame
            Wavelet coefficients in coordinate order, or labelled as `analyze` labels them.
        out : ndarray, optional
            Where to write the result.
        allow_nan : bool
            Let NaN through instead of refusing it.

        Returns
        -------
        ndarray of the shape of `coefficients`, or Series or DataFrame with their index

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.cycle(8), core=2, k=2)
        >>> c = np.eye(8)
        >>> bool(np.allclose(f.analyze(f.synthesize(c)), c))
        True
        """
        return self._transformed(coefficients, out, allow_nan, forward=False)

    def _transformed(self, x: Any, out: Signal | None, allow_nan: bool, forward: bool) -> Any:
        values, labelled = by_name(x, self.node_names, self.n)
        if out is not None and values is not x:
            raise InvalidInputError("out takes plain arrays: leave it out, or give x.to_numpy()")
        if not allow_nan:
            check_no_nan(values, self.node_names)
        return labelled(transform(self.rotations, values, out, forward))

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

        Warns
        -----
        LargeResultWarning
            Before it makes more than 50 million entries, with the number that is expected.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> sparse, lost = f.basis(threshold=0.01, return_discarded=True)
        >>> sparse.nnz <= f.basis().nnz and lost >= 0
        True
        """
        warn_of_large_basis(self.rotations)
        matrix, discarded = basis_matrix(self.rotations, threshold)
        return (matrix, discarded) if return_discarded else matrix

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
        rows = rows_of_basis(self.rotations, self.rotations.dropped(level))
        return rows[0] if len(rows) == 1 else rows

    def scaling_functions(self) -> Floats:
        """Return the scaling functions, one row per core coordinate, shape (d, n)."""
        return rows_of_basis(self.rotations, self.core_indices)

    # -- the matrix ---------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        """Return the product of the approximation with a vector (n,) or matrix (n, m)."""
        values, labelled = by_name(x, self.node_names, self.n)
        coefficients = self.analyze(as_signal(values, self.n), allow_nan=True)
        return labelled(self.synthesize(self.h @ coefficients, allow_nan=True))

    def __rmatmul__(self, x: npt.ArrayLike) -> Any:
        """Return ``x @ approximation``; the approximation is symmetric."""
        return (self @ np.asarray(x).T).T

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
        h = self.h.to_dense()
        half = self.synthesize(h, out=h)
        dense = np.ascontiguousarray(half.T)
        del h, half  # two of these arrays are enough
        return make_symmetric(self.synthesize(dense, out=dense))

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
        from scipy.sparse.linalg import LinearOperator

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

    def solve(self, b: Any, shift: float = 0.0) -> Any:
        """Solve ``(M + shift * I) x = b`` for the approximation M, exactly.

        Two transforms, a division, and a system of the size of the core; nothing is densified
        if the core is sparse.

        Parameters
        ----------
        b : array of shape (n,) or (n, m), Series or DataFrame
            Right-hand sides.
        shift : float
            Added to the diagonal, for example to make a Laplacian regular.

        Returns
        -------
        array of the shape of `b`, or Series or DataFrame with its index

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
        values, labelled = by_name(b, self.node_names, self.n)
        signal = as_signal(values, self.n)
        coefficients = self.analyze(signal).reshape(self.n, -1).astype(np.float64)
        solution = self.synthesize(self.h.solve(coefficients, shift), allow_nan=True)
        return labelled(solution.reshape(signal.shape).astype(signal.dtype))

    def eigvalsh(self) -> Floats:
        """Return the eigenvalues of the approximation, ascending."""
        return np.sort(self.h.spectrum.values)

    def trace(self) -> float:
        """Return the trace of the approximation, which is that of the matrix."""
        return self.h.trace()

    def diagonal(self) -> Floats:
        """Return the diagonal of the matrix.

        It takes the basis, not only a transform: its cost is the number of non-zeros in it.

        Examples
        --------
        >>> import wavemmf as wm
        >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        >>> bool(np.allclose(f.diagonal(), np.diag(f.to_dense())))
        True
        """
        return diagonal_of_product(basis_matrix(self.rotations)[0], self.h)

    def slogdet(self) -> tuple[float, float]:
        """Return the sign of the determinant and the logarithm of its magnitude, as NumPy does."""
        return self.h.slogdet()

    def logdet(self) -> float:
        """Return the logarithm of the determinant of a positive definite approximation.

        Raises
        ------
        SingularError
            If an eigenvalue is not positive; see `shifted` and `slogdet`.
        """
        least = float(self.h.spectrum.values.min(initial=np.inf))
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
        self.h.spectrum.check_not_negative("a sample")  # first of all: the core takes its own room
        noise = self.h.coloured(as_generator(rng).standard_normal((self.n, count)))
        drawn = np.ascontiguousarray(self.synthesize(noise).T, dtype=np.float64)
        return drawn[0] if size is None else drawn

    def __getstate__(self) -> dict[str, Any]:
        # What is derived can be computed again.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
