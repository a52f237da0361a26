"""Train a network on some nodes (Eq. 15 of the paper), choose it by others, test on the rest."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from .._progress import Progress, silent
from .._subsets import check_inside
from ..errors import InvalidInputError
from ._labels import check_classes
from ._metrics import accuracy, roc_auc
from ._parameters import parameter_groups
from ._split import Split
from ._training import NodeTraining

__all__ = ["NodeOutcome", "train_nodes"]

# Probabilities are raised to this power before two predictions are drawn to their mean.
_SHARPENING = 2.0


@dataclass(frozen=True)
class NodeOutcome:
    """What a training came to.

    Parameters
    ----------
    test_accuracy, validation_accuracy : float
        Shares of nodes classified correctly by the network of the chosen epoch.
    best_epoch, epochs : int
        The epoch chosen by the validation nodes, and how many were run.
    seconds : float
        Processor time of the training alone, of all threads.
    test_roc_auc, validation_roc_auc : float
        The same as areas under the ROC curve, if the epoch was chosen by that; otherwise -1.
    """

    test_accuracy: float
    validation_accuracy: float
    best_epoch: int
    epochs: int
    seconds: float
    test_roc_auc: float = -1.0
    validation_roc_auc: float = -1.0

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def train_nodes(
    net: torch.nn.Module,
    scores: Callable[[], torch.Tensor],
    y: torch.Tensor,
    split: Split,
    settings: NodeTraining | None = None,
    progress: Progress = silent,
) -> NodeOutcome:
    """Train `net`, which afterwards has the weights of the epoch that was chosen.

    The test nodes are looked at once, after the epoch has been chosen by the validation nodes.

    Parameters
    ----------
    net : Module
        The network.
    scores : callable
        Returns the network's scores of all nodes, shape (n, classes).
    y : tensor of shape (n,)
        Classes of all nodes.
    split : Split
        Which nodes are for what.
    settings : NodeTraining, optional
        Learning rate, epochs, patience.
    progress : callable
        Called as ``progress(done, total, note)`` after every epoch.

    Returns
    -------
    NodeOutcome

    Raises
    ------
    InvalidInputError, InputTypeError
        If classes or nodes are none, or the untrained network scores nodes with NaN.
    """
    s = settings or NodeTraining()
    y = check_classes(y)
    check_inside("node", len(y), **split.sets)
    train, validation = torch.from_numpy(split.train), torch.from_numpy(split.validation)
    optimizer = torch.optim.Adam(parameter_groups(net, s), lr=s.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, s.epochs) if s.decay else None
    choice = _Choice()
    start = time.process_time()
    epoch = 0
    for epoch in range(1, s.epochs + 1):
        net.train()
        optimizer.zero_grad()
        loss = _loss(scores, y, train, s.agreement)
        if epoch == 1 and not bool(torch.isfinite(loss)):
            raise InvalidInputError(
                f"the network's loss on the training nodes is {loss.item()} before it has learned "
                "anything: look for NaN or infinite features"
            )
        loss.backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        if epoch % s.every == 0 or epoch == s.epochs:
            choice.see(net, epoch, *_judge(net, scores, y, validation, s.metric))
        progress(epoch, s.epochs, f"validation {choice.value:.3f}")
        if epoch - choice.last_progress >= s.patience:
            break
    seconds = time.process_time() - start
    net.load_state_dict(choice.state)
    test = torch.from_numpy(split.test)
    told = {
        f"{name}_{metric}": _judge(net, scores, y, nodes, metric)[0]
        for name, nodes in (("test", test), ("validation", validation))
        for metric in dict.fromkeys(("accuracy", s.metric))
    }
    return NodeOutcome(best_epoch=choice.epoch, epochs=epoch, seconds=seconds, **told)


def _loss(
    scores: Callable[[], torch.Tensor], y: torch.Tensor, train: torch.Tensor, agreement: float
) -> torch.Tensor:
    """Return the loss on the training nodes, and on all if two predictions are to agree."""
    if agreement == 0.0:
        return cross_entropy(scores()[train], y[train])
    both = [scores(), scores()]
    loss = sum((cross_entropy(each[train], y[train]) for each in both), torch.zeros(())) / 2.0
    chances = [each.softmax(dim=1) for each in both]
    target = ((chances[0] + chances[1]) / 2.0).detach() ** _SHARPENING
    target = target / target.sum(dim=1, keepdim=True)
    apart = sum((((each - target) ** 2).sum(dim=1).mean() for each in chances), torch.zeros(()))
    return loss + agreement * apart / 2.0


class _Choice:
    """The epoch that was best on the validation nodes, and when there was progress last."""

    def __init__(self) -> None:
        self.value, self.loss, self.lowest = -1.0, float("inf"), float("inf")
        self.epoch = self.last_progress = 0
        self.state: dict[str, Any] = {}

    def see(self, net: torch.nn.Module, epoch: int, value: float, loss: float) -> None:
        if value > self.value or loss < self.lowest:
            self.last_progress = epoch
        self.lowest = min(self.lowest, loss)
        if (value, -loss) > (self.value, -self.loss):
            self.value, self.loss, self.epoch = value, loss, epoch
            self.state = copy.deepcopy(net.state_dict())


@torch.no_grad()
def _judge(
    net: torch.nn.Module,
    scores: Callable[[], torch.Tensor],
    y: torch.Tensor,
    nodes: torch.Tensor,
    metric: str,
) -> tuple[float, float]:
    net.eval()
    given, wanted = scores()[nodes], y[nodes]
    value = roc_auc(given, wanted) if metric == "roc_auc" else accuracy(given, wanted)
    return value, cross_entropy(given, wanted).item()
