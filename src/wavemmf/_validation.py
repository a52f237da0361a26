"""Check what the user gave before any work starts, and say exactly what is wrong with it."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._suggest import did_you_mean
from .errors import InputTypeError, InvalidInputError, TooLargeError, WavemmfError

__all__ = [
    "Matrix",
    "as_generator",
    "check_choice",
    "check_compressed",
    "check_finite",
    "check_integer",
    "check_matrix",
    "check_memory",
    "check_mmf_parameters",
    "check_named",
    "check_not_negative",
    "check_positive",
    "core_size",
]

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = "Floats | sp.csr_array"

# How far A may be from its transpose, relative to max|A|, and still count as symmetric up to
# rounding. Keyed by the precision in which the caller computed it.
_SYMMETRY_TOLERANCE = {2: 1e-2, 4: 1e-5}
_DEFAULT_TOLERANCE = 1e-10
_CSR_PARTS = ("indptr", "indices", "data")
# The variable that limits memory, and what is not worth asking the system for: thousands of small
# matrices would wait for its answers.
_LIMIT = "WAVEMMF_MAX_MEMORY"
_ALWAYS_THERE = 2**20


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


def check_integer(
    name: str, value: Any, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return `value` as an int within the bounds; True, 8.0 and "8" are not integers.

    Examples
    --------
    >>> check_integer("k", np.int64(8), minimum=2)
    8
    >>> check_integer("k", 1, minimum=2)
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: k must be an integer at least 2, got 1
    """
    bounds = [f"at least {minimum}"] * (minimum is not None)
    bounds += [f"at most {maximum}"] * (maximum is not None)
    allowed = " ".join(["an integer", " and ".join(bounds)]).strip()
    message = f"{name} must be {allowed}, got {value!r}"
    if isinstance(value, bool | np.bool_):
        raise InputTypeError(message)
    try:
        number = operator.index(value)
    except TypeError:
        raise InputTypeError(message) from None
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise InvalidInputError(message)
    return number


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero."""
    message = f"{name} must be a finite number above 0, got {value!r}"
    number = _as_float(value, message)
    if not (np.isfinite(number) and number > 0):
        raise InvalidInputError(message)
    return number


def check_not_negative(name: str, value: Any) -> float:
    """Return `value` as a finite float that is at least zero.

    Examples
    --------
    >>> check_not_negative("weight_decay", 0)
    0.0
    """
    number = check_finite(name, value)
    if number < 0:
        raise InvalidInputError(f"{name} must be >= 0, got {value!r}")
    return number


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a finite float.

    Examples
    --------
    >>> check_finite("shift", 1)
    1.0
    """
    message = f"{name} must be a finite number, got {value!r}"
    number = _as_float(value, message)
    if not np.isfinite(number):
        raise InvalidInputError(message)
    return number


def _as_float(value: Any, message: str) -> float:
    """Return a number as a float; a text that Python would read as one is none."""
    if isinstance(value, str | bytes):
        raise InputTypeError(message)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputTypeError(message) from None
    except OverflowError:  # an integer beyond all floats
        raise InvalidInputError(message) from None


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator of random numbers that the caller gave or named by a seed.

    Examples
    --------
    >>> as_generator("dice")
    Traceback (most recent call last):
    ...
    wavemmf.errors.InputTypeError: rng must be a numpy Generator or a seed >= 0, got 'dice'
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InputTypeError(f"rng must be a numpy Generator or a seed >= 0, got {rng!r}") from None


