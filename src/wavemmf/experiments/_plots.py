"""Pictures of a comparison in files: error against core size, or against costs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .._optional import require
from ..plot import comparison, save_figure
from ._compare import ComparisonRow

__all__ = ["save_comparison_plot", "save_tradeoff_plot"]

# The costs of the trade-off, from left to right.
_COSTS = ("basis_nonzeros", "stored_numbers", "stored_bytes", "multiplications")


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
    """Draw error against what a method costs, one panel each.

    Costs are non-zeros of the basis, stored numbers, bytes, and multiplications of a product.

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
    axes = comparison(rows, figure.subplots())
    axes.set_title(title, parse_math=False)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _draw_tradeoff(rows: Sequence[ComparisonRow], title: str, matrix_nonzeros: int | None) -> Any:
    costs = [cost for cost in _COSTS if all(getattr(row, cost) is not None for row in rows)]
    figure = _figure(4.3 * len(costs), 4.8)
    panels = figure.subplots(1, len(costs), sharey=True)
    if matrix_nonzeros:
        exact = {"color": "0.3", "linewidth": 1, "linestyle": "-."}
        panels[-1].axvline(matrix_nonzeros, **exact, label="the matrix (exact)")
    for axes, cost in zip(panels, costs, strict=True):
        comparison(rows, axes, cost)
        axes.label_outer()
    sizes = ", ".join(str(core) for core in sorted({row.core for row in rows}))
    figure.suptitle(f"{title}\nmarkers grow with the core: {sizes}", parse_math=False)
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def _figure(width: float, height: float) -> Any:
    # The object-oriented interface needs no display and leaves pyplot's state alone.
    return require("matplotlib.figure", extra="plot").Figure((width, height), layout="constrained")
