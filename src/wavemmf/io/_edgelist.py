"""Read edge lists: fast when they are clean, precise about the line when they are not."""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._graph import Graph, graph_from_edges
from .._warnings import warnings_treated
from ..errors import FileFormatError
from ._dialect import Dialect, are_titles, guess_dialect, is_integer, look_alike
from ._text import check_order, is_plain_number_text, read_text

__all__ = ["read_edge_list"]

_COMMENT_LINE = re.compile(r"^[ \t]*[#%][^\n]*$", re.MULTILINE)

Columns: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]"


@dataclass(frozen=True)
class _EdgeText:
    """The text of an edge list and what its first lines reveal about the rest."""

    path: Path
    text: str
    dialect: Dialect
    skipped: int
    columns: int
    integer_ids: bool

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the 1-based line number and the fields of each edge."""
        try:
            for number, fields in self.dialect.records(self.text):
                if number > self.skipped:
                    yield number, fields
        except csv.Error as error:
            raise FileFormatError(f"{self.path}: a quote is opened or closed amiss") from error


def read_edge_list(path: Path, num_nodes: int | None = None, header: bool | None = None) -> Graph:
    """Read an edge list as an undirected Graph; see `read` for the format."""
    source = _inspect(path, read_text(path), header)
    names: tuple[str, ...] | None = None
    if source.integer_ids:
        columns = _parse_integers(source)
        n = max(int(max(columns[0].max(), columns[1].max())) + 1, num_nodes or 0)
        check_order(n, len(columns[0]), path)
    else:
        if header is None and not source.skipped:
            source = _without_unique_titles(source)
        columns, names = _parse_names(source)
        n = len(names)
    tails, heads, weights = _merge_directions(source, columns, n)
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    return graph_from_edges(n, tails, heads, weights, name=stem, node_names=names)


def _inspect(path: Path, text: str, header: bool | None) -> _EdgeText:
    if "#" in text or "%" in text:
        text = _COMMENT_LINE.sub("", text)  # Leaves the line break: numbers stay right.
    dialect = guess_dialect(path, text)
    whole = _EdgeText(path, text, dialect, 0, 0, False)
    records = list(islice(whole.records(), 2))
    if len(records) <= bool(header):
        raise FileFormatError(f"{path} holds no edges")
    (number, fields), *following = records
    skipped = 0
    if following and (are_titles(fields, following[0][1]) if header is None else header):
        skipped, fields = number, following[0][1]
    integer_ids = all(map(is_integer, fields[:2]))
    return replace(whole, skipped=skipped, columns=len(fields), integer_ids=integer_ids)


def _without_unique_titles(source: _EdgeText) -> _EdgeText:
    """Skip the first line if it looks like titles and names vertices that are nowhere else."""
    records = source.records()
    number, first = next(records)
    titles = set(first[:2])
    others = 0
    for _, fields in records:
        if titles.intersection(fields[:2]):
            return source
        others += 1
    if others and len(first) > 1 and look_alike(first[0], first[1]):
        return replace(source, skipped=number)
    if others > 1 and source.dialect.delimiter:
        warnings.warn(
            f"{source.path}: the first line, {', '.join(first)}, is taken as an edge, though its "
            "names are on no other line; if these are titles, read it with header=True, and if "
            "not, with header=False",
            stacklevel=4,
        )
    return source


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
                delimiter=source.dialect.delimiter,
                quotechar='"' if source.dialect.quoted else None,
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
        return (
            f"expected 2 or 3 fields (two vertices, perhaps a weight), got {len(fields)}; for "
            "tables with other columns there is wavemmf.graphs.from_pandas"
        )
    if len(fields) != source.columns:
        return f"{len(fields)} fields where the lines before have {source.columns}"
    for name in fields[:2]:
        if source.integer_ids and not (name.isascii() and name.isdecimal()):
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
