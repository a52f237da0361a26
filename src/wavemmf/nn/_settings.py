"""Settings of networks and of their training, and the presets made of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from ..errors import InvalidInputError
from ..validation import check_choice, check_integer, check_positive
from ._responses import RESPONSES

__all__ = ["PRESETS", "NetSettings", "Preset", "TrainingSettings", "changed"]

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class NetSettings:
    """The shape of a `WaveletNet`.

    Parameters
    ----------
    layers : int
        Number of layers: wavelet convolutions, or linear layers if decoupled.
    hidden : int
        Channels between layers.
    input_dropout, dropout : float
        Shares of features and of hidden numbers that are left out in training.
    decoupled : bool
        Classify every node by its own features first, and then propagate the classes once;
        otherwise every layer is a wavelet convolution.
    hops : int
        Exact hops 0 to `hops` of the propagation, with a learned weight each (decoupled only).
    teleport : float
        The personalised PageRank that the propagation starts from (decoupled only).
    similar_hops, neighbors : int
        Hops between nodes that are alike, and how many such neighbours a node has (decoupled
        only); see `wavemmf.graphs.similarity_graph`.
    filter, gains : str
        As for `WaveletConv`; "none" leaves a decoupled network with exact hops alone.
    degree : int
        Degree of a spectral filter.
    response : str
        Where the gains of convolutions start; see `wavemmf.nn.RESPONSES`. A decoupled
        network starts at personalised PageRank.
    """

    layers: int = 2
    hidden: int = 64
    input_dropout: float = 0.5
    dropout: float = 0.5
    decoupled: bool = True
    hops: int = 4
    teleport: float = 0.1
    similar_hops: int = 0
    neighbors: int = 5
    filter: str = "spectral"
    gains: str = "all"
    degree: int = 10
    response: str = "heat"

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "neighbors"):
            check_integer(name, getattr(self, name), 1)
        for name in ("hops", "similar_hops", "degree"):
            check_integer(name, getattr(self, name), 0)
        for name in ("input_dropout", "dropout", "teleport"):
            value = getattr(self, name)
            if not 0.0 <= value < 1.0:
                raise InvalidInputError(f"{name} must be at least 0 and below 1, got {value!r}")
        check_choice("filter", self.filter, ("spectral", "free", "none"))
        if self.filter == "none" and not self.decoupled:
            raise InvalidInputError(
                'filter="none" leaves a decoupled network with its exact hops; convolutions '
                "without a filter would see no neighbours at all"
            )
        check_choice("gains", self.gains, ("all", "channel", "pair"))
        check_choice("response", self.response, RESPONSES)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class TrainingSettings:
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
    agreement: float = 0.0

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_positive("filter_rate", self.filter_rate)
        for name in ("epochs", "patience"):
            check_integer(name, getattr(self, name), 1)
        for name in ("weight_decay", "agreement"):
            if not getattr(self, name) >= 0.0:
                raise InvalidInputError(f"{name} must be >= 0, got {getattr(self, name)!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


def changed(settings: Settings, changes: dict[str, Any]) -> Settings:
    """Return settings with some fields changed; a field that does not exist is named.

    Examples
    --------
    >>> changed(NetSettings(), {"layers": 3}).layers
    3
    """
    names = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    unknown = sorted(set(changes) - set(names))
    if unknown:
        raise InvalidInputError(
            f"there is no setting {', '.join(unknown)}; the settings are {', '.join(names)}"
        )
    return replace(settings, **changes)  # type: ignore[type-var]


@dataclass(frozen=True)
class Preset:
    """A network, its training, and the basis it works in."""

    net: NetSettings
    training: TrainingSettings
    basis: dict[str, Any]


#: "paper": six wavelet convolutions with free gains on the normalized Laplacian factorized with
#: k = 16. "best": features first, then one propagation of exact hops and a wavelet filter.
#: "few-labels": the same network, made to agree with itself on nodes without labels.
PRESETS = {
    "paper": Preset(
        NetSettings(
            layers=6, hidden=100, input_dropout=0.0, dropout=0.0, decoupled=False, filter="free"
        ),
        TrainingSettings(learning_rate=1e-3, weight_decay=0.0, epochs=256, patience=256),
        {"k": 16, "matrix": "normalized_laplacian"},
    ),
    "best": Preset(
        NetSettings(input_dropout=0.8, dropout=0.8, hops=10, similar_hops=3),
        TrainingSettings(filter_rate=0.1),
        {"k": 8, "matrix": "augmented_laplacian"},
    ),
}
PRESETS["few-labels"] = replace(
    PRESETS["best"], training=replace(PRESETS["best"].training, epochs=300, agreement=1.0)
)
