"""How a network for nodes is trained, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._validation import check_choice, check_integer, check_not_negative, check_positive

__all__ = ["METRICS", "NodeTraining"]

#: What epochs are chosen by.
METRICS = ("accuracy", "roc_auc")


@dataclass(frozen=True)
class NodeTraining:
    """How a network is trained: Adam on the softmax cross-entropy of the training nodes.

    Parameters
    ----------
    learning_rate, weight_decay : float
        Step size, and the penalty on the weights of linear maps (not on filters).
    filter_rate : float
        Step size of the gains of filters and of the weights of hops, relative to `learning_rate`.
        There are few of them and each moves every node.
    epochs : int
        The most that are run.
    patience : int
        Stop after so many epochs in which neither loss nor accuracy on the validation nodes
        improved. The network is the one of the epoch that did best on the validation nodes (the
        smallest loss among equals).
    every : int
        Epochs between two looks at the validation nodes.
    decay : bool
        Let all step sizes fall to 0 along a cosine, over `epochs`.
    metric : {"accuracy", "roc_auc"}
        What is asked of the validation nodes; the second for two classes.
    agreement : float
        Weight of a second loss: every node, labelled or not, is predicted twice with different
        dropout, and both predictions are drawn to their sharpened mean (as in GRAND, Feng et al.
        2020). It helps where labels are few.
    """

    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    filter_rate: float = 1.0
    epochs: int = 500
    patience: int = 100
    every: int = 1
    decay: bool = False
    agreement: float = 0.0
    metric: str = "accuracy"

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_positive("filter_rate", self.filter_rate)
        for name in ("epochs", "patience", "every"):
            check_integer(name, getattr(self, name), 1)
        check_not_negative("weight_decay", self.weight_decay)
        check_not_negative("agreement", self.agreement)
        check_choice("metric", self.metric, METRICS)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)
