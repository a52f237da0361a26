"""Settings of the networks, and the presets made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from .._validation import check_choice, check_integer, check_named
from ..errors import InvalidInputError
from ._filters import FILTERS
from ._pooling import POOLINGS
from ._responses import RESPONSES

__all__ = [
    "GRAPH_PRESETS",
    "NODE_PRESETS",
    "GraphNetSettings",
    "NetSettings",
    "check_channels",
    "from_preset",
]

AnySettings = TypeVar("AnySettings")


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
    layered : bool
        Layers are `WaveletLayer`, between a linear map before and one after them, and not
        convolutions.
    hops : int
        Exact hops 0 to `hops` of the propagation, with a learned weight each (decoupled only).
    teleport : float
        The personalised PageRank that the propagation starts from (decoupled only).
    similar_hops, neighbors : int
        Hops between nodes that are alike, and how many such neighbours a node has (decoupled
        only); see `wavemmf.graphs.similarity_graph`.
    filter, gains : str
        As for `WaveletConv`; "none" leaves a decoupled or layered network with exact hops alone.
    degree, level_degree, scale_degree : int
        Degrees of a spectral filter in frequency, level and scale.
    response : {"heat", "pagerank", "ones", "zeros"}
        Where the gains of convolutions start. A decoupled network starts at personalised
        PageRank.
    bias : bool
        Whether convolutions have a bias.
    """

    layers: int = 2
    hidden: int = 64
    input_dropout: float = 0.5
    dropout: float = 0.5
    decoupled: bool = True
    layered: bool = False
    hops: int = 4
    teleport: float = 0.1
    similar_hops: int = 0
    neighbors: int = 5
    filter: str = "spectral"
    gains: str = "all"
    degree: int = 10
    level_degree: int = 1
    scale_degree: int = 0
    response: str = "heat"
    bias: bool = True

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "neighbors"):
            check_integer(name, getattr(self, name), 1)
        for name in ("hops", "similar_hops", "degree", "level_degree", "scale_degree"):
            check_integer(name, getattr(self, name), 0)
        _check_shares(self, "input_dropout", "dropout", "teleport")
        check_choice("filter", self.filter, (*FILTERS, "none"))
        if self.layered and self.decoupled:
            raise InvalidInputError(
                "a network is layered or decoupled: layered=True takes decoupled=False"
            )
        if self.filter == "none" and not (self.decoupled or self.layered):
            raise InvalidInputError(
                'filter="none" leaves decoupled and layered networks with their exact hops; '
                "convolutions without a filter would see no neighbours at all"
            )
        check_choice("gains", self.gains, ("all", "channel", "pair"))
        check_choice("response", self.response, RESPONSES)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class GraphNetSettings:
    """The shape of a `GraphWaveletNet`.

    Parameters
    ----------
    layers, hidden : int
        Number of layers, and of channels between them.
    convolutions : bool
        Layers are wavelet convolutions with gains for every pair of channels and without bias, as
        in the paper; otherwise `filter`, `hop` and `batch_norm` say what a layer is.
    filter : {"spectral", "ones"}
        Learned gains of the wavelets, or all gains one: then the transform cancels, and without
        `hop` the network sees every node alone.
    hop : bool
        Add the exact sum over neighbours beside the filter.
    degree, level_degree : int
        Degrees of the gains in frequency and in level; level_degree 0 makes them a function of
        the frequency alone.
    response : {"heat", "pagerank", "ones", "zeros"}
        Where the gains start.
    batch_norm : bool
        Normalise channels over the nodes of a batch.
    pooling : tuple of str
        What the classifier sees of every layer; see `WaveletPooling`.
    bands : int
        Number of bands of frequency or level.
    jumping : bool
        Pool all layers and the input, not just the last layer.
    hidden_dropout, dropout : float
        Shares of hidden numbers, and of pooled numbers, that are left out in training.
    """

    layers: int = 4
    hidden: int = 32
    convolutions: bool = False
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
        _check_shares(self, "hidden_dropout", "dropout")
        if self.convolutions and (self.filter != "spectral" or self.hop or self.batch_norm):
            raise InvalidInputError(
                'convolutions=True takes filter="spectral", hop=False and batch_norm=False: the '
                "layers are convolutions and nothing else"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {**asdict(self), "pooling": list(self.pooling)}


def _check_shares(settings: Any, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        if not 0.0 <= value < 1.0:
            raise InvalidInputError(f"{name} must be at least 0 and below 1, got {value!r}")


def check_channels(in_channels: int, out_channels: int) -> tuple[int, int]:
    """Return the numbers of channels of a network, both at least one."""
    return (
        check_integer("in_channels", in_channels, 1),
        check_integer("out_channels", out_channels, 1),
    )


def from_preset(
    presets: Mapping[str, AnySettings], preset: str, changes: dict[str, Any]
) -> AnySettings:
    """Return the settings of a preset with some fields changed; one that does not exist is named.

    Examples
    --------
    >>> from_preset(NODE_PRESETS, "paper", {"layers": 3}).layers
    3
    """
    settings = presets[check_choice("preset", preset, presets)]
    for name in sorted(changes):
        check_named("setting", name, [field.name for field in fields(settings)])  # type: ignore[arg-type]
    return replace(settings, **changes)  # type: ignore[type-var]


#: Networks for nodes. "paper": six wavelet convolutions of 100 channels, with a free gain for every
#: wavelet and pair of channels. "wavemmf", our own: features first, then one propagation by exact
#: hops and a wavelet filter. "layers", our own too: layers of wavelets and one hop, for what
#: depends on nodes far away.
NODE_PRESETS = {
    "paper": NetSettings(
        layers=6,
        hidden=100,
        input_dropout=0.0,
        dropout=0.0,
        decoupled=False,
        filter="free",
        gains="pair",
        bias=False,
    ),
    "wavemmf": NetSettings(input_dropout=0.8, dropout=0.8, hops=10, similar_hops=3),
    "layers": NetSettings(
        layers=4,
        input_dropout=0.0,
        dropout=0.5,
        decoupled=False,
        layered=True,
        filter="heat",
        gains="channel",
    ),
}

#: Networks for graphs. "paper": six wavelet convolutions of 32 channels, with gains for every pair
#: of channels; they are functions of frequency and level, because graphs differ in size.
#: "wavemmf", our own: a perceptron after a filter and an exact hop in every layer.
GRAPH_PRESETS = {
    "paper": GraphNetSettings(
        layers=6,
        convolutions=True,
        hop=False,
        level_degree=1,
        batch_norm=False,
        jumping=False,
        dropout=0.0,
    ),
    "wavemmf": GraphNetSettings(),
}
