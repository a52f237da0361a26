"""Write a comparison as comma-separated values."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, fields

from .._files import atomic_write
from .compare import ComparisonRow

__all__ = ["save_comparison_csv"]


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
    greedy,8,0.25,0.125,100,200,300,0.5,
    """
    text = io.StringIO()
    writer = csv.DictWriter(
        text, [field.name for field in fields(ComparisonRow)], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))
