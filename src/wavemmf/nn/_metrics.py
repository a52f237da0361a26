"""How well scores tell classes apart."""

from __future__ import annotations

import torch
from scipy.stats import rankdata

from ..errors import InvalidInputError

__all__ = ["accuracy", "roc_auc"]


def accuracy(scores: torch.Tensor, y: torch.Tensor) -> float:
    """Return the share of rows whose largest score is that of their class.

    Examples
    --------
    >>> accuracy(torch.eye(2), torch.tensor([0, 0]))
    0.5
    """
    return (scores.argmax(dim=1) == y).double().mean().item()


def roc_auc(scores: torch.Tensor, y: torch.Tensor) -> float:
    """Return the area under the ROC curve: how often class 1 is scored above class 0.

    Equal scores count as half. The score of a row is that of class 1 minus that of class 0.

    Examples
    --------
    >>> roc_auc(torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]), torch.tensor([0, 1, 0]))
    0.5
    """
    positive = y == 1
    count, others = int(positive.sum()), int((y == 0).sum())
    if scores.shape[1] != 2 or not count or not others:
        raise InvalidInputError(
            "the ROC AUC needs two classes, and nodes of both among those that are judged; got "
            f"{others} of class 0 and {count} of class 1, of {scores.shape[1]} classes"
        )
    ranks = rankdata((scores[:, 1] - scores[:, 0]).double().cpu().numpy())
    above = ranks[positive.cpu().numpy()].sum() - count * (count + 1) / 2.0
    return float(above / (count * others))
