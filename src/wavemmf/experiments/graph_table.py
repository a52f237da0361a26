"""The paper's table of graph classification, run again: every model on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from .._progress import Progress, silent
from .._validation import check_choice, check_integer
from ._published import PUBLISHED_GRAPHS
from .graphs import (
    GRAPH_DATASETS,
    GRAPH_MODELS,
    PROTOCOLS,
    GraphClassification,
    GraphProblem,
    classify_graphs,
    load_graph_problem,
)

__all__ = ["PUBLISHED_GRAPHS", "published_by_the_paper", "run_graph_table"]


def run_graph_table(
    datasets: Sequence[str] = tuple(PUBLISHED_GRAPHS),
    models: Sequence[str] = ("wavelet", "filterless", "gin", "wl", "counts"),
    protocols: Sequence[str] = ("honest", "xu"),
    folds: int = 10,
    runs: int = 3,
    seed: int = 0,
    epochs: int | None = None,
    jobs: int = 1,
    results: Path | None = None,
    progress: Progress = silent,
) -> list[GraphClassification]:
    """Run all models on all data sets under all protocols, one after the other.

    Parameters
    ----------
    datasets, models, protocols : sequences of str
        What to run; see `classify_graphs`.
    folds, runs, seed, epochs, jobs, results
        As for `classify_graphs`.
    progress : callable
        Called as ``progress(done, total, note)`` after every fold of the whole study.

    Returns
    -------
    list of GraphClassification
    """
    for name, values, allowed in (
        ("dataset", datasets, GRAPH_DATASETS),
        ("model", models, GRAPH_MODELS),
        ("protocol", protocols, tuple(PROTOCOLS)),
    ):
        for value in values:
            check_choice(name, value, allowed)
    for name, number in (("folds", folds), ("runs", runs), ("jobs", jobs)):
        check_integer(name, number, 1)
    cells = list(product(datasets, protocols, models))
    each = folds * runs
    done: list[GraphClassification] = []
    problem: GraphProblem | None = None
    for dataset, protocol, model in cells:
        if problem is None or problem.name != dataset:
            problem = load_graph_problem(dataset, cache=True)
        before = len(done) * each

        def overall(so_far: int, of: int, note: str, title: str = f"{dataset}, {protocol}") -> None:
            progress(before + so_far, len(cells) * each, f"{title}, {note}")  # noqa: B023

        done.append(
            classify_graphs(
                problem, model, protocol, "stratified", folds, runs, seed, epochs, None, jobs,
                results, overall,
            )
        )  # fmt: skip
    return done


def published_by_the_paper(result: GraphClassification) -> float | None:
    """Return the paper's figure beside a wavelet network, and nothing beside others."""
    if not result.model.startswith("wavelet"):
        return None
    return PUBLISHED_GRAPHS.get(result.dataset, {}).get("paper")
