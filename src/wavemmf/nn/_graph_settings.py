"""Settings of networks that classify graphs, of their training, and the presets made of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..errors import InvalidInputError
from ..validation import check_choice, check_integer, check_positive
from ._responses import RESPONSES

__all__ = [
    "GRAPH_PRESETS",
    "POOLINGS",
    "GraphNetSettings",
    "GraphPreset",
    "GraphTraining",
    "preset_for",
]

#: How node signals become numbers of a graph: sums, means and logarithms of sums over nodes,
#: energies of wavelet coefficients in bands of frequency or of level.
POOLINGS = ("sum", "mean", "log", "band", "level")


@dataclass(frozen=True)
class GraphNetSettings:
    """The shape of a `GraphWaveletNet`.

    Parameters
    ----------
    layers, hidden : int
        Number of layers, and of channels between them.
    filter : {"spectral", "ones"}
        Learned gains of the wavelets, or all gains one: then the transform cancels, and without
        `hop` the network sees every node alone.
    hop : bool
        Add the exact sum over neighbours beside the filter.
    degree, level_degree : int
        Degrees of the gains in frequency and in level; level_degree 0 makes them a function of
        the frequency alone.
    response : str
        Where the gains start; see `wavemmf.nn.RESPONSES`.
    batch_norm : bool
        Normalise channels over the nodes of a batch.
    pooling : tuple of str
        What the classifier sees of every layer, from `POOLINGS`.
    bands : int
        Number of bands of frequency or level.
    jumping : bool
        Pool all layers and the input, not just the last layer.
    hidden_dropout, dropout : float
        Shares of hidden numbers, and of pooled numbers, that are left out in training.
    """

    layers: int = 4
    hidden: int = 32
    filter: str = "spectral"
    hop: bool = True
    degree: int = 8
    level_degree: int = 0
    response: str = "heat"
    batch_norm: bool = True
    pooling: tuple[str, ...] = ("sum",)
    bands: int = 4
    jumping: bool = True
    hidden_dropout: float = 0.0
    dropout: float = 0.5

    def __post_init__(self) -> None:
        for name, least in (("layers", 1), ("hidden", 1), ("degree", 0), ("level_degree", 0)):
            check_integer(name, getattr(self, name), least)
        check_integer("bands", self.bands, 2)
        check_choice("filter", self.filter, ("spectral", "ones"))
        check_choice("response", self.response, RESPONSES)
        if not self.pooling:
            raise InvalidInputError(f"pooling must name at least one of {', '.join(POOLINGS)}")
        for kind in self.pooling:
            check_choice("pooling", kind, POOLINGS)
        object.__setattr__(self, "pooling", tuple(self.pooling))
        for name in ("hidden_dropout", "dropout"):
            value = getattr(self, name)
            if not 0.0 <= value < 1.0:
                raise InvalidInputError(f"{name} must be at least 0 and below 1, got {value!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {**asdict(self), "pooling": list(self.pooling)}


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
        for name in ("weight_decay", "averaging"):
            if not getattr(self, name) >= 0.0:
                raise InvalidInputError(f"{name} must be >= 0, got {getattr(self, name)!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class GraphPreset:
    """A network, its training, and how its bases are computed (see `wavemmf.factorize_many`)."""

    net: GraphNetSettings = field(default_factory=GraphNetSettings)
    training: GraphTraining = field(default_factory=GraphTraining)
    basis: dict[str, Any] = field(default_factory=dict)


_ACCURATE = {"k": 8, "optimize": "lbfgs", "steps": 150}

#: "paper": six layers of 32 channels, Adam with 0.001, 256 epochs, greedy factorization with
#: k = 2. "best": accurate factorizations, and an exact hop beside every filter.
GRAPH_PRESETS = {
    "paper": GraphPreset(
        GraphNetSettings(
            layers=6, hop=False, level_degree=1, batch_norm=False, jumping=False, dropout=0.0
        ),
        GraphTraining(
            learning_rate=1e-3, weight_decay=0.0, schedule="constant", epochs=256, averaging=0.0
        ),
        {"k": 2},
    ),
    "best": GraphPreset(GraphNetSettings(), GraphTraining(members=2), _ACCURATE),
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


def preset_for(name: str, dataset: str = "") -> GraphPreset:
    """Return a preset with what was chosen for a data set; of "paper" nothing changes.

    Examples
    --------
    >>> preset_for("best").net.layers
    4
    """
    preset = GRAPH_PRESETS[check_choice("preset", name, GRAPH_PRESETS)]
    if name != "best":
        return preset
    net, training, basis = _CHOSEN.get(dataset, ({}, {}, {}))
    return GraphPreset(
        replace(preset.net, **net), replace(preset.training, **training), {**preset.basis, **basis}
    )
