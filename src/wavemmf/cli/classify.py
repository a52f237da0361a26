"""``wavemmf classify``: train networks on a data set and tell how accurate they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress_bar
from .._validation import check_choice
from ..errors import InvalidInputError
from .classify_graphs import accuracy_text, graphs
from .inputs import JsonOption, SeedOption, words
from .output import print_facts, print_json, print_table

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
    epochs: Annotated[
        int | None, typer.Option(help="Another number of epochs than the network's own.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps every run; runs found there are not repeated."),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Classify the nodes of a graph; epochs are chosen by validation nodes only.

    \b
    Examples:
      wavemmf classify nodes --dataset cora --split 60/20/20 --model wavelet --runs 10
      wavemmf classify nodes --dataset citeseer --model wavelet,gcn,appnp --results results
    """  # noqa: D301
    from ..experiments.nodes import NODE_MODELS, SPLITS, classify_nodes, load_node_problem

    models = words(model) or []
    if not models or len(set(models)) < len(models):
        raise InvalidInputError(f"--model must name networks, each once, got {model!r}")
    for name in models:
        check_choice("model", name, NODE_MODELS)
    check_choice("split", split, SPLITS)
    problem = load_node_problem(dataset)
    done = []
    for name in models:
        with progress_bar(f"training {name}") as progress:
            done.append(classify_nodes(problem, name, split, runs, seed, epochs, results, progress))
    if as_json:
        told = [result.to_json() for result in done]
        print_json(told[0] if len(told) == 1 else _together(done, told))
    elif len(done) == 1:
        print_facts(_facts(done[0]))
    else:
        _print_comparison(done)


def _together(done: Sequence[Any], told: list[dict[str, Any]]) -> dict[str, Any]:
    for result, entry in zip(done, told, strict=True):
        mean, error = done[0].better_by(result)
        entry["difference_mean"], entry["difference_standard_error"] = mean, error
    shared = ("dataset", "split", "protocol", "runs")
    return {**{name: told[0][name] for name in shared}, "models": told}


def _facts(result: Any) -> dict[str, str]:
    told = result.to_json()
    facts = {
        "data set": result.dataset,
        "protocol": result.protocol,
        "network": f"{result.model}, {result.facts['parameters']} parameters",
        "runs": f"{told['runs']}, seeds {result.seeds[0]} to {result.seeds[-1]}",
        "test accuracy": accuracy_text(result.accuracy_mean, result.accuracy_std),
        "validation accuracy": f"{100 * told['validation_accuracy_mean']:.2f}",
        "time": f"{1000 * told['seconds_per_epoch']:.1f} ms per epoch",
    }
    if "basis" in result.facts:
        facts["basis"] = f"{100 * result.facts['basis']['nnz_share']:.2f} % of a dense one"
    return facts


def _print_comparison(done: Sequence[Any]) -> None:
    first = done[0]
    typer.echo(f"{first.dataset}, {first.protocol}, {len(first.seeds)} runs\n")
    rows = []
    for result in done:
        mean, error = first.better_by(result)
        gain = "" if result is first else f"{100 * mean:+.2f} ± {100 * error:.2f}"
        speed = f"{1000 * result.to_json()['seconds_per_epoch']:.1f}"
        rows.append(
            [result.model, accuracy_text(result.accuracy_mean, result.accuracy_std), gain, speed]
        )
    headings = ["network", "test accuracy", f"{first.model} is better by", "ms per epoch"]
    print_table(headings, [rows])
