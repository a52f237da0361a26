"""Networks for nodes as they are run: settings of the network, its training and its basis."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..._validation import check_integer, check_not_negative, check_positive
from ...nn import NetSettings
from ...nn._settings import NODE_PRESETS

__all__ = ["NODE_RECIPES", "NodeRecipe", "NodeTraining"]


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
        improved. The network is the one of the epoch with the best validation accuracy (the
        smallest validation loss among equals).
    every : int
        Epochs between two looks at the validation nodes.
    decay : bool
        Let all step sizes fall to 0 along a cosine, over `epochs`.
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

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_positive("filter_rate", self.filter_rate)
        for name in ("epochs", "patience", "every"):
            check_integer(name, getattr(self, name), 1)
        check_not_negative("weight_decay", self.weight_decay)
        check_not_negative("agreement", self.agreement)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class NodeRecipe:
    """A network, its training, and how the basis it works in is computed.

    Parameters
    ----------
    net : NetSettings
        The network.
    training : NodeTraining
        How it is trained.
    basis : dict
        Settings of `wavemmf.nn.wavelet_basis`.
    """

    net: NetSettings
    training: NodeTraining
    basis: dict[str, Any]


# Entries of a thresholded basis up to this magnitude are left out.
_THRESHOLD = 3e-3


def _make_recipes() -> dict[str, NodeRecipe]:
    paper = NodeRecipe(
        NODE_PRESETS["paper"],
        NodeTraining(learning_rate=1e-3, weight_decay=0.0, epochs=256, patience=256),
        {"k": 16, "matrix": "normalized_laplacian", "optimize": "lbfgs", "steps": 100},
    )
    ours = NodeRecipe(
        NODE_PRESETS["wavemmf"],
        NodeTraining(filter_rate=0.1),
        {"k": 8, "matrix": "augmented_laplacian"},
    )
    few_labels = replace(ours.training, epochs=300, agreement=1.0)
    thresholded = {**ours.basis, "method": "sparse", "threshold": _THRESHOLD}
    greedy = {"k": 16, "matrix": "normalized_laplacian"}
    shared = replace(paper, net=replace(paper.net, gains="all", bias=True), basis=greedy)
    return {
        "wavelet": ours,
        "wavelet-paper": paper,
        "wavelet-shared": shared,
        "wavelet-end-to-end": replace(shared, basis={**greedy, "learn": True}),
        "wavelet-few-labels": replace(ours, training=few_labels),
        "wavelet-sparse": replace(ours, basis=thresholded),
        "wavelet-no-similar": replace(ours, net=replace(ours.net, similar_hops=0)),
        "hops-only": replace(ours, net=replace(ours.net, filter="none")),
    }


#: Wavelet networks by name. "wavelet" is our own. "wavelet-paper" is that of the paper: a filter
#: for every pair of channels, in a basis whose rotations were optimised. "wavelet-shared" and
#: "wavelet-end-to-end" have its layers with one set of gains for all channels, a fraction of the
#: memory: in a greedy basis, or in one whose rotations train with the network. The others
#: are ours with something changed: made to agree with itself on nodes without labels, on a basis
#: without small entries, without hops between nodes that are alike, without wavelets.
NODE_RECIPES = _make_recipes()
