"""Node classification over many seeds: the same splits for every network, resumable."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ..._fingerprint import fingerprint
from ..._progress import Progress, silent
from ..._validation import check_choice, check_integer
from ...errors import InvalidInputError
from ...nn._train import NodeOutcome, train_nodes
from .._results import ResultStore, mean_and_error
from ._models import NODE_MODELS, make_node_model
from ._problem import NodeProblem, load_node_problem
from ._splits import SPLITS

__all__ = ["NodeClassification", "classify_nodes"]


@dataclass(frozen=True)
class NodeClassification:
    """Accuracies of one network on one data set, over several seeds.

    Parameters
    ----------
    dataset, split, model, protocol : str
        What was run, and how nodes were chosen, in words.
    seeds : tuple of int
        Each is the seed of a split and of the network's random numbers.
    outcomes : tuple of NodeOutcome
        One per seed.
    facts : dict
        Settings of the network.
    """

    dataset: str
    split: str
    model: str
    protocol: str
    seeds: tuple[int, ...]
    outcomes: tuple[NodeOutcome, ...]
    facts: dict[str, Any]

    @property
    def accuracies(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Test accuracies, one per seed."""
        return np.array([outcome.test_accuracy for outcome in self.outcomes])

    @property
    def accuracy_mean(self) -> float:
        """Mean test accuracy."""
        return float(self.accuracies.mean())

    @property
    def accuracy_std(self) -> float:
        """Standard deviation of the test accuracy over seeds; 0 for a single one."""
        return float(self.accuracies.std(ddof=1)) if len(self.seeds) > 1 else 0.0

    def _mean(self, name: str) -> float:
        return float(np.mean([getattr(outcome, name) for outcome in self.outcomes]))

    def _areas(self) -> dict[str, float]:
        """Return the area under the ROC curve, if epochs were chosen by it."""
        areas = np.array([outcome.test_roc_auc for outcome in self.outcomes])
        if (areas < 0.0).any():
            return {}
        return {
            "roc_auc_mean": float(areas.mean()),
            "roc_auc_std": float(areas.std(ddof=1)) if areas.size > 1 else 0.0,
            "validation_roc_auc_mean": self._mean("validation_roc_auc"),
        }

    def better_by(self, other: NodeClassification) -> tuple[float, float]:
        """Return the mean of this accuracy minus that of `other`, split by split, and its error.

        Raises
        ------
        InvalidInputError
            If the two were not run on the same splits.
        """
        if (self.dataset, self.split, self.seeds) != (other.dataset, other.split, other.seeds):
            raise InvalidInputError(
                f"{self.model} and {other.model} were not run on the same data, split and seeds"
            )
        return mean_and_error(self.accuracies - other.accuracies)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "model": self.model,
            "protocol": self.protocol,
            "runs": len(self.seeds),
            "accuracy_mean": self.accuracy_mean,
            "accuracy_std": self.accuracy_std,
            "validation_accuracy_mean": self._mean("validation_accuracy"),
            **self._areas(),
            "seconds_per_epoch": sum(o.seconds for o in self.outcomes)
            / sum(o.epochs for o in self.outcomes),
            "seeds": list(self.seeds),
            "accuracies": self.accuracies.tolist(),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
            "settings": self.facts,
        }


def classify_nodes(
    dataset: str | NodeProblem,
    model: str = "wavelet",
    split: str = "60/20/20",
    runs: int = 10,
    seed: int = 0,
    epochs: int | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> NodeClassification:
    """Train a network on several splits and report its accuracy on the test nodes.

    Run i draws its split and its weights with seed ``seed + i``, so networks run with the same
    arguments see the same splits. Epochs are chosen by the validation nodes only.

    Parameters
    ----------
    dataset : str or NodeProblem
        One of `NODE_DATASETS`, or data of your own.
    model : str
        One of `NODE_MODELS`.
    split : str
        One of `SPLITS`.
    runs, seed : int
        Number of runs, and the first seed.
    epochs : int, optional
        Another number of epochs than the network's own.
    results : path, optional
        Keep the outcome of every run here as JSON; runs found here, of the same settings and
        data, are not repeated.
    progress : callable
        Called as ``progress(done, total, note)`` after every run.

    Returns
    -------
    NodeClassification

    Examples
    --------
    >>> result = classify_nodes("karate", model="wavelet", runs=2, epochs=5)
    >>> len(result.outcomes)
    2
    """
    check_choice("model", model, NODE_MODELS)
    check_choice("split", split, SPLITS)
    runs, seed = check_integer("runs", runs, 1), check_integer("seed", seed, 0)
    store = None if results is None else ResultStore(results)
    problem = dataset if isinstance(dataset, NodeProblem) else load_node_problem(dataset)
    seeds = tuple(range(seed, seed + runs))
    outcomes: list[NodeOutcome] = []
    facts: dict[str, Any] = {}
    protocol = ""
    for number in seeds:
        progress(number - seed, runs, f"{model}, seed {number}")
        outcome, facts, protocol = _run(problem, split, model, number, epochs, store)
        outcomes.append(outcome)
    progress(runs, runs, "")
    return NodeClassification(problem.name, split, model, protocol, seeds, tuple(outcomes), facts)


def _run(
    problem: NodeProblem,
    split: str,
    model: str,
    seed: int,
    epochs: int | None,
    store: ResultStore | None,
) -> tuple[NodeOutcome, dict[str, Any], str]:
    nodes = problem.split(split, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        candidate = make_node_model(model, problem, epochs)
        training = replace(candidate.training, metric=problem.metric)
        facts = {**candidate.facts, "training": training.to_json()}
        name = (problem.name, split, model, seed)
        key = fingerprint(
            "node run",
            model=model,
            facts=facts,
            data=problem,
            split=nodes,
            seed=seed,
        )
        kept = None if store is None else store.load(name, key, NodeOutcome)
        if kept is not None:
            return kept, facts, nodes.protocol
        outcome = train_nodes(candidate.net, candidate.scores, problem.y, nodes, training)
        if store is not None:
            store.save(name, key, outcome.to_json())
    return outcome, facts, nodes.protocol
