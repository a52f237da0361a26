"""What a matrix must be: square, real, finite and symmetric."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputTypeError, InvalidInputError, WavemmfError
from ._memory import check_memory

__all__ = ["Matrix", "check_compressed", "check_matrix"]

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = "Floats | sp.csr_array"

# How far A may be from its transpose, relative to max|A|, and still count as symmetric up to
# rounding. Keyed by the precision in which the caller computed it.
_SYMMETRY_TOLERANCE = {2: 1e-2, 4: 1e-5}
_DEFAULT_TOLERANCE = 1e-10
_CSR_PARTS = ("indptr", "indices", "data")


def check_matrix(A: Any, symmetrize: bool = False) -> Matrix:
    """Return `A` as a symmetric float64 matrix, or explain why it is not one.

    Parameters
    ----------
    A : array_like or scipy sparse array or matrix, shape (n, n)
        Real, finite and symmetric. A deviation from symmetry of up to ``1e-10 * max|A|``
        (1e-5 for float32 input, 1e-2 for float16) is taken for rounding and averaged away.
    symmetrize : bool
        Replace `A` by ``(A + A.T) / 2`` however far it is from symmetric.

    Returns
    -------
    ndarray or csr_array, shape (n, n)
        Exactly symmetric. Dense: C-contiguous. Sparse: never densified; sorted, no
        duplicates, no stored zeros, int32 indices where they suffice. The input is not
        modified, but the result may share its memory: treat it as read-only.

    Raises
    ------
    InputTypeError, InvalidInputError
        With the first thing that is wrong, and where.

    Examples
    --------
    >>> check_matrix([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    """
    if not sp.issparse(A):
        A = _as_dense(A)
    _check_dtype(A.dtype)
    _check_shape(A.shape)
    tolerance = _SYMMETRY_TOLERANCE.get(_float_size(A.dtype), _DEFAULT_TOLERANCE)
    if sp.issparse(A):
        return _check_sparse(A, symmetrize, tolerance)
    return _check_dense(np.ascontiguousarray(A, dtype=np.float64), symmetrize, tolerance)


def check_compressed(matrix: Any) -> None:
    """Refuse a sparse array whose indices point outside of it: compiled code would crash.

    SciPy's own check skips row pointers that end at zero, whatever stands before.

    Examples
    --------
    >>> check_compressed(sp.csr_array(np.eye(2)))
    >>> check_compressed(sp.csr_array((np.ones(1), np.zeros(1, int), [0, 9, 0]), shape=(2, 2)))
    Traceback (most recent call last):
        ...
    ValueError: indptr must be a non-decreasing sequence
    """
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    if hasattr(matrix, "indptr") and (np.diff(matrix.indptr) < 0).any():
        raise ValueError("indptr must be a non-decreasing sequence")


def _as_dense(A: Any) -> NDArray[Any]:
    if isinstance(A, np.ma.MaskedArray) and np.ma.is_masked(A):
        raise InvalidInputError("the matrix has masked entries; fill them first")
    try:
        if hasattr(A, "__dlpack__") and not hasattr(A, "__array__"):
            return np.from_dlpack(A)
        return np.asarray(A)
    except WavemmfError:
        raise
    except ValueError as error:  # NumPy says so for rows of different lengths.
        raise InvalidInputError(f"the input is not a rectangular array: {error}") from error


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputTypeError(f"the matrix is complex ({dtype}); only real matrices are supported")
    if dtype.kind not in "fiub":
        raise InputTypeError(
            f"the entries have dtype {dtype}, which is not numeric; convert them to float first"
        )


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InvalidInputError(f"expected a matrix (2 dimensions), got an array of shape {shape}")
    if 0 in shape:
        raise InvalidInputError(f"the matrix is empty: its shape is {shape}")
    if shape[0] != shape[1]:
        raise InvalidInputError(f"the matrix must be square, got shape {shape}")


def _float_size(dtype: np.dtype[Any]) -> int:
    return dtype.itemsize if dtype.kind == "f" else 8


def _check_dense(A: Floats, symmetrize: bool, tolerance: float) -> Floats:
    finite = np.isfinite(A)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        _raise_not_finite(A[row, column], row, column, int(np.sum(~finite)))
    half_gap, row, column = _largest_dense_gap(A)
    if half_gap == 0.0:
        return A
    if not symmetrize:
        values = A[row, column], A[column, row]
        _check_gap(half_gap, values, (row, column), tolerance * float(np.abs(A).max()))
    # Halved before adding: the sum of two entries near 1e308 would overflow.
    return 0.5 * A + 0.5 * A.T


def _largest_dense_gap(A: Floats) -> tuple[float, int, int]:
    # Half the gap, again so that huge entries of opposite sign cannot overflow; by blocks of
    # rows, so that no second array of that size is made for a matrix that is symmetric already.
    n = len(A)
    rows = max(1, 4_000_000 // n)
    worst = (0.0, 0, 0)
    for start in range(0, n, rows):
        block = np.abs(0.5 * A[start : start + rows] - 0.5 * A[:, start : start + rows].T)
        place = int(block.argmax())
        if (gap := float(block.flat[place])) > worst[0]:
            worst = (gap, start + place // n, place % n)
    return worst


def _check_sparse(A: Any, symmetrize: bool, tolerance: float) -> sp.csr_array:
    n = A.shape[0]
    check_memory(8.0 * (n + 1), f"the row index of a sparse matrix of order {n}")
    A = _canonical_csr(A)
    bad = np.flatnonzero(~np.isfinite(A.data))
    if bad.size:
        _raise_not_finite(A.data[bad[0]], *_entry_position(A, bad[0]), bad.size)
    transposed = A.T.tocsr()  # Comes out sorted, so equal arrays mean equal matrices.
    if all(np.array_equal(getattr(A, part), getattr(transposed, part)) for part in _CSR_PARTS):
        return A
    gap = abs(0.5 * A - 0.5 * transposed).tocsr()
    if gap.nnz and not symmetrize:
        place = int(gap.data.argmax())
        row, column = _entry_position(gap, place)
        values = A[row, column], A[column, row]
        allowed = tolerance * float(np.abs(A.data).max())
        _check_gap(float(gap.data[place]), values, (row, column), allowed)
    return _canonical_csr(0.5 * A + 0.5 * transposed)


def _canonical_csr(A: Any) -> sp.csr_array:
    # A CSR input may be shared with the caller: copy before cleaning it up in place.
    csr = sp.csr_array(A, dtype=np.float64)
    try:
        check_compressed(csr)
    except ValueError as error:
        raise InvalidInputError(f"the sparse matrix is malformed: {error}") from error
    if not csr.has_canonical_format or np.count_nonzero(csr.data) < csr.data.size:
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    index_type = sp.get_index_dtype(maxval=max(csr.shape[0], csr.nnz))
    if csr.indices.dtype != index_type or csr.indptr.dtype != index_type:
        csr = sp.csr_array(
            (csr.data, csr.indices.astype(index_type), csr.indptr.astype(index_type)), csr.shape
        )
    return csr


def _entry_position(A: sp.csr_array, place: int) -> tuple[int, int]:
    row = int(np.searchsorted(A.indptr, place, side="right")) - 1
    return row, int(A.indices[place])


def _raise_not_finite(value: float, row: int, column: int, count: int) -> None:
    raise InvalidInputError(
        f"the matrix holds {count} entries that are NaN or infinite, the first one ({value}) "
        f"at row {row}, column {column}"
    )


def _check_gap(
    half_gap: float, values: tuple[float, float], place: tuple[int, int], allowed: float
) -> None:
    if half_gap <= 0.5 * allowed:
        return
    row, column = place
    raise InvalidInputError(
        f"the matrix is not symmetric: entry ({row}, {column}) is {float(values[0])!r} but "
        f"({column}, {row}) is {float(values[1])!r}, a difference of {2 * half_gap:.3g} "
        f"where {allowed:.3g} is allowed; wm.graphs.symmetric_part(A) gives (A + A.T) / 2"
    )
