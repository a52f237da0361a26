"""What a policy is made of: one description for the paper's network and for richer ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ..select import SURVIVORS

__all__ = ["PolicySettings"]

ACTIVATIONS = ("relu", "tanh", "sigmoid")
PROPAGATIONS = ("matrix", "laplacian", "none")
#: What a node may know, and whether that takes the cached scores of the current matrix.
FEATURES = {
    "active": False,
    "degree": False,
    "diagonal": False,
    "norm": False,
    "score": True,
    "neighbors": True,
    "rank": True,
    "lead": True,
    "size": True,
    "progress": False,
}
_PRIORS = ("score_prior", "partner_prior", "group_prior")


@dataclass(frozen=True)
class PolicySettings:
    """The architecture of a policy.

    Attributes
    ----------
    layers, hidden : int
        Layers of message passing and their width, in each of the two networks.
    features : tuple of str
        What is known of a node: "active" (1), "degree" (logarithm of its number of active
        neighbours), "diagonal", "norm" (logarithm of its active row's norm), "progress" (part of
        the levels done) and, with ``matrix="current"``, "score" (logarithm of what its group's
        wavelet would cost), "rank" and "lead" (of that score among those of all pivots: its place,
        from 0 to 1, and its logarithm above that of the lowest), "size" (part of the places of
        its group that are filled) and "neighbors" (logarithm of the number of rows correlated
        with it).
    identities : int
        So many random signs are further features of every node. They tell nodes apart: without
        them nodes in like surroundings have equal embeddings, near or far.
    propagate : {"matrix", "laplacian", "none"}
        What messages are multiplied with: the active block of the matrix, its normalized
        Laplacian, or nothing.
    matrix : {"original", "current"}
        Where features come from: the active block of the given matrix, as in the paper, or the
        matrix compressed by the levels taken so far.
    activation : {"relu", "tanh", "sigmoid"}
        The nonlinearity.
    actions : {"rows", "groups"}
        What is decided: the pivot and every partner, as in the paper; or the pivot alone, which
        takes the group by which it is scored: that of the greedy selector. Then there is
        one decision per level among as many groups as rows are active.
    few : int, optional
        Only so many groups, those of lowest score, may be chosen. For ``actions="groups"``.
    noises : tuple of float
        Strength of the noise that the correlations of rows go through before groups are formed, as
        those of the randomised greedy selector; the episodes of a batch take them in turn.
    readout : {"sum", "linear"}
        Pivot logits are the sum of an embedding, as in the paper, or a learned combination that
        starts at zero; then the similarity of partners is weighted by a learned factor, from zero
        too.
    score_prior : float, optional
        Adds ``-weight * log(score)`` to the pivot logits; the weight is learned from this value.
    partner_prior : float, optional
        Adds ``weight * log(g_pj^2 / g_jj)`` to the partner logits, with g the Gram matrix; the
        weight is learned from this value.
    group_prior : float, optional
        Adds a weight to the partner logits of the rows in the group by which the pivot was scored;
        it is learned from this value.
    wavelets : {"pivot", "overlap"}
        Which coordinates are dropped: the pivot (and the partners drawn first), as in the paper,
        or those the wavelets overlap most.
    survivors : {"eigenvectors", "nearest", "auto"}
        Basis of the rows that stay active, see `wavemmf.select.greedy`; "auto" plays one episode of
        each kind and stays with the better one for this matrix.
    refresh : int
        Embeddings are computed anew every so many levels.

    Examples
    --------
    >>> PolicySettings(hidden=16).hidden
    16
    """

    layers: int = 4
    hidden: int = 10
    features: tuple[str, ...] = ("active",)
    identities: int = 0
    propagate: str = "matrix"
    matrix: str = "original"
    activation: str = "relu"
    actions: str = "rows"
    few: int | None = None
    noises: tuple[float, ...] = (0.0,)
    readout: str = "sum"
    score_prior: float | None = None
    partner_prior: float | None = None
    group_prior: float | None = None
    wavelets: str = "pivot"
    survivors: str = "eigenvectors"
    refresh: int = 1

    def __post_init__(self) -> None:
        check_integer("layers", self.layers, 1)
        check_integer("hidden", self.hidden, 1)
        check_integer("refresh", self.refresh, 1)
        check_integer("identities", self.identities, 0)
        check_choice("propagate", self.propagate, PROPAGATIONS)
        check_choice("matrix", self.matrix, ("original", "current"))
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("readout", self.readout, ("sum", "linear"))
        check_choice("wavelets", self.wavelets, ("pivot", "overlap"))
        check_choice("survivors", self.survivors, SURVIVORS)
        check_choice("actions", self.actions, ("rows", "groups"))
        object.__setattr__(self, "features", tuple(self.features))
        if self.few is not None:
            check_integer("few", self.few, 1)
            if self.actions != "groups":
                raise InvalidInputError("few chooses among groups: it needs actions='groups'")
        object.__setattr__(self, "noises", _strengths(self.noises))
        if not self.features:
            raise InvalidInputError("features must name at least one feature")
        for feature in self.features:
            check_choice("features", feature, FEATURES)
        needs = [name for name in self.features if FEATURES[name]]
        needs += [name for name in _PRIORS if getattr(self, name) is not None]
        needs += ["actions='groups'"] if self.actions == "groups" else []
        if needs and not self.scored:
            raise InvalidInputError(f"{', '.join(needs)} need matrix='current'")

    @property
    def inputs(self) -> int:
        """Numbers that are known of a node."""
        return len(self.features) + self.identities

    @property
    def scored(self) -> bool:
        """Whether the current matrix, its Gram matrix and the cost of every group are kept."""
        return self.matrix == "current"

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {**asdict(self), "features": list(self.features), "noises": list(self.noises)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> PolicySettings:
        """Build settings from what `to_json` gave."""
        return cls(**{**record, "features": tuple(record["features"])})


def _strengths(noises: Any) -> tuple[float, ...]:
    """Return strengths of noise, one at least."""
    strengths = tuple(noises) if isinstance(noises, list | tuple) else (noises,)
    for noise in strengths:
        if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise < 10:
            raise InvalidInputError(f"noises must be numbers from 0 to 10, got {noises!r}")
    if not strengths:
        raise InvalidInputError("noises must hold at least one number")
    return tuple(map(float, strengths))
