"""Errors of several methods side by side, against core size or against cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._optional import require
from .._validation import check_choice
from ._canvas import axes_or_new, tidy

__all__ = ["comparison"]

# The palette of Okabe and Ito, with wine for its yellow, too pale for lines on white; the two
# plain heuristics are grey, and every method has a marker of its own.
_STYLES = {
    "learned": ("#D55E00", "o", "-"),
    "learned-restarts": ("#000000", "*", "-"),
    "greedy": ("#0072B2", "s", "-"),
    "compact": ("#882255", "v", "-"),
    "greedy-k2": ("#56B4E9", "^", "-"),
    "neighbors": ("#666666", "<", ":"),
    "random": ("#999999", ">", ":"),
    "nystrom": ("#009E73", "D", "--"),
    "truncated_eigh": ("#CC79A7", "X", "--"),
    "truncated_jacobi": ("#E69F00", "P", "--"),
}

# What errors can be drawn against: attribute of a row, label of the axis.
_AXES = {
    "core": "core size (rank of the low-rank methods)",
    "basis_nonzeros": "non-zeros of the basis",
    "stored_numbers": "stored numbers",
    "stored_bytes": "bytes",
    "multiplications": "multiplications for a product with a vector",
}

# Errors so far below the largest one are drawn at the bottom: on a logarithmic axis, a zero has no
# place and rounding errors would squeeze everything else.
_RANGE = 1e-6


def comparison(rows: Sequence[Any], ax: Any = None, against: str = "core") -> Any:
    """Draw the error of several methods, one line each.

    Bars mark the standard deviation of random methods that were run several times. Against a
    cost, lines go through the core sizes of a method and markers grow with the core.

    Parameters
    ----------
    rows : list of ComparisonRow
        As `wavemmf.experiments.compare` returns them.
    ax : Axes, optional
        Where to draw; new axes by default.
    against : {"core", "basis_nonzeros", "stored_numbers", "stored_bytes", "multiplications"}
        What is on the horizontal axis.

    Returns
    -------
    Axes
        Without a legend; the lines have labels for one.

    Examples
    --------
    >>> import wavemmf as wm
    >>> from wavemmf.experiments import compare
    >>> rows = compare(wm.graphs.karate(), [4, 8], methods=["greedy", "nystrom"])
    >>> comparison(rows, against="stored_numbers").get_xlabel()
    'stored numbers'
    """
    check_choice("against", against, _AXES)
    ax = axes_or_new(ax)
    floor = _floor(rows)
    cores = sorted({row.core for row in rows})
    for line in _lines(rows):
        if against == "core":
            _draw_line(ax, line, floor)
        else:
            _draw_cost(ax, line, against, cores, floor)
    if against == "core":
        _label_cores(ax, cores)
    else:
        ax.set_xscale("log")
        _label_decades(ax.xaxis)
    ax.set_xlabel(_AXES[against])
    _label_errors(ax, rows, floor)
    tidy(ax)
    return ax


def _floor(rows: Sequence[Any]) -> float:
    """Return the error below which all are drawn alike."""
    return _RANGE * max((row.error for row in rows), default=0.0) or 1e-16


def _label_errors(axes: Any, rows: Sequence[Any], floor: float) -> None:
    axes.set_yscale("log", nonpositive="clip")
    _label_decades(axes.yaxis)
    below = any(row.error < floor for row in rows)
    note = f"\n(smaller than {floor:.1g}: at the bottom)" if below else ""
    axes.set_ylabel(f"error in the Frobenius norm{note}")


def _lines(rows: Sequence[Any]) -> list[list[Any]]:
    """Return the rows of each method, ordered by core."""
    methods = dict.fromkeys(row.method for row in rows)
    return [
        sorted((row for row in rows if row.method == method), key=lambda row: row.core)
        for method in methods
    ]


def _draw_line(axes: Any, rows: list[Any], floor: float) -> None:
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


def _draw_cost(axes: Any, rows: list[Any], cost: str, cores: list[int], floor: float) -> None:
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
