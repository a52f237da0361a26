"""``wavemmf report``: a page to look at a saved factorization with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..experiments.signal_data import SIGNALS, signal_problem
from ..experiments.signals import read_signals
from ..factorization import load
from ..report import write_report
from ..report._page import check_report_path
from .delivery import check_output
from .inputs import read_input

__all__ = ["report"]


def report(
    file: Annotated[Path, typer.Argument(help="A factorization, as factorize -o writes it.")],
    source: Annotated[
        str | None,
        typer.Option(
            "--matrix",
            "--graph",
            help="What was factorized: a file or a name. Gives the page edges and coordinates.",
        ),
    ] = None,
    signal: Annotated[
        str | None,
        typer.Option(
            help="A signal to show the coefficients of: a file with a line per node, or the name "
            "of a signal that comes with the graph."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page: .html.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, typer.Option(help="Heads the page; the name of the file by default.")
    ] = None,
) -> None:
    """Write one interactive page: wavelets on the graph, hierarchy, compressed matrix, figures.

    The page needs nothing but a browser, offline too.

    \b
    Examples:
      wavemmf factorize karate --core 8 --k 8 -o karate.mmf
      wavemmf report karate.mmf --graph karate -o report.html
      wavemmf report roads.mmf --graph roads.mtx --signal heights.txt
    """  # noqa: D301
    check_report_path(output)
    check_output(output, str(file))
    if source is not None:
        check_output(output, source)
    f = load(file)
    given = None if source is None else read_input(source)
    values = None if signal is None else _signal(source, signal)
    write_report(f, output, given, title or file.stem, values)
    typer.echo(f"report, open it in a browser: {output}")


def _signal(source: str | None, signal: str) -> Any:
    """Return a signal that comes with the graph, or the one in a file."""
    if source is not None and signal in SIGNALS.get(source, ()):
        return signal_problem(source, signal, read_input)[1]
    return read_signals(signal)
