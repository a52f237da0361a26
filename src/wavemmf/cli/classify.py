"""``wavemmf classify``: train networks on a data set and tell how accurate they are."""

from __future__ import annotations

from typing import Annotated

import typer

from .._progress import progress_bar
from .._validation import check_choice
from ..experiments.records import Recorder
from .classification import (
    EpochsOption,
    KeptRunsOption,
    models_named,
    print_results,
    without_outcomes,
)
from .classify_graphs import graphs
from .inputs import JsonOption, RecordOption, SeedOption

__all__ = ["classify_app"]

classify_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train wavelet networks and others (needs the extras torch and pyg).",
)


classify_app.command()(graphs)


@classify_app.command()
def nodes(
    dataset: Annotated[
        str,
        typer.Option(help="cora, citeseer, webkb, planetoid-cora (-citeseer, -pubmed) or karate."),
    ] = "cora",
    split: Annotated[
        str,
        typer.Option(help="20/20/60, 40/20/40, 60/20/20, public, or 60/20/20-per-class."),
    ] = "60/20/20",
    model: Annotated[
        str,
        typer.Option(
            help="wavelet, wavelet-paper, wavelet-shared, wavelet-end-to-end, wavelet-few-labels, "
            "wavelet-sparse, wavelet-no-similar, hops-only, mlp, gcn, chebnet, appnp, gprgnn, "
            "gcnii, gwnn, spectral-cnn; several, separated by commas, are compared."
        ),
    ] = "wavelet",
    runs: Annotated[int, typer.Option(help="Number of splits, with seeds one after another.")] = 10,
    epochs: EpochsOption = None,
    results: KeptRunsOption = None,
    seed: SeedOption = 0,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Classify the nodes of a graph; epochs are chosen by validation nodes only.

    \b
    Examples:
      wavemmf classify nodes --dataset cora --split 60/20/20 --model wavelet --runs 10
      wavemmf classify nodes --dataset citeseer --model wavelet,gcn,appnp --results runs
    """  # noqa: D301
    from ..experiments._results import compared
    from ..experiments.nodes import NODE_MODELS, SPLITS, classify_nodes, load_node_problem

    keep = Recorder(record)
    models = models_named(model, NODE_MODELS)
    check_choice("split", split, SPLITS)
    problem = load_node_problem(dataset)
    done = []
    for name in models:
        with progress_bar(f"training {name}") as progress:
            done.append(classify_nodes(problem, name, split, runs, seed, epochs, results, progress))
    told = compared(done)
    settings = {"split": split, "models": models, "runs": runs, "epochs": epochs}
    values = [without_outcomes(entry) for entry in told]
    measured = keep("classify nodes", [problem.name], settings, done[0].seeds, values)
    print_results(told, measured, ("dataset", "split", "protocol", "runs"), as_json)
