"""What Gymnasium asks of an environment, where it is installed; without it, nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["Environment", "action_space", "observation_space"]

try:
    from gymnasium import Env as Environment
    from gymnasium import spaces
except ImportError:
    spaces = None

    class Environment:  # type: ignore[no-redef]
        """The part of Gymnasium's class that ours relies on."""

        def reset(self, *, seed: int | None = None, options: Any = None) -> None:
            """Start an episode; nothing is random."""

        def close(self) -> None:
            """Give back what the environment holds: nothing."""


def action_space(n: int) -> Any:
    """Return the space of pairs (I, T) of sequences of n coordinates, None without Gymnasium."""
    if spaces is None:
        return None
    return spaces.Tuple([spaces.Sequence(spaces.Discrete(n))] * 2)


def observation_space(n: int, levels: int) -> Any:
    """Return the space of observations of n coordinates, None without Gymnasium."""
    if spaces is None:
        return None
    return spaces.Tuple([spaces.MultiBinary(n), spaces.Discrete(levels + 1)])
