"""``wavemmf compare signals``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress_bar
from ..errors import InvalidInputError
from ..experiments._signal_plot import save_signal_plot
from ..experiments.records import Recorder
from ..experiments.signal_data import SIGNALS, signal_problem
from ..experiments.signals import BASES, SHARES, compare_signals
from ..plot import check_plot_path
from .inputs import JsonOption, RecordOption, read_input, words
from .output import print_json, print_record

__all__ = ["compare_signals_command"]


def compare_signals_command(
    graph: Annotated[
        str,
        typer.Option(help=f"A file, or a graph that comes with signals: {', '.join(SIGNALS)}."),
    ],
    signal: Annotated[
        str,
        typer.Option(help="A file with a line per vertex, or the name of a signal of the graph."),
    ],
    bases: Annotated[
        str | None,
        typer.Option(
            help=f"Bases, separated by commas: {', '.join(BASES)}. By default all that suit the "
            "size of the graph."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw error against share of coefficients: .png, .pdf or .svg."),
    ] = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare bases for a signal on a graph: relative error of the largest coefficients.

    \b
    Examples:
      wavemmf compare signals --graph toronto --signal pedestrians --plot toronto.png
      wavemmf compare signals --graph digits --signal images --bases diffusion-k2,haar
      wavemmf compare signals --graph roads.mtx --signal heights.txt
    """  # noqa: D301
    if plot is not None:
        check_plot_path(plot)
    keep = Recorder(record)
    chosen = words(bases)
    for name in chosen or ():
        if name not in BASES:
            raise InvalidInputError(f"--bases must be of {', '.join(BASES)}, got {name!r}")
    weights, signals = signal_problem(graph, signal, read_input)
    with progress_bar("comparing") as progress:
        rows = compare_signals(weights, signals, chosen, progress)
    n = len(signals)
    settings: dict[str, Any] = {"n": n, "signal": signal, "shares": list(SHARES)}
    settings |= {"bases": [row.basis for row in rows]}
    measured = keep("compare signals", [graph], settings, [], [asdict(row) for row in rows])
    title = f"{graph}, {signal}: n = {n}"
    if plot is not None:
        save_signal_plot(rows, plot, title)
    if as_json:
        print_json({"graph": graph, **settings, "rows": measured.values})
    else:
        print_record(measured)
