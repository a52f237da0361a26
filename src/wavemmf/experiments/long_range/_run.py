"""The task on several road networks, networks and seeds; resumable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import torch

from ..._fingerprint import fingerprint
from ..._progress import Progress, silent
from ..._validation import check_choice, check_integer
from ...nn import NodeTraining
from ...nn._plans import NODE_PLANS
from .._results import ResultStore, mean_and_error
from ..nodes import PUBLIC, NodeOutcome, NodeProblem, train_nodes
from ._influence import influence_by_hop
from ._memory import megabytes_kept
from ._models import OURS, Depth, make_model, model_settings
from ._roads import LONG_RANGE_DATASETS, load_long_range_problem

__all__ = ["DROPOUTS", "TRAINING", "LongRangeOutcome", "long_range_rows", "run_long_range"]

#: How every network is trained.
TRAINING = NODE_PLANS["layers"].training
_SPLIT = "10/10/80"
#: Dropouts that every network is tried with; the validation nodes choose.
DROPOUTS = (0.2, 0.5)


@dataclass(frozen=True)
class LongRangeOutcome(NodeOutcome):
    """What one training came to, what it cost, and how far the network looks.

    Attributes
    ----------
    parameters : int
        Numbers that were learned.
    megabytes : float
        What one epoch keeps for its backward pass.
    reach : float
        The mean distance in hops of what contributes to the scores of a node; -1 if not measured.
    by_hop : list of float
        Influence of the nodes at 0, 1, 2, ... hops; empty if not measured.
    """

    parameters: int = 0
    megabytes: float = 0.0
    reach: float = -1.0
    by_hop: list[float] = field(default_factory=list)


#: Outcomes by data set and network, and by seed.
Found: TypeAlias = dict[tuple[str, Depth], dict[int, LongRangeOutcome]]


def run_long_range(
    folder: str | os.PathLike[str],
    datasets: Sequence[str],
    models: Sequence[Depth],
    runs: int = 3,
    epochs: int | None = None,
    dropouts: Sequence[float] = DROPOUTS,
    influence: int = 0,
    kept_only: bool = False,
    progress: Progress = silent,
) -> Found:
    """Train networks, with the same seeds for all of them.

    Run i draws its split and its weights with seed i; City-Networks come with a split, there only
    the weights differ. The epoch is chosen by validation nodes, test nodes are looked at once.

    Parameters
    ----------
    folder : path
        Keeps every run; runs found there, of the same data and settings, are not repeated.
    datasets : list of str
        Some of `LONG_RANGE_DATASETS`.
    models : list of Depth
        The networks.
    runs : int
        Seeds 0 to ``runs - 1``.
    epochs : int, optional
        Another number of epochs than that of `TRAINING`.
    dropouts : sequence of float
        Shares of hidden numbers that are left out in training; every network is run with each.
    influence : int
        Nodes at which the influence by hop is measured, with the first seed only; 0 for none.
    kept_only : bool
        Train nothing: return the runs that are in the folder.
    progress : callable
        Called as ``progress(done, total, note)`` after every run.

    Returns
    -------
    dict
        Outcomes by seed, for every data set and network that has some.
    """
    for name in datasets:
        check_choice("dataset", name, LONG_RANGE_DATASETS)
    check_integer("runs", runs, 1)
    check_integer("influence", influence, 0)
    store = ResultStore(folder)
    training = TRAINING if epochs is None else _with_epochs(epochs)
    chosen = [replace(depth, dropout=share) for depth in models for share in dropouts]
    # Seeds outermost: what is there after an interruption is complete for the first seeds.
    tasks = [
        (dataset, depth, seed) for dataset, seed, depth in product(datasets, range(runs), chosen)
    ]
    found: Found = {}
    for done, (dataset, depth, seed) in enumerate(tasks):
        progress(done, len(tasks), f"{dataset} {depth}, seed {seed}")
        looked = influence if seed == 0 else 0
        outcome = _run(_problem(dataset), depth, seed, training, looked, store, kept_only)
        if outcome is not None:
            found.setdefault((dataset, depth), {})[seed] = outcome
    progress(len(tasks), len(tasks), "")
    return found


def _with_epochs(epochs: int) -> NodeTraining:
    check_integer("epochs", epochs, 1)
    return NodeTraining(**{**TRAINING.to_json(), "epochs": epochs, "patience": epochs})


@lru_cache(maxsize=1)
def _problem(dataset: str) -> NodeProblem:
    return load_long_range_problem(dataset, cache=True)


def _run(
    problem: NodeProblem,
    depth: Depth,
    seed: int,
    training: NodeTraining,
    influence: int,
    store: ResultStore,
    kept_only: bool,
) -> LongRangeOutcome | None:
    nodes = problem.split(PUBLIC if problem.splits else _SPLIT, seed)
    name = (problem.name, depth.model, depth.layers, depth.dropout, seed)
    facts = {
        "training": training.to_json(),
        "influence": influence,
        "network": model_settings(depth, problem.graph.n),
    }
    key = fingerprint("long range", facts=facts, data=problem, split=nodes, seed=seed)
    kept = store.load(name, key, LongRangeOutcome)
    if kept is not None or kept_only:
        return kept
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net, scores = make_model(depth, problem)
        held = megabytes_kept(lambda: scores(problem.x))
        trained = train_nodes(net, lambda: scores(problem.x), problem.y, nodes, training)
        parameters = sum(p.numel() for p in net.parameters() if p.requires_grad)
        outcome = LongRangeOutcome(**trained.to_json(), parameters=parameters, megabytes=held)
        if influence:
            measured = influence_by_hop(net, scores, problem, influence)
            outcome = LongRangeOutcome(
                **{**asdict(outcome), "reach": measured.reach, "by_hop": list(measured.by_hop)}
            )
    store.save(name, key, asdict(outcome))
    return outcome


def long_range_rows(found: Found) -> list[dict[str, Any]]:
    """Return one row of plain values per data set, network and number of layers, for a record.

    Of the dropouts that were tried a row has the one that is best on the validation nodes.
    ``ours_better_by`` is the mean of the paired differences to our network of the depth that is
    best on validation nodes, over the seeds that both have, and its standard error.
    """
    rows = []
    for (dataset, depth), outcomes in _best_dropouts(found).items():
        ours = _best_of_ours(found, dataset)
        gain = None if ours is None else _gain(ours, outcomes)
        tests = np.array([outcome.test_accuracy for outcome in outcomes.values()])
        epochs = sum(outcome.epochs for outcome in outcomes.values())
        first = min(outcomes)
        rows.append(
            {
                "dataset": dataset,
                "model": depth.model,
                "layers": depth.layers,
                "dropout": depth.dropout,
                "seeds": sorted(outcomes),
                "accuracy_mean": float(tests.mean()),
                "accuracy_std": float(tests.std(ddof=1)) if tests.size > 1 else 0.0,
                "validation_accuracy_mean": _validated(outcomes),
                "ours_better_by": None if gain is None else gain[0],
                "standard_error": None if gain is None else gain[1],
                "seconds_per_epoch": sum(o.seconds for o in outcomes.values()) / epochs,
                "megabytes": outcomes[first].megabytes,
                "parameters": outcomes[first].parameters,
                "reach": outcomes[first].reach if outcomes[first].by_hop else None,
                "by_hop": outcomes[first].by_hop,
            }
        )
    return rows


def _best_dropouts(found: Found) -> Found:
    best: dict[tuple[str, str, int], tuple[str, Depth]] = {}
    for name, depth in found:
        tried = (name, depth.model, depth.layers)
        other = best.setdefault(tried, (name, depth))
        if _validated(found[name, depth]) > _validated(found[other]):
            best[tried] = (name, depth)
    return {key: found[key] for key in best.values()}


def _validated(outcomes: dict[int, LongRangeOutcome]) -> float:
    return _mean(outcomes.values(), "validation_accuracy")


def _mean(outcomes: Iterable[LongRangeOutcome], name: str) -> float:
    return float(np.mean([getattr(outcome, name) for outcome in outcomes]))


def _best_of_ours(found: Found, dataset: str) -> dict[int, LongRangeOutcome] | None:
    candidates = [
        outcomes
        for (name, depth), outcomes in found.items()
        if name == dataset and depth.model == OURS
    ]
    return max(candidates, key=_validated, default=None)


def _gain(
    ours: dict[int, LongRangeOutcome], other: dict[int, LongRangeOutcome]
) -> tuple[float, float] | None:
    shared = sorted(set(ours) & set(other))
    if not shared or ours is other:
        return None
    pairs = [ours[seed].test_accuracy - other[seed].test_accuracy for seed in shared]
    return mean_and_error(np.array(pairs))
