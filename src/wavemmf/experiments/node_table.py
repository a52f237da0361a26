"""The paper's table of node classification, run again: every network on the same splits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from .._progress import Progress, silent
from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ._published import PUBLISHED_NODES
from .nodes import (
    NODE_BASELINES,
    NODE_DATASETS,
    NODE_MODELS,
    SPLITS,
    NodeClassification,
    NodeProblem,
    classify_nodes,
    load_node_problem,
)

__all__ = [
    "DEFAULT_MODELS",
    "PUBLISHED_NODES",
    "Cell",
    "cell_rows",
    "parse_cells",
    "run_node_table",
]

_OURS = "wavelet"

#: What is run unless told otherwise. The paper's own network is left out: a gain for every wavelet
#: and pair of channels takes 13 GB on Cora while it is trained, nearly three times as much on
#: Citeseer.
DEFAULT_MODELS = tuple(name for name in NODE_MODELS if name != "wavelet-paper")


@dataclass(frozen=True)
class Cell:
    """All networks on one data set and split.

    Parameters
    ----------
    dataset, split : str
        What was run.
    results : dict of NodeClassification
        By the name of the network.
    """

    dataset: str
    split: str
    results: dict[str, NodeClassification]

    @property
    def paper(self) -> float | None:
        """The accuracy that the paper reports, in per cent."""
        return PUBLISHED_NODES.get((self.dataset, self.split))

    @property
    def best_baseline(self) -> NodeClassification | None:
        """The network to compare with that has the best test accuracy, or None.

        It is chosen by the figures that are compared: in favour of the baselines.
        """
        there = [result for name, result in self.results.items() if name in NODE_BASELINES]
        return max(there, key=lambda result: result.accuracy_mean, default=None)

    def gain(self, name: str) -> tuple[float, float] | None:
        """Return how much better the wavelet network is on the same splits, and its error."""
        if _OURS not in self.results or name == _OURS:
            return None
        return self.results[_OURS].better_by(self.results[name])


def parse_cells(text: str) -> list[tuple[str, str]]:
    """Return data sets and splits from words such as ``cora:60/20/20``, separated by commas.

    Examples
    --------
    >>> parse_cells("cora:60/20/20,planetoid-cora:public")
    [('cora', '60/20/20'), ('planetoid-cora', 'public')]
    """
    cells = []
    for word in text.split(","):
        dataset, colon, split = word.strip().partition(":")
        if not colon:
            raise InvalidInputError(f"cells are DATASET:SPLIT, such as cora:60/20/20; got {word!r}")
        check_choice("dataset", dataset, NODE_DATASETS)
        check_choice("split", split, SPLITS)
        cells.append((dataset, split))
    return cells


def run_node_table(
    folder: str | os.PathLike[str],
    cells: Sequence[tuple[str, str]] = tuple(PUBLISHED_NODES),
    models: Sequence[str] | None = None,
    runs: int = 10,
    jobs: int = 2,
    epochs: int | None = None,
    progress: Progress = silent,
) -> list[Cell]:
    """Run networks on data sets and splits, with the same seeds for all of them.

    Parameters
    ----------
    folder : path
        Keeps every run; runs found there, of the same data and settings, are not repeated.
    cells : list of (dataset, split)
        By default the six of the paper.
    models : list of str, optional
        Names of networks; `DEFAULT_MODELS` by default.
    runs : int
        Seeds 0 to ``runs - 1``.
    jobs : int
        Processes, each with one thread.
    epochs : int, optional
        Another number of epochs than the networks' own.
    progress : callable
        Called as ``progress(done, total, note)`` after every run.

    Returns
    -------
    list of Cell
    """
    models = tuple(DEFAULT_MODELS if models is None else models)
    for model in models:
        check_choice("model", model, NODE_MODELS)
    check_integer("runs", runs, 1)
    check_integer("jobs", jobs, 1)
    kept = Path(folder)
    # Seeds outermost: what is there after an interruption is complete for the first seeds.
    tasks = [
        (dataset, split, model, seed, epochs, kept)
        for seed, (dataset, split), model in product(range(runs), cells, models)
    ]
    _run_all(tasks, jobs, progress)
    return [
        Cell(
            dataset,
            split,
            {
                model: classify_nodes(_problem(dataset), model, split, runs, 0, epochs, kept)
                for model in models
            },
        )
        for dataset, split in cells
    ]


def _run_all(tasks: Sequence[tuple[Any, ...]], jobs: int, progress: Progress) -> None:
    progress(0, len(tasks), "")
    if jobs == 1:
        for done, task in enumerate(tasks, 1):
            _run(*task)
            progress(done, len(tasks), " ".join(map(str, task[:4])))
        return
    # Not forked: a copy of a process with running threads may hang.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _one_thread) as pool:
        waiting: dict[Future[None], tuple[Any, ...]] = {}
        try:
            waiting = {pool.submit(_run, *task): task for task in tasks}
            for done, future in enumerate(as_completed(waiting), 1):
                future.result()
                progress(done, len(tasks), " ".join(map(str, waiting[future][:4])))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one_thread() -> None:
    torch.set_num_threads(1)


def _run(dataset: str, split: str, model: str, seed: int, epochs: int | None, folder: Path) -> None:
    classify_nodes(_problem(dataset), model, split, 1, seed, epochs, folder)


@lru_cache(maxsize=2)
def _problem(dataset: str) -> NodeProblem:
    return load_node_problem(dataset, cache=True)


def cell_rows(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """Return one flat row per cell and network, for a file of comma-separated values."""
    rows = []
    for cell in cells:
        best = cell.best_baseline
        for name, result in cell.results.items():
            gain = cell.gain(name)
            rows.append(
                {
                    "dataset": cell.dataset,
                    "split": cell.split,
                    "model": name,
                    "runs": len(result.seeds),
                    "accuracy_mean": result.accuracy_mean,
                    "accuracy_std": result.accuracy_std,
                    "wavelet_better_by": None if gain is None else gain[0],
                    "standard_error": None if gain is None else gain[1],
                    "best_baseline": best is not None and best.model == name,
                    "basis_nonzeros": result.facts.get("basis", {}).get("nnz_share"),
                    "seconds_per_epoch": result.to_json()["seconds_per_epoch"],
                    "paper": cell.paper,
                }
            )
    return rows
