"""Read edge lists: fast when they are clean, precise about the line when they are not."""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._warnings import warnings_treated
from ..errors import FileFormatError, TooLargeError
from ..validation import check_memory
from .graph import Graph, graph_from_edges

__all__ = [
    "check_order",
    "is_plain_number_text",
    "read_content",
    "read_edge_list",
    "read_integers",
    "read_text",
]

_COMMENT_LINE = re.compile(r"^[ \t]*[#%][^\n]*$", re.MULTILINE)
_TITLES = re.compile(
    r"source|target|src|dst|from|to|tail|head|(node|id|vertex)_?[012]|(from|to)nodeid|weight"
)

Columns: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]"

# A graph may have this many vertices for free, and this many more for each of its edges:
# beyond that, an id such as 10**15 is a mistake rather than a graph full of isolated vertices.
_FREE_VERTICES = 1_000_000
_VERTICES_PER_EDGE = 100
# Compressed files are read in pieces of this many bytes.
_PIECE = 16 * 2**20


@dataclass(frozen=True)
class _EdgeText:
    """The text of an edge list and what its first lines reveal about the rest."""

    path: Path
    text: str
    delimiter: str | None
    skipped: int
    columns: int
    integer_ids: bool

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the 1-based line number and the fields of each edge."""
        for number, line in enumerate(self.text.split("\n"), start=1):
            if number > self.skipped and line.strip():
                yield number, _fields(line, self.delimiter)


def read_edge_list(path: Path, num_nodes: int | None = None) -> Graph:
    """Read an edge list as an undirected Graph; see `read` for the format."""
    source = _inspect(path, read_text(path))
    names: tuple[str, ...] | None = None
    if source.integer_ids:
        columns = _parse_integers(source)
        n = max(int(max(columns[0].max(), columns[1].max())) + 1, num_nodes or 0)
        check_order(n, len(columns[0]), path)
    else:
        columns, names = _parse_names(source)
        n = len(names)
    tails, heads, weights = _merge_directions(source, columns, n)
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    return graph_from_edges(n, tails, heads, weights, name=stem, node_names=names)


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


def check_order(n: int, entries: int, path: Path) -> None:
    """Refuse a matrix order that the number of entries in the file makes absurd."""
    if n > _FREE_VERTICES + _VERTICES_PER_EDGE * entries:
        raise TooLargeError(
            f"{path} would need a matrix of order {n} for {entries} entries; "
            "renumber the vertices, or check the file"
        )


def _inspect(path: Path, text: str) -> _EdgeText:
    if "#" in text or "%" in text:
        text = _COMMENT_LINE.sub("", text)  # Leaves the line break: numbers stay right.
    lines = ((i, line) for i, line in enumerate(io.StringIO(text), start=1) if line.strip())
    number, first = next(lines, (0, ""))
    if not first:
        raise FileFormatError(f"{path} holds no edges")
    delimiter = _guess_delimiter(path, first)
    fields = _fields(first, delimiter)
    following = next(lines, None)
    skipped = 0
    if following is not None:
        second = _fields(following[1], delimiter)
        if _is_header(fields, second):
            skipped, fields = number, second
    integer_ids = all(map(_is_integer, fields[:2]))
    return _EdgeText(path, text, delimiter, skipped, len(fields), integer_ids)


def _guess_delimiter(path: Path, line: str) -> str | None:
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if suffix == "tsv" and "\t" in line:
        return "\t"
    words = line.split()
    spaced = len(words) > 1 and not any(w.startswith(",") or w.endswith(",") for w in words)
    return "," if "," in line and (suffix == "csv" or not spaced) else None


def _fields(line: str, delimiter: str | None) -> list[str]:
    return [field.strip() for field in line.split(delimiter)] if delimiter else line.split()


def _is_integer(field: str) -> bool:
    return _is_count(field.removeprefix("-"))


def _is_count(field: str) -> bool:
    # Of all decimal digits in Unicode, NumPy reads the ASCII ones; others are names like any.
    return field.isascii() and field.isdecimal()


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


def _is_header(first: list[str], second: list[str]) -> bool:
    # Titles are recognised by what they say, or by standing over a column of integers.
    # Single letters are no titles: in a graph of named vertices, "a b" is an edge.
    if all(_TITLES.fullmatch(field.strip('"').lower()) for field in first):
        return True
    return not any(map(_is_integer, first[:2])) and all(map(_is_integer, second[:2]))


def _parse_integers(source: _EdgeText) -> Columns:
    kinds = [("tail", np.int64), ("head", np.int64), ("weight", np.float64)]
    if source.columns not in (2, 3):
        _raise_for_bad_line(source)
    try:
        with warnings_treated("error", "loadtxt"):  # Older NumPy only warns about "1.5".
            table = np.loadtxt(
                io.StringIO(source.text),
                dtype=kinds[: source.columns],
                comments=None,
                delimiter=source.delimiter,
                skiprows=source.skipped,
                ndmin=1,
            )
    except (ValueError, OverflowError, DeprecationWarning, UserWarning) as error:
        _raise_for_bad_line(source)
        raise FileFormatError(f"{source.path} is not an edge list: {error}") from error
    weights = table["weight"] if source.columns == 3 else None
    if min(table["tail"].min(), table["head"].min()) < 0 or not _all_finite(weights):
        _raise_for_bad_line(source)
    return table["tail"], table["head"], weights


def _parse_names(source: _EdgeText) -> tuple[Columns, tuple[str, ...]]:
    numbering: dict[str, int] = {}
    ends: list[int] = []
    weights: list[float] = []
    for fields in _checked_records(source):
        for name in fields[:2]:
            ends.append(numbering.setdefault(name, len(numbering)))
        weights.extend(map(float, fields[2:]))
    tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return (tails, heads, np.array(weights) if weights else None), tuple(numbering)


def _checked_records(source: _EdgeText) -> Iterator[list[str]]:
    for number, fields in source.records():
        problem = _problem(source, fields)
        if problem:
            raise FileFormatError(f"{source.path}, line {number}: {problem}")
        yield fields


def _raise_for_bad_line(source: _EdgeText) -> None:
    """Walk through the file line by line, and stop at the first bad one."""
    for _ in _checked_records(source):
        pass


def _problem(source: _EdgeText, fields: list[str]) -> str | None:
    if len(fields) not in (2, 3):
        return f"expected 2 or 3 fields (two vertices, perhaps a weight), got {len(fields)}"
    if len(fields) != source.columns:
        return f"{len(fields)} fields where the lines before have {source.columns}"
    for name in fields[:2]:
        if source.integer_ids and not _is_count(name):
            return f"vertex {name!r} is not a non-negative integer, as on the lines before"
        # By its length first: Python does not even read integers of thousands of digits.
        if source.integer_ids and (len(name.lstrip("0")) > 19 or int(name) >= 2**63):
            return f"vertex {name} is too large a number"
        if not name:
            return "a vertex without a name"
    if len(fields) == 3:
        try:
            finite = is_plain_number_text(fields[2]) and math.isfinite(float(fields[2]))
        except ValueError:
            finite = False
        if not finite:
            return f"weight {fields[2]!r} is not a finite number"
    return None


def _all_finite(weights: NDArray[np.float64] | None) -> bool:
    return weights is None or bool(np.isfinite(weights).all())


def _merge_directions(source: _EdgeText, columns: Columns, n: int) -> Columns:
    tails, heads, weights = columns
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    _, first, group = np.unique(low * n + high, return_index=True, return_inverse=True)
    if weights is not None:
        conflict = np.flatnonzero(weights != weights[first[group]])
        if conflict.size:
            _raise_for_conflict(source, int(first[group[conflict[0]]]), int(conflict[0]))
        weights = weights[first]
    return low[first], high[first], weights


def _raise_for_conflict(source: _EdgeText, one: int, other: int) -> None:
    records = list(source.records())
    (line, fields), (other_line, other_fields) = records[one], records[other]
    raise FileFormatError(
        f"{source.path}, line {other_line}: the edge {fields[0]} {fields[1]} has weight "
        f"{other_fields[2]} here but {fields[2]} on line {line}; an edge has one weight, "
        "whichever way round its ends are written"
    )
