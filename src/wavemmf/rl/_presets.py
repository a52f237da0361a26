"""Agents by name, and how they are trained: the paper's, and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from .._validation import check_choice, check_integer, check_positive
from ..errors import InvalidInputError
from ._rewards import check_discount
from ._settings import PolicySettings

__all__ = ["PRESETS", "REWARDS", "PolicyPreset", "PolicyTraining"]

RETURN_BASELINES = ("batch", "moving")
REWARDS = ("closed_form", "stiefel")
UPDATES = ("plain", "adam")


@dataclass(frozen=True)
class PolicyTraining:
    """How a policy is trained; see `train_policy` for what the settings mean."""

    update: str = "adam"
    batch: int = 16
    learning_rate: float = 1e-3
    discount: float = 1.0
    baseline: str | None = "batch"
    normalize: bool = True
    entropy: float = 0.0
    imitation: int = 0
    window: int | None = None
    rewards: str = "closed_form"
    steps: int = 100
    halving: bool = False
    intermediate: bool = False
    logarithmic: bool = False
    epochs: int = 1
    clip: float = 0.2

    def __post_init__(self) -> None:
        check_integer("batch", self.batch, 1)
        check_integer("imitation", self.imitation, 0)
        check_integer("steps", self.steps, 0)
        check_integer("epochs", self.epochs, 1)
        check_positive("learning_rate", self.learning_rate)
        check_positive("clip", self.clip)
        check_discount(self.discount)
        check_choice("rewards", self.rewards, REWARDS)
        check_choice("update", self.update, UPDATES)
        if self.update == "plain" and self.epochs > 1:
            raise InvalidInputError(
                f"update='plain' learns from every episode once, got epochs={self.epochs}: take "
                "update='adam'"
            )
        if self.baseline is not None:
            check_choice("baseline", self.baseline, RETURN_BASELINES)
        if self.window is not None:
            check_integer("window", self.window, 1)
        if not 0.0 <= self.entropy < float("inf"):
            raise InvalidInputError(f"entropy must be a number >= 0, got {self.entropy!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class PolicyPreset:
    """A policy and how it is trained."""

    policy: PolicySettings
    training: PolicyTraining


# Section 5.3 and the appendix of the paper: two networks of 4 layers and width 10 that see which
# rows are active. The nonlinearity is not named there; embeddings of one sign, as ReLU gives, make
# every row similar to every other, so it is tanh here.
_PAPER_AGENT = PolicySettings(activation="tanh")

_GROUPS = PolicySettings(
    layers=2,
    hidden=16,
    features=("active", "lead", "rank", "size", "norm", "diagonal", "neighbors", "progress"),
    propagate="none",
    matrix="current",
    activation="tanh",
    actions="groups",
    few=8,
    noises=(0.0, 0.05, 0.15, 0.3),
    readout="linear",
    score_prior=5.0,
    wavelets="overlap",
    survivors="auto",
)
_BY_OPTIMISED_ERRORS = PolicyTraining(
    batch=32, learning_rate=1e-2, logarithmic=True, epochs=4, rewards="stiefel", halving=True
)

PRESETS = {
    # Algorithm 1 with the closed-form rewards of the two-phase process: one episode at a time, and
    # the plain update rule with discount 1 and learning rate 1e-3.
    "paper": PolicyPreset(
        _PAPER_AGENT,
        PolicyTraining(update="plain", batch=1, baseline=None, normalize=False),
    ),
    # Ours: the same agent, trained with less variance. Returns are compared with those of the
    # other episodes of a batch and divided by their deviation, and Adam takes the steps.
    "reduced-variance": PolicyPreset(_PAPER_AGENT, PolicyTraining()),
    # Ours: the paper's agent, but nodes have identities, and messages are averages over neighbours
    # (along a Laplacian, "laplacian" adds what neighbours say; its own entries would subtract it).
    # Then rows close to each other have like embeddings, so the pivot can ask for its neighbours.
    "identities": PolicyPreset(
        PolicySettings(hidden=32, identities=32, propagate="laplacian", activation="tanh"),
        PolicyTraining(learning_rate=3e-3),
    ),
    # Ours: chooses among the groups of the greedy selector, by what they cost and by what their
    # pivots are, and is judged by optimised errors. Untrained it is that selector with noise.
    "groups": PolicyPreset(replace(_GROUPS, identities=32), _BY_OPTIMISED_ERRORS),
    # Ours: the same without identities, which mean nothing on another graph; it sees neighbours.
    "transfer": PolicyPreset(
        replace(_GROUPS, layers=3, propagate="laplacian"),
        replace(_BY_OPTIMISED_ERRORS, batch=16, epochs=2),
    ),
    # Ours: sees the matrix as compressed so far. Untrained it is a randomised greedy selector.
    "guided": PolicyPreset(
        PolicySettings(
            layers=3,
            hidden=16,
            features=("active", "score", "norm", "diagonal", "neighbors", "progress"),
            propagate="laplacian",
            matrix="current",
            activation="tanh",
            readout="linear",
            score_prior=5.0,
            partner_prior=20.0,
            wavelets="overlap",
            survivors="auto",
        ),
        PolicyTraining(batch=32, learning_rate=1e-2, logarithmic=True, epochs=4),
    ),
}
