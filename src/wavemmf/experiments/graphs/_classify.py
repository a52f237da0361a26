"""Graph classification over seeds and folds: the same folds for every model, resumable."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
import torch

from ..._fingerprint import fingerprint
from ..._progress import Progress, silent
from ..._validation import check_choice, check_integer
from .._results import ResultStore
from ._duplicates import seen_in_training
from ._folds import FOLDS, Fold, inner_holdout, make_folds
from ._models import GRAPH_MODELS, GraphModel, make_graph_model
from ._problem import GraphProblem, load_graph_problem
from ._protocol import PROTOCOLS, FoldOutcome, GraphClassification
from ._trial import Trial

__all__ = ["classify_graphs"]

_Task = tuple[int, int, list[Fold]]  # seed, number of the fold, the fold as each member sees it


def classify_graphs(
    dataset: str | GraphProblem,
    model: str = "wavelet",
    protocol: str = "honest",
    split: str = "stratified",
    folds: int = 10,
    runs: int = 3,
    seed: int = 0,
    epochs: int | None = None,
    members: int | None = None,
    jobs: int = 1,
    results: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> GraphClassification:
    """Train a model on all folds of a cross-validation and report its accuracy.

    Parameters
    ----------
    dataset : str or GraphProblem
        One of `GRAPH_DATASETS`, or data of your own.
    model : str
        One of `GRAPH_MODELS`.
    protocol : {"honest", "xu"}
        Epochs are chosen on a hold-out of a tenth of the training graphs of each fold; or, as in
        the GIN literature, one epoch for all folds is chosen by the mean accuracy on the
        test graphs themselves.
    split : {"stratified", "dgcnn", "paper"}
        Drawn by the seed, or the fixed folds that came with the data.
    folds, runs, seed : int
        Number of folds, number of runs of all folds, and the seed of the first.
    epochs : int, optional
        Another number of epochs than the model's own.
    members : int, optional
        Another number of networks than the model's own. Each has a hold-out, a numbering of the
        nodes and random numbers of its own; their probabilities are averaged.
    jobs : int
        How many folds are trained at a time, in processes of their own with one thread each.
        Results do not depend on it. A script that sets it needs the usual
        ``if __name__ == "__main__":``.
    results : path, optional
        Keep the outcome of every fold here as JSON; folds found here, of the same settings and
        data, are not repeated.
    progress : callable
        Called as ``progress(done, total, note)`` after every fold.

    Returns
    -------
    GraphClassification

    Examples
    --------
    >>> import wavemmf as wm
    >>> graphs = [wm.graphs.cycle(n) for n in range(4, 14)]
    >>> graphs += [wm.graphs.path(n) for n in range(4, 14)]
    >>> problem = GraphProblem("rings", graphs, [0] * 10 + [1] * 10)
    >>> result = classify_graphs(problem, folds=2, runs=1, epochs=2)
    >>> result.accuracies.shape
    (1, 2)
    """
    check_choice("model", model, GRAPH_MODELS)
    check_choice("protocol", protocol, PROTOCOLS)
    check_choice("split", split, FOLDS)
    runs, seed = check_integer("runs", runs, 1), check_integer("seed", seed, 0)
    jobs = check_integer("jobs", jobs, 1)
    store = None if results is None else ResultStore(results)
    problem = dataset if isinstance(dataset, GraphProblem) else load_graph_problem(dataset)
    chosen = make_graph_model(model, problem.name, epochs, members)
    numbers = tuple(range(seed, seed + runs))
    outer = [make_folds(problem.y, split, each, folds, problem.name) for each in numbers]
    tasks = _tasks(problem, protocol == "honest", chosen.members, numbers, outer)
    study = _Study(problem, chosen, protocol, split, store)
    found = study.run(tasks, jobs, progress)
    grouped = tuple(tuple(found[each, i] for i in range(len(tasks) // runs)) for each in numbers)
    return GraphClassification(problem.name, model, protocol, split, numbers, grouped, chosen.facts)


def _tasks(
    problem: GraphProblem,
    held: bool,
    members: int,
    seeds: Sequence[int],
    outer: Sequence[Sequence[Fold]],
) -> list[_Task]:
    return [
        (
            seed,
            number,
            [inner_holdout(fold, problem.y, seed, i) if held else fold for i in range(members)],
        )
        for seed, folds in zip(seeds, outer, strict=True)
        for number, fold in enumerate(folds)
    ]


class _Study:
    """All folds of one model on one data set: which are known, and how to run the others."""

    def __init__(
        self,
        problem: GraphProblem,
        model: GraphModel,
        protocol: str,
        folds: str,
        store: ResultStore | None,
    ) -> None:
        self.problem, self.model, self.store = problem, model, store
        self.name = (problem.name, folds, protocol, model.name)
        # Once: every fold has a key, and the data are the same for all.
        self.data = "" if store is None else fingerprint("graph data", data=problem)

    def run(
        self, tasks: list[_Task], jobs: int, progress: Progress
    ) -> dict[tuple[int, int], FoldOutcome]:
        found: dict[tuple[int, int], FoldOutcome] = {}
        for task in tasks:
            kept = self._load(task)
            if kept is not None:
                found[task[:2]] = kept
        missing = [task for task in tasks if task[:2] not in found]

        def note(text: str) -> None:
            progress(len(found), len(tasks), f"{self.model.name}, {text}" if text else "")

        note("")
        for task, trial in self._trials(missing, jobs, note) if missing else ():
            found[task[:2]] = outcome = self._judge(task[2][0], trial)
            if self.store is not None:
                self.store.save((*self.name, *task[:2]), self._key(task), outcome.to_json())
            note(f"seed {task[0]}, fold {task[1]}")
        return found

    def _load(self, task: _Task) -> FoldOutcome | None:
        if self.store is None:
            return None
        return self.store.load((*self.name, *task[:2]), self._key(task), FoldOutcome)

    def _key(self, task: _Task) -> str:
        seed, number, folds = task
        return fingerprint(
            "graph run",
            data=self.data,
            model=self.model,
            facts=self.model.facts,
            seed=seed,
            number=number,
            folds=folds,
        )

    def _trials(
        self, tasks: list[_Task], jobs: int, note: Callable[[str], None]
    ) -> Iterator[tuple[_Task, Trial]]:
        for basis in self.model.bases():
            # Here, not in every process: all of them get the result.
            if basis is not None:
                self.problem.bases(_counting(note, "factorized graphs"), **basis)
        if jobs == 1:
            prepared = self.model.prepare(self.problem)
            for task in tasks:
                epochs = _counting(note, f"seed {task[0]}, fold {task[1]}, epochs")
                yield task, self.model.run(self.problem, prepared, task[2], _number(task), epochs)
            return
        pool = ProcessPoolExecutor(
            min(jobs, len(tasks)),
            # A fork would inherit the locks of threads that no longer run.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(self.problem, self.model),
        )
        try:
            futures = {pool.submit(_run_in_worker, task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)  # after an error or Ctrl-C, not hours later

    def _judge(self, fold: Fold, trial: Trial) -> FoldOutcome:
        learnt = fold.train if fold.validation is None else np.union1d(fold.train, fold.validation)
        distinct = ~seen_in_training(self.problem.isomorphism_classes, learnt, fold.test)
        wanted = self.problem.y[fold.test]
        right = [np.asarray(prediction == wanted) for prediction in trial.predictions]
        return FoldOutcome(
            test_size=int(fold.test.size),
            distinct_size=int(distinct.sum()),
            test_correct=[int(each.sum()) for each in right],
            distinct_correct=[int(each[distinct].sum()) for each in right],
            chosen=trial.chosen,
            validation=trial.validation,
            seconds=trial.seconds,
        )


def _counting(note: Callable[[str], None], what: str) -> Progress:
    """Return the progress of a part of the work: it changes the note, not how much is done."""

    def progress(done: int, total: int, text: str = "") -> None:
        note(f"{what}: {done} of {total}")

    return progress


def _number(task: _Task) -> int:
    """Return the seed of the random numbers of one fold, different for all folds of all seeds."""
    seed, fold, _ = task
    return 1000 * seed + fold


_worker: dict[str, Any] = {}


def _start_worker(problem: GraphProblem, model: GraphModel) -> None:
    torch.set_num_threads(1)
    _worker.update(problem=problem, model=model, prepared=model.prepare(problem))


def _run_in_worker(task: _Task) -> Trial:
    model: GraphModel = _worker["model"]
    return model.run(_worker["problem"], _worker["prepared"], task[2], _number(task))
