"""Read matrices from .mtx, .npy and .npz, distrusting what their headers promise."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import check_compressed, check_memory
from ..errors import FileFormatError, InvalidInputError
from ._text import check_order, read_text

__all__ = ["npy_header", "read_matrix_market", "read_npy", "read_npz"]

# NumPy refuses longer headers than 10,000 characters.
_LONGEST_NPY_HEADER = 2**16
# What NumPy and zipfile raise for damaged headers (which are Python literals) and contents.
_DAMAGE = (
    ValueError, EOFError, OSError, OverflowError, SyntaxError, TypeError, zipfile.BadZipFile,
    zlib.error, tokenize.TokenError,
)  # fmt: skip


def read_matrix_market(path: Path) -> NDArray[Any] | sp.csr_array:
    """Read a Matrix Market file, gzipped or not."""
    import scipy.io

    text = read_text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    body = [line for line in lines if not line.lstrip().startswith("%")]
    try:
        header = "\n".join([*lines[:1], *body[:1], ""])
        rows, columns, entries, layout, kind, symmetry = scipy.io.mminfo(io.StringIO(header))
        _check_market_header(path, len(text), rows, columns, entries, layout)
        values, places = _market_values(
            path, body[1:], rows, columns, entries, layout, kind, symmetry
        )
    except InvalidInputError:
        raise
    except (ValueError, OverflowError, OSError, EOFError) as error:
        raise FileFormatError(f"{path} is not a valid Matrix Market file: {error}") from error
    matrix = sp.csr_array(sp.coo_array((values, places), shape=(rows, columns)))
    return matrix if layout == "coordinate" else matrix.toarray()


def read_npy(path: Path) -> NDArray[Any]:
    """Read one array in NumPy's own format; pickled objects are refused."""
    with path.open("rb") as stream:
        # From memory: a file would set aside as much as the header's length claims, up to 4 GB.
        start = io.BytesIO(stream.read(_LONGEST_NPY_HEADER))
    _check_npy_header(start, path.stat().st_size, str(path))
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except _DAMAGE as error:
        raise FileFormatError(f"{path} is not a valid .npy file: {error}") from error


def read_npz(path: Path) -> NDArray[Any] | sp.csr_array:
    """Read a matrix saved by `scipy.sparse.save_npz`, or an archive of a single array."""
    names = _check_npz_members(path)
    try:
        if "format" in names:
            return _load_sparse(path)
        if len(names) == 1:
            with np.load(path, allow_pickle=False) as archive:
                return np.asarray(archive[names[0]])
    except (*_DAMAGE, KeyError, AttributeError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise FileFormatError(f"{path} is not a valid .npz file: {error}") from error
    raise FileFormatError(
        f"{path} holds {len(names)} arrays ({', '.join(names)}); expected a single matrix, "
        "or what scipy.sparse.save_npz writes"
    )


def _check_market_header(
    path: Path, size: int, rows: int, columns: int, entries: int, layout: str
) -> None:
    dense = layout == "array"
    # The shortest lines are "1\n" in the dense format and "1 1\n" in the sparse one; only half
    # of a symmetric dense matrix is written out.
    least = rows * columns if dense else 4 * entries
    if least > size + 4:
        raise FileFormatError(
            f"{path} is too short for the {rows} x {columns} matrix with {entries} entries "
            "that its header announces"
        )
    if dense:
        check_memory(8.0 * rows * columns, f"the matrix in {path}")
    else:
        check_order(max(rows, columns), entries, path)
        check_memory(32.0 * entries, f"the matrix in {path}")


def _market_values(
    path: Path,
    body: list[str],
    rows: int,
    columns: int,
    entries: int,
    layout: str,
    kind: str,
    symmetry: str,
) -> tuple[NDArray[Any], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Read values and their places; SciPy's own reader of them crashes on some damaged files."""
    general, below = symmetry == "general", int(symmetry == "skew-symmetric")
    if not general and rows != columns:
        raise FileFormatError(f"{path} is {symmetry} but not square: {rows} x {columns}")
    width = {"pattern": 0, "complex": 2}.get(kind, 1)
    if layout == "array":
        # Column by column; of a symmetric matrix the lower triangle.
        place = np.indices((columns, rows)).reshape(2, -1) if general else (
            np.stack(np.triu_indices(rows, below))
        )  # fmt: skip
        column, row = place
        numbers = _market_table(path, body, row.size, width)
    else:
        table = _market_table(path, body, entries, 2 + width)
        places, numbers = table[:, :2], table[:, 2:]
        inside = (places >= 1) & (places <= [rows, columns]) & (places == np.rint(places))
        if not inside.all():  # also those that are no numbers
            raise FileFormatError(f"{path} has entries outside its {rows} x {columns} matrix")
        row, column = places.T.astype(np.int64) - 1
    values = np.ones(row.size) if width == 0 else numbers[:, 0]
    values = values + 1j * numbers[:, 1] if width == 2 else values
    if general:
        return values, (row, column)
    apart = row != column
    mirrored = {"skew-symmetric": -values, "hermitian": values.conj()}.get(symmetry, values)
    return np.concatenate([values, mirrored[apart]]), (
        np.concatenate([row, column[apart]]),
        np.concatenate([column, row[apart]]),
    )


def _market_table(path: Path, body: list[str], entries: int, width: int) -> NDArray[np.float64]:
    """Return the numbers in the lines that follow the line of sizes, one row for each entry."""
    if len(body) != entries:
        raise FileFormatError(f"{path} must hold {entries} lines of values, got {len(body)}")
    if entries == 0:
        return np.empty((0, width))
    table = np.loadtxt(body, dtype=np.float64, comments=None, ndmin=2)
    if table.shape[1] != width:
        raise FileFormatError(f"{path} must hold {width} numbers a line, got {table.shape[1]}")
    return table


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an array in NumPy's format: its shape, whether columns lie together, type.

    Examples
    --------
    >>> import io
    >>> np.save(stream := io.BytesIO(), np.zeros((2, 3)))
    >>> stream = io.BytesIO(stream.getvalue())
    >>> npy_header(stream)
    ((2, 3), False, dtype('float64'))
    """
    first = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    header: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(stream)
    return header


def _check_npy_header(stream: IO[bytes], size: int, name: str) -> None:
    try:
        shape, _, dtype = npy_header(stream)
    except _DAMAGE as error:
        raise FileFormatError(f"{name} is not a valid .npy array: {error}") from error
    if dtype.hasobject:
        raise FileFormatError(f"{name} holds pickled Python objects, which are not loaded")
    needed = dtype.itemsize
    for length in shape:
        needed *= length  # Python integers: a dishonest header cannot make this overflow.
    if needed > size - stream.tell():
        raise FileFormatError(f"{name} is too short for the shape {shape} in its header")
    check_memory(needed, f"the array in {name}")


def _check_npz_members(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            for member in members:
                with archive.open(member) as stream:
                    _check_npy_header(stream, member.file_size, f"{member.filename} in {path}")
    except InvalidInputError:
        raise
    except (*_DAMAGE, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{path} is not a valid .npz file: {error}") from error
    return [member.filename.removesuffix(".npy") for member in members]


def _load_sparse(path: Path) -> sp.csr_array:
    matrix = sp.load_npz(path)
    if matrix.ndim != 2:
        raise FileFormatError(f"{path} holds a sparse array of shape {matrix.shape}, not a matrix")
    check_order(max(matrix.shape), matrix.nnz, path)
    check_compressed(matrix)
    return sp.csr_array(matrix)
