"""Learn which coordinates to rotate: reinforcement learning for index selection.

>>> import wavemmf as wm
>>> policy = wm.rl.train_policy(wm.graphs.karate(), k=8, core=8, episodes=16, seed=0)
>>> policy.settings.actions
'groups'
"""

from __future__ import annotations

from .._optional import require

require("torch", extra="torch")

from ._clusters import clusters  # noqa: E402
from ._curve import write_curve  # noqa: E402
from ._environment import MMFEnvironment, Observation  # noqa: E402
from ._history import TrainingHistory  # noqa: E402
from ._learn import Learned, learn  # noqa: E402
from ._policy import Policy  # noqa: E402
from ._presets import PRESETS, PolicyPreset, PolicyTraining  # noqa: E402
from ._rewards import returns  # noqa: E402
from ._settings import PolicySettings  # noqa: E402
from ._storage import load_policy  # noqa: E402
from ._train import train_policy  # noqa: E402

__all__ = [
    "PRESETS",
    "Learned",
    "MMFEnvironment",
    "Observation",
    "Policy",
    "PolicyPreset",
    "PolicySettings",
    "PolicyTraining",
    "TrainingHistory",
    "clusters",
    "learn",
    "load_policy",
    "returns",
    "train_policy",
    "write_curve",
]