def check_choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`, or list them.

    Examples
    --------
    >>> check_choice("optimize", "newton", ["lbfgs", "sgd"])
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: optimize must be one of 'lbfgs', 'sgd'; got 'newton'
    """
    valid = list(options)
    if isinstance(value, str) and value in valid:
        return value
    meant = did_you_mean(value, valid)
    raise InvalidInputError(f"{name} must be one of {str(valid)[1:-1]}; got {value!r}{meant}")


def check_named(kind: str, name: Any, names: Iterable[Any]) -> None:
    """Refuse a name that is not among the names of a kind of thing, and list these.

    Examples
    --------
    >>> check_named("column", "wieght", ["source", "target", "weight"])
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: there is no column 'wieght'; ... did you mean 'weight'?
    """
    known = list(names)
    if name not in known:
        listed = ", ".join(map(repr, known)) or "none"
        meant = did_you_mean(name, known)
        raise InvalidInputError(f"there is no {kind} {name!r}; there are {listed}{meant}")


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


def core_size(n: int, core: Any) -> int:
    """Return how many of n rows the core has: as given, a share of them, or the default.

    Parameters
    ----------
    n : int
        Number of rows.
    core : int, float or None
        A number of rows, a share between 0 and 1, or None for a tenth, at least 8.

    Examples
    --------
    >>> core_size(50, 8), core_size(50, 0.2), core_size(5, None)
    (8, 10, 5)
    """
    if core is None:
        return min(n, max(8, n // 10))
    if isinstance(core, float | np.floating):
        if not 0.0 < core < 1.0:
            raise InputTypeError(
                f"core must be an integer, or a share of the rows between 0 and 1, got {core!r}"
            )
        return min(n, max(1, round(core * n)))
    return check_integer(f"core (for n = {n})", core, 0, n)


def check_mmf_parameters(n: int, core: Any, k: Any, drop: Any) -> tuple[int, int, int]:
    """Return ``(core, k, drop)`` as ints if a matrix of order n can be factorized with them.

    The core is given as for `core_size`.

    Examples
    --------
    >>> check_mmf_parameters(34, core=8, k=8, drop=1)
    (8, 8, 1)
    """
    k = check_integer("k", k, minimum=2)
    drop = check_integer(f"drop (for k = {k})", drop, minimum=1, maximum=k - 1)
    return core_size(n, core), k, drop


def check_memory(bytes_needed: float, what: str) -> None:
    """Raise TooLargeError, before anything is allocated, if `bytes_needed` is not available.

    The limit is the environment variable ``WAVEMMF_MAX_MEMORY`` (bytes) if it is set, else
    the memory that the operating system reports as available, or the container if it allows
    less; no limit if neither reports any. What is asked for is the most that the work can take.
    """
    if bytes_needed < _ALWAYS_THERE and not os.environ.get(_LIMIT):
        return
    limit = _available_memory()
    if limit is not None and bytes_needed > limit:
        raise TooLargeError(
            f"{what} needs {bytes_needed / 2**30:.1f} GiB, but {limit / 2**30:.1f} GiB are "
            f"available (set {_LIMIT}, in bytes, to override this limit)"
        )


def _available_memory() -> int | None:
    override = os.environ.get(_LIMIT)
    if override:
        if not override.isdecimal():
            raise InvalidInputError(f"{_LIMIT} must be in bytes, got {override!r}")
        return int(override)
    known = [limit for limit in (_memory_of_machine(), _memory_of_container()) if limit is not None]
    return min(known, default=None)


def _memory_of_machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # Not Linux: ask for the physical memory instead.
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


# Of the control group that a container sees as its own, in both versions: its limit, its use, and
# its statistics.
_CONTAINERS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "memory.stat"),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "memory.stat",
    ),
)


def _memory_of_container() -> int | None:
    for folder, *names in _CONTAINERS:
        try:
            limit, used, statistics = ((Path(folder) / name).read_text("ascii") for name in names)
            # Without a limit it says "max", or a number beyond all memory.
            return max(0, int(limit) - int(used) + _reclaimable(statistics))
        except (OSError, ValueError):
            continue
    return None


def _reclaimable(statistics: str) -> int:
    """Return what is used for files that have not been read lately, given back when asked for."""
    facts = dict(line.split(maxsplit=1) for line in statistics.splitlines())
    return int(facts.get("total_inactive_file", facts.get("inactive_file", 0)))


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
        f"where {allowed:.3g} is allowed; pass symmetrize=True to use (A + A.T) / 2"
    )
