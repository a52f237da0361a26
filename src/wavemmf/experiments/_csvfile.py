"""Write tables as comma-separated values."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from .._files import atomic_write
from ._compare import ComparisonRow

__all__ = ["save_comparison_csv", "save_csv"]


def save_comparison_csv(rows: Iterable[ComparisonRow], path: str | os.PathLike[str]) -> None:
    """Write one line per row, under a line of column titles, whole or not at all.

    Parameters
    ----------
    rows : list of ComparisonRow
        As `compare` returns them.
    path : str or path
        The file; UTF-8, comma-separated.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> row = ComparisonRow("greedy", 8, 0.25, 0.125, 100, 200, 300, 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_comparison_csv([row], pathlib.Path(folder, "rows.csv"))
    ...     print(pathlib.Path(folder, "rows.csv").read_text().splitlines()[1])
    greedy,8,0.25,0.125,100,200,300,0.5,,
    """
    names = [field.name for field in fields(ComparisonRow)]
    save_csv(names, (asdict(row) for row in rows), path)


def save_csv(
    names: Sequence[str], rows: Iterable[Mapping[str, Any]], path: str | os.PathLike[str]
) -> None:
    """Write rows of named values under a line of their names, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))
