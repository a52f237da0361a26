"""``wavemmf classify graphs``: train models on data sets of many graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress_bar
from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from .inputs import JsonOption, SeedOption, words
from .output import print_facts, print_json, print_table

__all__ = ["accuracy_text", "graphs"]


def graphs(
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
    epochs: Annotated[
        int | None, typer.Option(help="Another number of epochs than the model's own.")
    ] = None,
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
    jobs: Annotated[int, typer.Option(help="Folds trained at a time, one thread each.")] = 1,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps every fold; folds found there are not repeated."),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Classify graphs by cross-validation; never with the best epoch of each test fold.

    \b
    Examples:
      wavemmf classify graphs --dataset MUTAG --protocol honest --model wavelet
      wavemmf classify graphs --dataset NCI1 --model wavelet,filterless,gin --jobs 2 --results r
    """  # noqa: D301
    from ..experiments.graphs import (
        GRAPH_MODELS,
        PROTOCOLS,
        classify_graphs,
        load_graph_problem,
    )

    models = words(model) or []
    if not models or len(set(models)) < len(models):
        raise InvalidInputError(f"--model must name models, each once, got {model!r}")
    for name in models:
        check_choice("model", name, GRAPH_MODELS)
    check_choice("protocol", protocol, PROTOCOLS)
    for option, value in (("--runs", runs), ("--jobs", jobs), ("--epochs", epochs or 1)):
        check_integer(option, value, 1)
    problem = load_graph_problem(dataset, attributes, edge_labels, cache=True)
    done = []
    for name in models:
        with progress_bar(f"{dataset}, {protocol}") as progress:
            done.append(
                classify_graphs(
                    problem, name, protocol, split, folds, runs, seed, epochs, members, jobs,
                    results, progress,
                )
            )  # fmt: skip
    if as_json:
        told = [result.to_json() for result in done]
        print_json(told[0] if len(told) == 1 else _together(done, told))
    elif len(done) == 1:
        print_facts(_facts(done[0], problem))
    else:
        _print_comparison(done)


def accuracy_text(mean: float | None, std: float | None) -> str:
    """Return a mean and a standard deviation in per cent.

    Examples
    --------
    >>> accuracy_text(0.8, 0.0123)
    '80.00 ± 1.23'
    """
    return "" if mean is None or std is None else f"{100 * mean:.2f} ± {100 * std:.2f}"


def _together(done: Sequence[Any], told: list[dict[str, Any]]) -> dict[str, Any]:
    for result, entry in zip(done, told, strict=True):
        mean, error = done[0].better_by(result)
        entry["difference_mean"], entry["difference_standard_error"] = mean, error
    shared = ("dataset", "protocol", "folds", "runs", "seeds")
    return {**{name: told[0][name] for name in shared}, "models": told}


def _facts(result: Any, problem: Any) -> dict[str, str]:
    told = result.to_json()
    facts = {
        "data set": result.dataset,
        "protocol": f"{result.protocol}: {told['protocol_in_words']}",
        "folds": f"{result.accuracies.shape[1]} {result.folds}",
        "model": result.model,
        "seeds": f"{result.seeds[0]} to {result.seeds[-1]}",
        "test accuracy": accuracy_text(told["accuracy_mean"], told["accuracy_std"]),
        "without duplicates": _without(told),
        "training": f"{told['seconds']:.0f} s",
    }
    if result.facts.get("basis"):
        basis = problem.basis_statistics(**result.facts["basis"])
        facts["basis"] = (
            f"{100 * basis['nonzeros']:.2f} % non-zeros, "
            f"relative error {basis['relative_error']:.4f} (means over graphs)"
        )
    return facts


def _without(told: dict[str, Any]) -> str:
    text = accuracy_text(told["without_duplicates_mean"], told["without_duplicates_std"])
    return f"{text} ({100 * told['duplicates_share']:.1f} % of test graphs left out)"


def _print_comparison(done: Sequence[Any]) -> None:
    first = done[0]
    typer.echo(f"{first.dataset}, protocol {first.protocol}, {first.accuracies.size} runs\n")
    rows = []
    for result in done:
        told = result.to_json()
        mean, error = first.better_by(result)
        gain = "" if result is first else f"{100 * mean:+.2f} ± {100 * error:.2f}"
        rows.append(
            [
                result.model,
                accuracy_text(told["accuracy_mean"], told["accuracy_std"]),
                accuracy_text(told["without_duplicates_mean"], told["without_duplicates_std"]),
                gain,
                f"{told['seconds']:.0f}",
            ]
        )
    headings = ["model", "test accuracy", "without duplicates", f"{first.model} is better by", "s"]
    print_table(headings, [rows])
