"""``wavemmf reproduce table2``: graph classification on all data sets, beside the paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import check_writable
from .._progress import Progress, progress_bar, silent
from ..experiments.csvfile import save_csv
from ..validation import check_choice, check_integer
from .classify_graphs import accuracy_text
from .inputs import JsonOption, SeedOption, words
from .output import print_json, print_table

__all__ = ["PUBLISHED", "run_table2", "table2"]

#: Accuracies in per cent as published: the paper's wavelet network (its row "PROTEINS" is most
#: likely D&D), GIN (Xu et al. 2019, protocol xu), and under protocol honest GIN and the
#: structure-agnostic baseline of Errica et al. 2020.
PUBLISHED: dict[str, dict[str, float]] = {
    "MUTAG": {"paper": 86.31, "GIN, xu": 89.4},
    "PTC": {"paper": 67.99, "GIN, xu": 64.6},
    "PROTEINS": {"paper": 78.72, "GIN, xu": 76.2, "structure-agnostic, honest": 75.8},
    "DD": {"paper": 78.72, "structure-agnostic, honest": 78.4},
    "NCI1": {"paper": 71.04, "GIN, xu": 82.7, "GIN, honest": 80.0},
}
_COLUMNS = (
    "dataset", "model", "protocol", "runs", "accuracy_mean", "accuracy_std",
    "without_duplicates_mean", "without_duplicates_std", "duplicates_share", "seconds", "paper",
)  # fmt: skip


def run_table2(
    datasets: Sequence[str] = tuple(PUBLISHED),
    models: Sequence[str] = ("wavelet", "filterless", "gin", "wl", "counts"),
    protocols: Sequence[str] = ("honest", "xu"),
    num_folds: int = 10,
    seeds: int = 3,
    seed: int = 0,
    epochs: int | None = None,
    jobs: int = 1,
    results: Path | None = None,
    progress: Progress = silent,
) -> list[Any]:
    """Run all models on all data sets under all protocols, one after the other.

    Parameters
    ----------
    datasets, models, protocols : sequences of str
        What to run; see `wavemmf.nn.classify_graphs`.
    num_folds, seeds, seed, epochs, jobs, results
        As for `wavemmf.nn.classify_graphs`.
    progress : callable
        Called as ``progress(done, total, note)`` after every fold of the whole study.

    Returns
    -------
    list of GraphClassification
    """
    from ..nn import (
        GRAPH_DATASETS,
        GRAPH_MODELS,
        PROTOCOLS,
        classify_graphs,
        load_graph_problem,
    )

    for name, values, allowed in (
        ("dataset", datasets, GRAPH_DATASETS),
        ("model", models, GRAPH_MODELS),
        ("protocol", protocols, tuple(PROTOCOLS)),
    ):
        for value in values:
            check_choice(name, value, allowed)
    for name, number in (("folds", num_folds), ("seeds", seeds), ("jobs", jobs)):
        check_integer(name, number, 1)
    cells = list(product(datasets, protocols, models))
    each = num_folds * seeds
    done: list[Any] = []
    problem: Any = None
    for dataset, protocol, model in cells:
        if problem is None or problem.name != dataset:
            problem = load_graph_problem(dataset, cache=True)
        before = len(done) * each

        def overall(folds: int, of: int, note: str, title: str = f"{dataset}, {protocol}") -> None:
            progress(before + folds, len(cells) * each, f"{title}, {note}")  # noqa: B023

        done.append(
            classify_graphs(
                problem, model, protocol, "stratified", num_folds, seeds, seed, epochs, None, jobs,
                results, overall,
            )
        )  # fmt: skip
    return done


def table2(
    datasets: Annotated[
        str, typer.Option(help="Data sets, separated by commas.")
    ] = "MUTAG,PTC,PROTEINS,DD,NCI1",
    models: Annotated[
        str, typer.Option(help="Models, as for classify graphs.")
    ] = "wavelet,filterless,gin,wl,counts",
    protocols: Annotated[str, typer.Option(help="Protocols, separated by commas.")] = "honest,xu",
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    seeds: Annotated[int, typer.Option(help="Number of seeds.")] = 3,
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
    if output is not None:
        check_writable(output)
    with progress_bar("table 2") as progress:
        done = run_table2(
            words(datasets) or [], words(models) or [], words(protocols) or [],
            folds, seeds, seed, epochs, jobs, results, progress,
        )  # fmt: skip
    told = [{**result.to_json(), "paper": _paper(result)} for result in done]
    if output is not None:
        save_csv(_COLUMNS, ({name: row[name] for name in _COLUMNS} for row in told), output)
    if as_json:
        print_json({"rows": told, "published": PUBLISHED})
    else:
        _print(told)


def _paper(result: Any) -> float | None:
    """Return the paper's figure beside the wavelet network, and nothing beside others."""
    if not result.model.startswith("wavelet"):
        return None
    return PUBLISHED.get(result.dataset, {}).get("paper")


def _print(told: list[dict[str, Any]]) -> None:
    sections = []
    for dataset in dict.fromkeys(entry["dataset"] for entry in told):
        rows = [_row(entry) for entry in told if entry["dataset"] == dataset]
        for name, value in PUBLISHED.get(dataset, {}).items():
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
