"""``wavemmf reproduce table2``: graph classification on all data sets, beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._files import check_writable
from .._progress import progress_bar
from ..experiments import save_csv
from ..experiments.records import Recorder
from .classification import EpochsOption, JobsOption
from .inputs import JsonOption, RecordOption, SeedOption, words
from .output import print_json, print_record

__all__ = ["table2"]

_COLUMNS = (
    "dataset", "model", "protocol", "runs", "accuracy_mean", "accuracy_std",
    "without_duplicates_mean", "without_duplicates_std", "duplicates_share", "seconds", "paper",
)  # fmt: skip


def table2(
    datasets: Annotated[
        str, typer.Option(help="Data sets, separated by commas.")
    ] = "MUTAG,PTC,PROTEINS,DD,NCI1",
    models: Annotated[
        str, typer.Option(help="Models, as for classify graphs.")
    ] = "wavelet,filterless,gin,wl,counts",
    protocols: Annotated[str, typer.Option(help="Protocols, separated by commas.")] = "honest,xu",
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    runs: Annotated[int, typer.Option(help="Number of runs, with seeds one after another.")] = 3,
    epochs: EpochsOption = None,
    jobs: JobsOption = 1,
    results: Annotated[
        Path, typer.Option(help="Folder that keeps every fold; the same command goes on there.")
    ] = Path("results/table2"),
    output: Annotated[Path | None, typer.Option("--csv", help="Also write a CSV file.")] = None,
    seed: SeedOption = 0,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Classify graphs under both protocols and print the paper's figures beside ours.

    \b
    Examples:
      wavemmf reproduce table2 --jobs 2
      wavemmf reproduce table2 --datasets MUTAG,PTC --models wavelet,wl --csv table2.csv
    """  # noqa: D301
    from ..experiments.graph_table import (
        PUBLISHED_GRAPHS,
        published_by_the_paper,
        run_graph_table,
    )

    if output is not None:
        check_writable(output)
    keep = Recorder(record)
    with progress_bar("table 2") as progress:
        done = run_graph_table(
            words(datasets) or [], words(models) or [], words(protocols) or [],
            folds, runs, seed, epochs, jobs, results, progress,
        )  # fmt: skip
    told = [{**result.to_json(), "paper": published_by_the_paper(result)} for result in done]
    rows = [{name: row[name] for name in _COLUMNS} for row in told]
    names = list(dict.fromkeys(result.dataset for result in done))
    settings = {"models": words(models), "protocols": words(protocols), "folds": folds}
    measured = keep("reproduce table2", names, {**settings, "epochs": epochs}, done[0].seeds, rows)
    if output is not None:
        save_csv(_COLUMNS, rows, output)
    if as_json:
        print_json({"rows": told, "published": PUBLISHED_GRAPHS})
    else:
        print_record(measured)
