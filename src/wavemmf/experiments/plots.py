"""Draw a comparison: error against core size or against cost, one line per method."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .._optional import require
from ..plot.canvas import save_figure, tidy
from .compare import ComparisonRow

__all__ = ["save_comparison_plot", "save_tradeoff_plot"]

# The palette of Okabe and Ito without its yellow, which is too pale for lines on white; the two
# plain heuristics are grey, and every method has a marker of its own.
_STYLES = {
    "learned": ("#D55E00", "o", "-"),
    "learned-restarts": ("#000000", "*", "-"),
    "greedy": ("#0072B2", "s", "-"),
    "greedy-k2": ("#56B4E9", "^", "-"),
    "neighbors": ("#666666", "<", ":"),
    "random": ("#999999", ">", ":"),
    "nystrom": ("#009E73", "D", "--"),
    "truncated_eigh": ("#CC79A7", "X", "--"),
    "truncated_jacobi": ("#E69F00", "P", "--"),
}

# The costs of the trade-off: attribute of a row, label of the axis.
_COSTS = {
    "basis_nonzeros": "non-zeros of the basis",
    "multiplications": "multiplications for a product with a vector",
}

# Errors so far below the largest one are drawn at the bottom: on a logarithmic axis, a zero has no
# place and rounding errors would squeeze everything else.
_RANGE = 1e-6


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
    save_figure(_draw(rows, title), path)


def save_tradeoff_plot(
    rows: Sequence[ComparisonRow],
    path: str | os.PathLike[str],
    title: str = "",
    matrix_nonzeros: int | None = None,
) -> None:
    """Draw error against two costs, non-zeros of the basis and multiplications of a product.

    Lines go through the core sizes of a method, markers grow with the core. What is lower and
    further left is better.

    Parameters
    ----------
    rows : list of ComparisonRow
        As `compare` returns them.
    path : str or path
        The file; its suffix, .png, .pdf or .svg, names the format.
    title : str
        Shown above the plot.
    matrix_nonzeros : int, optional
        Non-zeros of the matrix: a product with the matrix itself, which has no error at all,
        takes as many multiplications. Marked by a vertical line.

    Raises
    ------
    InvalidInputError, MissingDependencyError
        As `save_comparison_plot`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> row = ComparisonRow("greedy", 8, 0.25, 0.125, 100, 200, 300, 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_tradeoff_plot([row], pathlib.Path(folder, "plot.png"))
    ...     pathlib.Path(folder, "plot.png").read_bytes()[1:4]
    b'PNG'
    """
    save_figure(_draw_tradeoff(rows, title, matrix_nonzeros), path)


def _draw(rows: Sequence[ComparisonRow], title: str) -> Any:
    figure = _figure(7, 4.5)
    axes = figure.subplots()
    floor = _floor(rows)
    for line in _lines(rows):
        _draw_line(axes, line, floor)
    _label_cores(axes, sorted({row.core for row in rows}))
    axes.set_xlabel("core size (rank of the low-rank methods)")
    axes.set_title(title, parse_math=False)
    _label_errors(axes, rows, floor)
    tidy(axes)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _draw_tradeoff(rows: Sequence[ComparisonRow], title: str, matrix_nonzeros: int | None) -> Any:
    figure = _figure(10, 4.8)
    panels = figure.subplots(1, len(_COSTS), sharey=True)
    floor = _floor(rows)
    cores = sorted({row.core for row in rows})
    if matrix_nonzeros:
        exact = {"color": "0.3", "linewidth": 1, "linestyle": "-."}
        panels[1].axvline(matrix_nonzeros, **exact, label="the matrix (exact)")
    for axes, (cost, label) in zip(panels, _COSTS.items(), strict=True):
        for line in _lines(rows):
            _draw_cost(axes, line, cost, cores, floor)
        axes.set_xscale("log")
        _label_decades(axes.xaxis)
        axes.set_xlabel(label)
        tidy(axes)
    _label_errors(panels[0], rows, floor)
    sizes = ", ".join(map(str, cores))
    figure.suptitle(f"{title}\nmarkers grow with the core: {sizes}", parse_math=False)
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def _floor(rows: Sequence[ComparisonRow]) -> float:
    """Return the error below which all are drawn alike."""
    return _RANGE * max((row.error for row in rows), default=0.0) or 1e-16


def _label_errors(axes: Any, rows: Sequence[ComparisonRow], floor: float) -> None:
    axes.set_yscale("log", nonpositive="clip")
    _label_decades(axes.yaxis)
    below = any(row.error < floor for row in rows)
    note = f"\n(smaller than {floor:.1g}: at the bottom)" if below else ""
    axes.set_ylabel(f"error in the Frobenius norm{note}")


def _figure(width: float, height: float) -> Any:
    # The object-oriented interface needs no display and leaves pyplot's state alone.
    return require("matplotlib.figure", extra="plot").Figure((width, height), layout="constrained")


def _lines(rows: Sequence[ComparisonRow]) -> list[list[ComparisonRow]]:
    """Return the rows of each method, ordered by core."""
    methods = dict.fromkeys(row.method for row in rows)
    return [
        sorted((row for row in rows if row.method == method), key=lambda row: row.core)
        for method in methods
    ]


def _draw_line(axes: Any, rows: list[ComparisonRow], floor: float) -> None:
    colour, marker, dashes = _STYLES[rows[0].method]
    axes.errorbar(
        [row.core for row in rows],
        [max(row.error, floor) for row in rows],
        yerr=None if rows[0].error_std is None else [row.error_std for row in rows],
        label=rows[0].method,
        color=colour,
        marker=marker,
        markersize=7,
        markerfacecolor="none",  # hollow: methods with the same figures stay visible
        linestyle=dashes,
        capsize=3,
    )


def _draw_cost(
    axes: Any, rows: list[ComparisonRow], cost: str, cores: list[int], floor: float
) -> None:
    colour, marker, dashes = _STYLES[rows[0].method]
    costs = [max(getattr(row, cost), 1) for row in rows]
    errors = [max(row.error, floor) for row in rows]
    axes.plot(costs, errors, color=colour, linestyle=dashes, linewidth=1)
    sizes = [25 + 100 * cores.index(row.core) / max(1, len(cores) - 1) for row in rows]
    look = {"facecolors": "none", "edgecolors": colour, "marker": marker, "linewidths": 1.5}
    axes.scatter(costs, errors, sizes, **look, label=rows[0].method, zorder=3)


def _label_decades(axis: Any) -> None:
    """Label some numbers of each decade if there are few, so that labels are there but apart."""
    ticker = require("matplotlib.ticker", extra="plot")
    low, high = axis.get_view_interval()
    if high <= 1000 * low:
        few = (1.0, 2.0, 3.0, 5.0, 7.0) if high <= 10 * low else (1.0, 2.0, 5.0)
        axis.set_major_locator(ticker.LogLocator(subs=few))
        axis.set_major_formatter(ticker.FuncFormatter(_short))
    axis.set_minor_formatter(ticker.NullFormatter())


def _short(value: float, position: int | None = None) -> str:
    """Write a number in few characters.

    Examples
    --------
    >>> _short(0.05), _short(200.0), _short(20000.0), _short(5e6)
    ('0.05', '200', '20k', '5M')
    """
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.12g}{unit}"
    return f"{value:.12g}"


def _label_cores(axes: Any, cores: list[int]) -> None:
    if cores and cores[0] > 0:
        axes.set_xscale("log")
    axes.set_xticks(cores, [str(core) for core in cores])
    axes.set_xticks([], minor=True)
