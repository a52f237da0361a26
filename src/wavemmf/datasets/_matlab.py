"""Read real arrays and sparse matrices from MATLAB files of version 5.

SciPy's reader follows whatever the lengths in a file say, and a damaged file can crash it. Here
every piece is cut out of the bytes that are there.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import check_compressed, check_memory
from ..errors import FileFormatError, InvalidInputError
from ..io._text import check_order, read_content

__all__ = ["read_matlab"]

_HEADER = 128
# Types of elements that hold numbers.
_NUMBERS = {
    1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8",
    13: "<u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
# Classes of arrays: sparse, and real numbers of any type.
_SPARSE, _REAL = 5, range(6, 16)
_COMPLEX = 0x800
_PIECE = 2**24

Element = tuple[int, bytes]


def read_matlab(path: Path) -> dict[str, NDArray[np.float64] | sp.csr_array]:
    """Return the real arrays and sparse matrices of a file by name; other things are left out.

    Parameters
    ----------
    path : Path
        A MATLAB file of version 5 (``save -v6`` or ``-v7``), of a little-endian machine, gzipped or
        not.

    Raises
    ------
    FileFormatError
        If it is anything else, or damaged.

    Examples
    --------
    >>> import pathlib, scipy.io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.mat")
    ...     scipy.io.savemat(path, {"x": np.eye(2), "title": "a text"}, do_compression=True)
    ...     read_matlab(path)
    {'x': array([[1., 0.],
           [0., 1.]])}
    """
    content = read_content(path)
    if len(content) < _HEADER or content[_HEADER - 4 : _HEADER] != b"\x00\x01IM":
        raise FileFormatError(f"{path} is not a little-endian MATLAB file of version 5")
    found = {}
    try:
        for kind, body in _elements(content[_HEADER:]):
            if kind == _COMPRESSED:
                kind, body = next(_elements(_inflated(body, path)))
            if kind == _MATRIX:
                name, value = _named_array(body, path)
                if value is not None:
                    found[name] = value
    except InvalidInputError:
        raise
    except (struct.error, zlib.error, StopIteration, ValueError) as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from error
    return found


def _inflated(body: bytes, path: Path) -> bytes:
    """Decompress, piece by piece: a small file can hold more than there is memory for."""
    stream = zlib.decompressobj()
    pieces = [stream.decompress(body, _PIECE)]
    while stream.unconsumed_tail:
        check_memory(3 * _PIECE * len(pieces), f"the arrays in {path}")
        pieces.append(stream.decompress(stream.unconsumed_tail, _PIECE))
    if not stream.eof:
        raise ValueError("it ends before it is complete")
    return b"".join(pieces)


def _elements(content: bytes) -> Iterator[Element]:
    """Yield type and content of every element; short ones stand in the place of their length."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        start, behind = at + 8, at + 8 + size
        if kind >> 16:
            kind, size = kind & 0xFFFF, kind >> 16
            start, behind = at + 4, at + 8
            if size > 4:
                raise ValueError(f"a short element of {size} bytes")
        if start + size > len(content):
            raise ValueError("it ends before it is complete")
        yield kind, content[start : start + size]
        # Elements begin at multiples of eight bytes, unless compressed.
        at = behind if kind == _COMPRESSED else behind + -behind % 8


def _named_array(body: bytes, path: Path) -> tuple[str, Any]:
    """Return the name and the value of a matrix element; no value if it is of another kind."""
    parts = _elements(body)
    flags = _numbers(next(parts))
    shape = tuple(int(length) for length in _numbers(next(parts)))
    name = next(parts)[1].decode("latin-1")
    if flags.size < 1 or len(shape) < 2 or min(shape) < 0:
        raise ValueError("an array without a shape")
    kind = int(flags[0]) & 0xFF
    if int(flags[0]) & _COMPLEX or not (kind == _SPARSE or kind in _REAL):
        return name, None
    if kind == _SPARSE:
        return name, _sparse([_numbers(part) for part in parts], shape, path)
    return name, _numbers(next(parts)).astype(np.float64).reshape(shape, order="F")


def _numbers(element: Element) -> NDArray[Any]:
    kind, content = element
    if kind not in _NUMBERS:
        raise ValueError(f"numbers are expected in an element of type {kind}")
    return np.frombuffer(content, _NUMBERS[kind])


def _sparse(parts: list[NDArray[Any]], shape: tuple[int, ...], path: Path) -> sp.csr_array:
    """Return a matrix from row numbers, column pointers and values."""
    rows, pointers, values = parts
    check_order(max(shape), rows.size, path)
    count = int(pointers[-1]) if pointers.size else 0
    columns = sp.csc_array(
        (
            values[:count].astype(np.float64),
            rows[:count].astype(np.int64),
            pointers.astype(np.int64),
        ),
        shape=shape,
    )
    check_compressed(columns)
    return sp.csr_array(columns)
