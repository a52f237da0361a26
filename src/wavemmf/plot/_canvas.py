"""Axes to draw on, and figures in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._files import atomic_write, check_writable
from .._optional import require
from ..errors import InvalidInputError

__all__ = ["BLUE", "ORANGE", "PICTURES", "axes_or_new", "check_plot_path", "save_figure", "tidy"]

PICTURES = ("png", "pdf", "svg")

# Two colours of the palette of Okabe and Ito, told apart by everybody.
BLUE, ORANGE = "#0072B2", "#D55E00"


def axes_or_new(ax: Any, projection: str | None = None) -> Any:
    """Return the given axes, or those of a new figure of pyplot."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plot")
    figure = pyplot.figure(layout="constrained")
    return figure.add_subplot(projection=projection)


def tidy(ax: Any) -> None:
    """Draw a pale grid behind the data, and no box around it."""
    ax.grid(True, which="major", color="0.9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def check_plot_path(
    path: str | os.PathLike[str], formats: Sequence[str] = PICTURES, what: str = "plot"
) -> str:
    """Return the format that the suffix of `path` names, if a plot can be written there.

    Meant to be called before long work: for pictures it also checks that matplotlib is installed.

    Examples
    --------
    >>> check_plot_path("karate.svg")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in formats:
        allowed = ", ".join(f".{name}" for name in formats)
        raise InvalidInputError(
            f"cannot write the {what} {path}: the suffix must be one of {allowed}"
        )
    check_writable(path)
    if suffix in PICTURES:
        require("matplotlib.figure", extra="plot")
    return suffix


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure, whole or not at all; the suffix of the path names the format."""
    image_format = check_plot_path(path)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=image_format, dpi=150)
