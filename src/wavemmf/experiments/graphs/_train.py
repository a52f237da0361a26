"""Train a network on the graphs of one fold."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from ..._progress import Progress, silent
from ..._subsets import check_inside
from ._folds import Fold, Integers
from ._packed import PackedGraphs
from ._recipes import GraphTraining
from ._trial import Trial

__all__ = ["probabilities", "train_graphs"]

Floats = npt.NDArray[np.float64]

# Validation accuracies are averaged over so many epochs: the best single one of a hundred is
# mostly luck when there are few validation graphs.
_WINDOW = 5
_TEST_BATCH = 256


def train_graphs(
    net: torch.nn.Module,
    data: PackedGraphs | Sequence[Any],
    fold: Fold,
    settings: GraphTraining | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Trial:
    """Train `net` on the training graphs of a fold and predict its test graphs.

    What is judged is the running mean of the weights, if the settings ask for one. With
    validation graphs the epoch is the one with the best mean validation accuracy over itself
    and the four before (the latest among equals); the test graphs are looked at once, afterwards,
    and `net` has the weights of that epoch. Without, the test graphs are predicted after every
    epoch, for a protocol that chooses among them, and `net` has the last weights.

    Parameters
    ----------
    net : Module
        Takes a batch, returns scores of shape (graphs, classes).
    data : PackedGraphs or sequence of Data
        All graphs.
    fold : Fold
        Which are for what.
    settings : GraphTraining, optional
        Step size, schedule, epochs.
    seed : int
        Seed of the order of the graphs.
    progress : callable
        Called as ``progress(done, total, note)`` after every epoch.

    Returns
    -------
    Trial
    """
    s = settings or GraphTraining()
    start = time.perf_counter()
    check_inside("graph", len(data), **fold.sets)
    graphs = data if isinstance(data, PackedGraphs) else PackedGraphs(data)
    batches = _shuffled(graphs, fold.train, s.batch_size, seed)
    test = _fixed(graphs, fold.test)
    held = None if fold.validation is None else _fixed(graphs, fold.validation)
    optimizer = torch.optim.Adam(
        net.parameters(), s.learning_rate, weight_decay=s.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _rates(s))
    averaged = _running_mean(net, s.averaging * len(batches))
    judged = net if averaged is None else averaged.module
    choice = _Choice()
    found: list[Floats] = []
    for epoch in range(s.epochs):
        _epoch(net, batches, optimizer, averaged)
        schedule.step()
        if held is None:
            found.append(probabilities(judged, test))
        else:
            choice.see(judged, epoch, _accuracy(judged, held))
        progress(epoch + 1, s.epochs, "" if held is None else f"validation {choice.score:.3f}")
    net.load_state_dict(judged.state_dict() if held is None else choice.state)
    if held is not None:
        found.append(probabilities(net, test))
    chosen, curves = ([], []) if held is None else ([choice.epoch], [choice.curve])
    return Trial(found, chosen, curves, time.perf_counter() - start)


@torch.no_grad()
def probabilities(net: torch.nn.Module, batches: Sequence[Any]) -> Floats:
    """Return the probability of every class for every graph of some batches."""
    net.eval()
    return torch.cat([net(batch).double().softmax(dim=1) for batch in batches]).numpy()


def _running_mean(net: torch.nn.Module, steps: float) -> Any:
    """Return a copy of the network whose weights follow, averaged over about so many steps.

    It is averaged over fewer at first: what normalisation holds before it has seen data, and the
    first weights, are soon forgotten.
    """
    if steps <= 0.0:
        return None
    longest = max(0.0, 1.0 - 1.0 / steps)

    def follow(mean: Any, now: Any, count: Any) -> None:
        kept = min(longest, (1.0 + float(count)) / (10.0 + float(count)))
        get_ema_multi_avg_fn(kept)(mean, now, count)

    return AveragedModel(net, multi_avg_fn=follow, use_buffers=True)


def _epoch(net: torch.nn.Module, batches: Any, optimizer: Any, averaged: Any) -> None:
    net.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = cross_entropy(net(batch), batch.y)
        loss.backward()
        optimizer.step()
        if averaged is not None:
            averaged.update_parameters(net)


def _accuracy(net: torch.nn.Module, batches: Sequence[Any]) -> float:
    wanted = np.concatenate([batch.y.numpy() for batch in batches])
    return float((probabilities(net, batches).argmax(axis=1) == wanted).mean())


def _rates(s: GraphTraining) -> Any:
    if s.schedule == "constant":
        return lambda epoch: 1.0
    return lambda epoch: 0.5 * (1.0 + np.cos(np.pi * min(epoch / s.epochs, 1.0)))


def _shuffled(graphs: PackedGraphs, indices: Integers, size: int, seed: int) -> Any:
    order = torch.Generator().manual_seed(seed)
    # A last batch of one graph has no variance to normalise by.
    incomplete = len(indices) % size
    return torch.utils.data.DataLoader(
        indices.tolist(),
        size,
        shuffle=True,
        generator=order,
        drop_last=incomplete == 1,
        collate_fn=graphs.batch,
    )


def _fixed(graphs: PackedGraphs, indices: Integers) -> list[Any]:
    parts = range(0, len(indices), _TEST_BATCH)
    return [graphs.batch(indices[i : i + _TEST_BATCH].tolist()) for i in parts]


class _Choice:
    """The epoch with the best validation accuracy, averaged over a window."""

    def __init__(self) -> None:
        self.curve: list[float] = []
        self.score, self.epoch = -1.0, 0
        self.state: dict[str, Any] = {}

    def see(self, net: torch.nn.Module, epoch: int, accuracy: float) -> None:
        self.curve.append(accuracy)
        recent = self.curve[-_WINDOW:]
        score = sum(recent) / len(recent)
        # The first epochs have no full window, and would be chosen by a single lucky one.
        if score >= self.score or len(self.curve) <= _WINDOW:
            self.score, self.epoch = score, epoch
            self.state = copy.deepcopy(net.state_dict())
