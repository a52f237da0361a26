"""Draw a comparison: error against core size, one line per method."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._files import atomic_write, check_writable
from .._optional import require
from ..errors import InvalidInputError
from .compare import ComparisonRow
from .methods import METHODS

__all__ = ["check_plot_path", "save_comparison_plot"]

FORMATS = ("png", "pdf", "svg")

# The palette of Okabe and Ito without its yellow, which is too pale for lines on white.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
_MARKERS = ("o", "s", "^", "v", "D", "X", "P")
_STYLES = dict(zip(METHODS, zip(_COLOURS, _MARKERS, strict=True), strict=True))

# An error of exactly zero has no place on a logarithmic axis; this is rounding level.
_SMALLEST = 1e-16


def check_plot_path(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of `path` names, if a plot can be written there.

    Meant to be called before long work: it also checks that matplotlib is installed.

    Examples
    --------
    >>> check_plot_path("karate.svg")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        allowed = ", ".join(f".{name}" for name in FORMATS)
        raise InvalidInputError(
            f"cannot write the plot {path}: the suffix must be one of {allowed}"
        )
    check_writable(path)
    require("matplotlib.figure", extra="plot")
    return suffix


def save_comparison_plot(
    rows: Sequence[ComparisonRow], path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draw error against core size, and write the picture whole or not at all.

    Bars mark the standard deviation of random methods that were run several times.

    Parameters
    ----------
    rows : list of ComparisonRow
        As `compare` returns them.
    path : str or path
        The file; its suffix, .png, .pdf or .svg, names the format.
    title : str
        Shown above the plot.

    Raises
    ------
    InvalidInputError
        If the suffix is another one, or the file cannot be written.
    MissingDependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> row = ComparisonRow("greedy", 8, 0.25, 0.125, 100, 200, 300, 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_comparison_plot([row], pathlib.Path(folder, "plot.png"))
    ...     pathlib.Path(folder, "plot.png").read_bytes()[1:4]
    b'PNG'
    """
    image_format = check_plot_path(path)
    figure = _draw(rows, title)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=image_format, dpi=150)


def _draw(rows: Sequence[ComparisonRow], title: str) -> Any:
    # The object-oriented interface needs no display and leaves pyplot's state alone.
    figure = require("matplotlib.figure", extra="plot").Figure((7, 4.5), layout="constrained")
    axes = figure.subplots()
    for method in dict.fromkeys(row.method for row in rows):
        _draw_line(axes, sorted((r for r in rows if r.method == method), key=lambda r: r.core))
    axes.set_yscale("log", nonpositive="clip")
    _label_cores(axes, sorted({row.core for row in rows}))
    axes.set_xlabel("core size (rank of the low-rank methods)")
    axes.set_ylabel("error in the Frobenius norm")
    axes.set_title(title, parse_math=False)
    axes.grid(True, which="major", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _draw_line(axes: Any, rows: list[ComparisonRow]) -> None:
    colour, marker = _STYLES[rows[0].method]
    axes.errorbar(
        [row.core for row in rows],
        [max(row.error, _SMALLEST) for row in rows],
        yerr=None if rows[0].error_std is None else [row.error_std for row in rows],
        label=rows[0].method,
        color=colour,
        marker=marker,
        capsize=3,
    )


def _label_cores(axes: Any, cores: list[int]) -> None:
    if cores and cores[0] > 0:
        axes.set_xscale("log")
    axes.set_xticks(cores, [str(core) for core in cores])
    axes.set_xticks([], minor=True)
