"""``wavemmf reproduce``: run the paper's experiments again, and one of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import atomic_write
from .._json import json_text
from .._progress import progress_bar
from ..experiments import save_csv
from ..experiments.records import Recorder
from .classification import EpochsOption, JobsOption
from .figures import fig1, fig2
from .inputs import JsonOption, RecordOption, words
from .long_range import long_range
from .output import print_json, print_record
from .table2 import table2

__all__ = ["reproduce_app"]

reproduce_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run the paper's experiments again (tables need the extras torch and pyg, figures plot).",
)


@reproduce_app.command()
def table1(
    results: Annotated[
        Path, typer.Option(help="Folder that keeps every run, and the table as CSV and JSON.")
    ] = Path("table1"),
    cells: Annotated[
        str | None,
        typer.Option(
            help="DATASET:SPLIT, separated by commas, such as planetoid-cora:public; by default "
            "Cora and Citeseer with 20, 40 and 60 per cent of the nodes for training."
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Networks, separated by commas; by default all but wavelet-paper, which "
            "takes 13 GB on Cora and nearly three times as much on Citeseer."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Number of seeds, shared by all networks.")] = 10,
    jobs: JobsOption = 2,
    epochs: EpochsOption = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Classify nodes with all networks and print the paper's accuracies beside ours.

    An interrupted command goes on where it was. Epochs are chosen by validation nodes only; run i
    has seed i for the split and for the weights of every network.

    \b
    Examples:
      wavemmf reproduce table1
      wavemmf reproduce table1 --cells planetoid-cora:public,planetoid-citeseer:public
    """  # noqa: D301
    from ..experiments.node_table import PUBLISHED_NODES, cell_rows, parse_cells, run_node_table

    keep = Recorder(record)
    chosen = list(PUBLISHED_NODES) if cells is None else parse_cells(cells)
    with progress_bar("training networks") as progress:
        table = run_node_table(
            results / "runs",
            chosen,
            words(models) if models else None,
            runs,
            jobs,
            epochs,
            progress,
        )
    rows = cell_rows(table)
    settings = {"models": list(table[0].results), "runs": runs, "epochs": epochs}
    names = [f"{dataset} {split}" for dataset, split in chosen]
    measured = keep("reproduce table1", names, settings, range(runs), rows)
    save_csv(list(rows[0]), rows, results / "table1.csv")
    whole = {"cells": [_as_json(cell) for cell in table]}
    with atomic_write(results / "table1.json") as stream:
        stream.write(json_text(whole).encode("utf-8"))
    if as_json:
        print_json(whole)
        return
    print_record(measured)
    typer.echo(f"\nall runs, table1.csv and table1.json are in {results}; the command was")
    typer.echo("  " + _command(results, cells, models, runs, epochs))


reproduce_app.command()(table2)
reproduce_app.command()(long_range)
reproduce_app.command()(fig1)
reproduce_app.command()(fig2)


def _command(
    results: Path, cells: str | None, models: str | None, runs: int, epochs: int | None
) -> str:
    options = {"cells": cells, "models": models, "runs": runs, "epochs": epochs}
    given = [f"--{name} {value}" for name, value in options.items() if value is not None]
    return " ".join(["wavemmf reproduce table1", *given, f"--results {results}"])


def _as_json(cell: Any) -> dict[str, Any]:
    best = cell.best_baseline
    gain = None if best is None else cell.gain(best.model)
    return {
        "dataset": cell.dataset,
        "split": cell.split,
        "paper": cell.paper,
        "best_baseline": None if best is None else best.model,
        "difference_mean": None if gain is None else gain[0],
        "difference_standard_error": None if gain is None else gain[1],
        "models": [result.to_json() for result in cell.results.values()],
    }
