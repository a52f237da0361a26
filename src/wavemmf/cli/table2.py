"""``wavemmf reproduce table2``: graph classification on all data sets, beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import check_writable
from .._progress import progress_bar
from ..experiments import save_csv
from .classify_graphs import accuracy_text
from .inputs import JsonOption, SeedOption, words
from .output import print_json, print_table

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
    epochs: Annotated[
        int | None, typer.Option(help="Another number of epochs than the models' own.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Folds trained at a time, one thread each.")] = 1,
    results: Annotated[
        Path, typer.Option(help="Folder that keeps every fold; the same command goes on there.")
    ] = Path("results/table2"),
    output: Annotated[Path | None, typer.Option("--csv", help="Also write a CSV file.")] = None,
    seed: SeedOption = 0,
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
    with progress_bar("table 2") as progress:
        done = run_graph_table(
            words(datasets) or [], words(models) or [], words(protocols) or [],
            folds, runs, seed, epochs, jobs, results, progress,
        )  # fmt: skip
    told = [{**result.to_json(), "paper": published_by_the_paper(result)} for result in done]
    if output is not None:
        save_csv(_COLUMNS, ({name: row[name] for name in _COLUMNS} for row in told), output)
    if as_json:
        print_json({"rows": told, "published": PUBLISHED_GRAPHS})
    else:
        _print(told, PUBLISHED_GRAPHS)


def _print(told: list[dict[str, Any]], published: dict[str, dict[str, float]]) -> None:
    sections = []
    for dataset in dict.fromkeys(entry["dataset"] for entry in told):
        rows = [_row(entry) for entry in told if entry["dataset"] == dataset]
        for name, value in published.get(dataset, {}).items():
            rows.append([dataset, f"as published: {name}", "", f"{value:.2f}", "", ""])
        sections.append(rows)
    headings = ["data set", "model", "protocol", "test accuracy", "without duplicates", "runs"]
    print_table(headings, sections)


def _row(entry: dict[str, Any]) -> list[str]:
    return [
        entry["dataset"],
        entry["model"],
        entry["protocol"],
        accuracy_text(entry["accuracy_mean"], entry["accuracy_std"]),
        accuracy_text(entry["without_duplicates_mean"], entry["without_duplicates_std"]),
        str(entry["runs"]),
    ]
