"""Text out of files, gzipped or not, and what is absurd in it."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._validation import check_memory
from ..errors import FileFormatError, TooLargeError

__all__ = ["check_order", "is_plain_number_text", "read_content", "read_integers", "read_text"]

# A graph may have this many vertices for free, and this many more for each of its edges:
# beyond that, an id such as 10**15 is a mistake rather than a graph full of isolated vertices.
_FREE_VERTICES = 1_000_000
_VERTICES_PER_EDGE = 100
# Compressed files are read in pieces of this many bytes.
_PIECE = 16 * 2**20


def read_text(path: Path) -> str:
    """Read a text file, gzipped or not, with any line endings."""
    try:
        text = read_content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a text file in UTF-8: {error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_content(path: Path) -> bytes:
    """Read a file, gzipped or not, up to the memory that is there."""
    content = path.read_bytes()
    if path.suffix.lower() != ".gz":
        return content
    try:
        return _decompress(content, path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} is not a complete gzip file: {error}") from error


def _decompress(content: bytes, path: Path) -> bytes:
    # Piece by piece: a small file can announce, and hold, more than there is memory for.
    pieces: list[bytes] = []
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        while piece := stream.read(_PIECE):
            pieces.append(piece)
            check_memory(3 * _PIECE * len(pieces), f"the text in {path}")
    return b"".join(pieces)


def check_order(n: int, entries: int, path: Path | str) -> None:
    """Refuse a matrix order that the number of entries in the file makes absurd."""
    if n > _FREE_VERTICES + _VERTICES_PER_EDGE * entries:
        raise TooLargeError(
            f"{path} would need a matrix of order {n} for {entries} entries; "
            "renumber the vertices, or check the file"
        )


def is_plain_number_text(text: str) -> bool:
    """Whether Python reads in it the numbers that everybody does.

    It would also take "1_0" for ten, and digits of all scripts.

    Examples
    --------
    >>> is_plain_number_text("1.5e3"), is_plain_number_text("1_0"), is_plain_number_text("\u0663")
    (True, False, False)
    """
    return text.isascii() and "_" not in text


def read_integers(path: Path) -> NDArray[np.int64]:
    """Read integers separated by white space, gzipped or not."""
    text = read_text(path)
    if not is_plain_number_text(text):
        raise FileFormatError(f"{path} is not a list of integers")
    try:
        return np.array(text.split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} is not a list of integers: {error}") from error
