"""Agents by name: the paper's, one that can tell nodes apart, and one that sees much more."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InvalidInputError
from ..validation import check_choice, check_integer, check_positive
from .rewards import check_discount
from .settings import PolicySettings

__all__ = ["PRESETS", "Preset", "TrainingSettings"]

BASELINES = ("batch", "moving")
REWARDS = ("closed_form", "stiefel")


@dataclass(frozen=True)
class TrainingSettings:
    """How a policy is trained; see `train_policy` for what the settings mean."""

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
        if self.baseline is not None:
            check_choice("baseline", self.baseline, BASELINES)
        if self.window is not None:
            check_integer("window", self.window, 1)
        if not 0.0 <= self.entropy < float("inf"):
            raise InvalidInputError(f"entropy must be a number >= 0, got {self.entropy!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Preset:
    """A policy and how it is trained."""

    policy: PolicySettings
    training: TrainingSettings


PRESETS = {
    # The appendix of the paper: two networks of 4 layers and width 10 that see which rows are
    # active, discount 1, learning rate 1e-3. The nonlinearity is not named there; embeddings of
    # one sign, as ReLU gives, make every row similar to every other.
    "paper": Preset(PolicySettings(activation="tanh"), TrainingSettings()),
    # Sees the matrix as compressed so far. Untrained it is a randomised greedy selector.
    "guided": Preset(
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
        TrainingSettings(batch=32, learning_rate=1e-2, logarithmic=True, epochs=4),
    ),
    # The paper's agent, but nodes have identities, and messages are averages over neighbours
    # (along a Laplacian, "laplacian" adds what neighbours say; its own entries would subtract it).
    # Then rows close to each other have like embeddings, so the pivot can ask for its neighbours.
    "identities": Preset(
        PolicySettings(hidden=32, identities=32, propagate="laplacian", activation="tanh"),
        TrainingSettings(learning_rate=3e-3),
    ),
}
