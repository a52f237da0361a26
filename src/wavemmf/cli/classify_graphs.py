"""``wavemmf classify graphs``: train models on data sets of many graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress_bar
from .._validation import check_choice, check_integer
from ..datasets import read_graphs
from ..errors import InvalidInputError
from ..experiments.records import Recorder
from .classification import (
    EpochsOption,
    JobsOption,
    KeptRunsOption,
    models_named,
    print_results,
    without_outcomes,
)
from .inputs import JsonOption, RecordOption, SeedOption

__all__ = ["graphs"]


def graphs(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Graphs of your own: a folder of files in the format of the TU collection; by "
            "default the data set."
        ),
    ] = None,
    dataset: Annotated[
        str,
        typer.Option(help="MUTAG, PTC, PTC_MR, PROTEINS, NCI1, NCI109, ENZYMES or DD."),
    ] = "MUTAG",
    protocol: Annotated[
        str,
        typer.Option(
            help="honest: epochs chosen on a hold-out of each training fold. xu: one epoch for "
            "all folds, chosen by the mean test accuracy, as in the GIN literature."
        ),
    ] = "honest",
    model: Annotated[
        str,
        typer.Option(
            help="wavelet, wavelet-paper, filterless, hops, gin, gcn, dgcnn, counts, wl; "
            "several, separated by commas, are compared."
        ),
    ] = "wavelet",
    split: Annotated[
        str,
        typer.Option(help="stratified (drawn by the seed), dgcnn or paper (fixed folds)."),
    ] = "stratified",
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    runs: Annotated[int, typer.Option(help="Number of runs, with seeds one after another.")] = 3,
    epochs: EpochsOption = None,
    members: Annotated[
        int | None,
        typer.Option(help="Networks that vote, each with a hold-out of its own; at most ten."),
    ] = None,
    attributes: Annotated[
        bool, typer.Option("--attributes", help="Take node attributes as features too.")
    ] = False,
    edge_labels: Annotated[
        bool, typer.Option("--edge-labels", help="Take numbers of edges of each label too.")
    ] = False,
    jobs: JobsOption = 1,
    results: KeptRunsOption = None,
    seed: SeedOption = 0,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Classify graphs by cross-validation; never with the best epoch of each test fold.

    \b
    Examples:
      wavemmf classify graphs --dataset MUTAG --protocol honest --model wavelet
      wavemmf classify graphs my-molecules --model wavelet,wl
      wavemmf classify graphs --dataset NCI1 --model wavelet,filterless,gin --jobs 2 --results r
    """  # noqa: D301
    from ..experiments._results import compared
    from ..experiments.graphs import (
        GRAPH_MODELS,
        PROTOCOLS,
        GraphProblem,
        classify_graphs,
        load_graph_problem,
    )

    keep = Recorder(record)
    models = models_named(model, GRAPH_MODELS)
    check_choice("protocol", protocol, PROTOCOLS)
    for option, value in (("--runs", runs), ("--jobs", jobs), ("--epochs", epochs or 1)):
        check_integer(option, value, 1)
    if data is not None and edge_labels:
        raise InvalidInputError("--edge-labels is for data sets by name")
    if data is not None and split != "stratified":
        raise InvalidInputError(f"--split {split} is for data sets by name: it has fixed folds")
    if data is None:
        problem = load_graph_problem(dataset, attributes, edge_labels, cache=True)
    else:
        own = read_graphs(data)
        problem = GraphProblem(own.name, own.graphs, own.labels, attributes, cache=True)
    done = []
    for name in models:
        with progress_bar(f"{problem.name}, {protocol}") as progress:
            done.append(
                classify_graphs(
                    problem, name, protocol, split, folds, runs, seed, epochs, members, jobs,
                    results, progress,
                )
            )  # fmt: skip
    told = compared(done)
    settings = {"protocol": protocol, "models": models, "split": split, "folds": folds}
    settings |= {"epochs": epochs, "members": members}
    settings |= {"attributes": attributes, "edge_labels": edge_labels}
    values = [{**without_outcomes(entry), "basis": _basis(entry, problem)} for entry in told]
    measured = keep("classify graphs", [problem.name], settings, done[0].seeds, values)
    print_results(told, measured, ("dataset", "protocol", "folds", "runs", "seeds"), as_json)


def _basis(told: dict[str, Any], problem: Any) -> dict[str, float] | None:
    """Return how sparse and how exact the basis of a model is, if it has one."""
    basis = told["settings"].get("basis")
    return problem.basis_statistics(**basis) if basis else None
