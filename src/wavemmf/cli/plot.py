"""``wavemmf plot``: wavelets of a saved factorization on a drawing of its graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._optional import require
from ..errors import FileFormatError, InvalidInputError
from ..factorization import load
from ..io import read
from ..plot import check_plot_path, save_figure, wavelet
from .inputs import integers, read_input

__all__ = ["plot"]

_COLUMNS = 3


def plot(
    file: Annotated[Path, typer.Argument(help="A factorization, as factorize -o writes it.")],
    graph: Annotated[
        str, typer.Option("--graph", help="The graph, as given to factorize: a file or a name.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture: .png, .pdf or .svg.")
    ] = Path("wavelets.png"),
    level: Annotated[
        str | None,
        typer.Option(help="Levels, from 1, separated by commas; first, middle, last by default."),
    ] = None,
    coordinates: Annotated[
        Path | None,
        typer.Option(help="Where to draw the vertices: a table of x and y (.npy, .csv or .txt)."),
    ] = None,
    stems: Annotated[
        bool, typer.Option("--stems", help="Values as heights, as in the paper's figures.")
    ] = False,
) -> None:
    """Draw wavelets on the graph: red above zero, blue below.

    \b
    Examples:
      wavemmf factorize cayley --core 8 --k 6 -o cayley.mmf
      wavemmf plot cayley.mmf --graph cayley --level 1,20,39 -o wavelets.png
    """  # noqa: D301
    check_plot_path(output)
    f = load(file)
    levels = integers("--level", level) or _some_levels(f.num_levels)
    for number in levels:
        if not 1 <= number <= f.num_levels:
            raise InvalidInputError(f"--level must be from 1 to {f.num_levels}, got {number}")
    drawn = read_input(graph)
    points = None if coordinates is None else _table(coordinates)
    columns = min(len(levels), _COLUMNS)
    rows = -(-len(levels) // columns)
    figure = require("matplotlib.figure", extra="plot").Figure(
        (4.2 * columns, 3.6 * rows), layout="constrained"
    )
    for place, number in enumerate(levels, 1):
        ax = figure.add_subplot(rows, columns, place, projection="3d" if stems else None)
        wavelet(f, number, drawn, ax=ax, stems=stems, coordinates=points)
    save_figure(figure, output)
    typer.echo(f"wavelets of levels {', '.join(map(str, levels))}: {output}")


def _table(path: Path) -> Any:
    """Read a table of numbers."""
    if path.suffix == ".npy":
        return read(path)
    try:
        return np.loadtxt(path, delimiter="," if path.suffix == ".csv" else None, ndmin=2)
    except ValueError as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from error


def _some_levels(count: int) -> list[int]:
    return sorted({1, max(1, count // 2), count}) if count else []
