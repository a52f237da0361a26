"""Presets of networks for nodes with what belongs to them: training, basis, fitting settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from .._validation import check_choice
from ._settings import NODE_PRESETS, NetSettings
from ._training import NodeTraining

__all__ = ["NODE_PLANS", "NodePlan", "are_words", "plan_for", "suited"]

# Features are words, of which a node has few out of many, from so many on, below such a share.
_MANY, _SPARSE_SHARE = 32, 0.2


@dataclass(frozen=True)
class NodePlan:
    """A network for nodes, its training, and how its basis is computed.

    Attributes
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


#: The plan of every preset.
NODE_PLANS = {
    "paper": NodePlan(
        NODE_PRESETS["paper"],
        NodeTraining(learning_rate=1e-3, weight_decay=0.0, epochs=256, patience=256),
        {"k": 16, "matrix": "normalized_laplacian", "optimize": "lbfgs", "steps": 100},
    ),
    "wavemmf": NodePlan(
        NODE_PRESETS["wavemmf"],
        NodeTraining(filter_rate=0.1),
        {"k": 8, "matrix": "augmented_laplacian"},
    ),
    "layers": NodePlan(
        NODE_PRESETS["layers"],
        NodeTraining(weight_decay=1e-4, epochs=200, patience=200, every=5, decay=True),
        {
            "select": "diffusion",
            "core": 8,
            "k": 2,
            "matrix": "normalized_laplacian",
            "method": "sparse",
        },
    ),
}


def are_words(x: torch.Tensor) -> bool:
    """Whether features look like words: many columns, nearly all of them zero.

    Examples
    --------
    >>> are_words(torch.eye(40)), are_words(torch.ones(40, 7))
    (True, False)
    """
    few = int((x != 0).sum()) < _SPARSE_SHARE * x.numel()
    return x.shape[1] >= _MANY and few


def plan_for(x: torch.Tensor, model: str = "auto") -> NodePlan:
    """Return the plan of a preset as it suits features.

    "auto" takes "wavemmf" for words, whose likeness says much, and "layers" for others. What was
    chosen for thousands of words is too much for a few numbers: with these, "wavemmf" drops a
    fifth of them in training in place of four fifths, and knows no likeness of features.

    Examples
    --------
    >>> plan_for(torch.eye(40)).net.dropout, plan_for(torch.ones(40, 7), "wavemmf").net.dropout
    (0.8, 0.2)
    """
    if check_choice("model", model, ("auto", *NODE_PLANS)) == "auto":
        model = "wavemmf" if are_words(x) else "layers"
    return suited(NODE_PLANS[model], x)


def suited(plan: NodePlan, x: torch.Tensor) -> NodePlan:
    """Return a plan as it suits features: for a few numbers decoupled networks are changed."""
    if not plan.net.decoupled or x.shape[1] >= _MANY:
        return plan
    few = {"input_dropout": 0.2, "dropout": 0.2, "similar_hops": 0}
    return replace(plan, net=replace(plan.net, **few))  # type: ignore[arg-type]
