"""Networks for graphs as they are run: settings of network, training and bases, by data set."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..._validation import check_choice, check_integer, check_not_negative, check_positive
from ...nn import GraphNetSettings
from ...nn._settings import GRAPH_PRESETS

__all__ = ["GRAPH_RECIPES", "GraphRecipe", "GraphTraining", "recipe_for"]


@dataclass(frozen=True)
class GraphTraining:
    """How a network that classifies graphs is trained: Adam on batches of graphs.

    Parameters
    ----------
    learning_rate, weight_decay : float
        Step size at the beginning, and the penalty on all weights.
    schedule : {"cosine", "constant"}
        Whether the step size falls to zero over the epochs.
    epochs, batch_size : int
        How often every graph is seen, and how many at a time.
    averaging : float
        Judge and return not the weights but their running mean, over about so many epochs; 0 for
        the weights themselves.
    members : int
        So many networks are trained, and their probabilities averaged. Each has random numbers, a
        hold-out (another tenth of the training graphs, so at most ten) and a numbering of the
        nodes of its own.
    """

    learning_rate: float = 0.01
    weight_decay: float = 3e-4
    schedule: str = "cosine"
    epochs: int = 40
    batch_size: int = 64
    averaging: float = 5.0
    members: int = 1

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_choice("schedule", self.schedule, ("cosine", "constant"))
        check_integer("epochs", self.epochs, 1)
        check_integer("batch_size", self.batch_size, 2)
        check_integer("members", self.members, 1, 10)
        check_not_negative("weight_decay", self.weight_decay)
        check_not_negative("averaging", self.averaging)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class GraphRecipe:
    """A network, its training, and how its bases are computed.

    Parameters
    ----------
    net : GraphNetSettings
        The network.
    training : GraphTraining
        How it is trained.
    basis : dict
        Settings of `wavemmf.factorize_many`, and ``threshold`` of the bases.
    """

    net: GraphNetSettings = field(default_factory=GraphNetSettings)
    training: GraphTraining = field(default_factory=GraphTraining)
    basis: dict[str, Any] = field(default_factory=dict)


_OPTIMISED = {"optimize": "lbfgs", "steps": 150}

#: "paper": Adam with 0.001, 256 epochs, factorizations with k = 2 and optimised rotations.
#: "wavemmf", our own: more accurate factorizations, and two networks that vote.
GRAPH_RECIPES = {
    "paper": GraphRecipe(
        GRAPH_PRESETS["paper"],
        GraphTraining(
            learning_rate=1e-3, weight_decay=0.0, schedule="constant", epochs=256, averaging=0.0
        ),
        {"k": 2, **_OPTIMISED},
    ),
    "wavemmf": GraphRecipe(
        GRAPH_PRESETS["wavemmf"], GraphTraining(members=2), {"k": 8, **_OPTIMISED}
    ),
}


# Where the data decide: how large a network a few hundred graphs bear, and how they are pooled.
# Chosen on hold-outs of training folds (docs/graph_classification.md).
_Changes = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]  # of net, training, basis
_FEW: _Changes = (
    {"layers": 3, "hidden": 16, "pooling": ("mean",)},
    {"batch_size": 32, "epochs": 60, "members": 5},
    {},
)
_CHOSEN: dict[str, _Changes] = {
    "MUTAG": _FEW,
    "PTC": _FEW,
    "PTC_MR": _FEW,
    "PROTEINS": (
        {"layers": 2, "hidden": 16, "pooling": ("log", "band")},
        {"epochs": 20, "members": 5},
        {},
    ),
    # Hundreds of nodes each: optimising all rotations would take hours. Means vary so little that
    # the normalisation must forget its start within the few epochs this takes to learn.
    "DD": (
        {"layers": 2, "hidden": 16, "pooling": ("log", "mean")},
        {"batch_size": 32, "epochs": 10, "averaging": 1.0, "members": 5},
        {"k": 4, "optimize": None, "threshold": 0.01},
    ),
}


def recipe_for(name: str, dataset: str = "") -> GraphRecipe:
    """Return a recipe with what was chosen for a data set; of "paper" nothing changes.

    Examples
    --------
    >>> recipe_for("wavemmf").net.layers, recipe_for("wavemmf", "MUTAG").net.layers
    (4, 3)
    """
    recipe = GRAPH_RECIPES[check_choice("recipe", name, GRAPH_RECIPES)]
    if name != "wavemmf":
        return recipe
    net, training, basis = _CHOSEN.get(dataset, ({}, {}, {}))
    return GraphRecipe(
        replace(recipe.net, **net), replace(recipe.training, **training), {**recipe.basis, **basis}
    )
