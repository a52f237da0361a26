"""The parts of the learning algorithm (`_learn.py`): REINFORCE, and all it needs to continue."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .._fingerprint import fingerprint
from .._progress import Progress, silent
from ..errors import FileFormatError, WavemmfError
from ..optimize._checkpoint import Checkpoint
from ..parallel.interrupts import deferred_interrupts
from ._best import Best
from ._history import TrainingHistory
from ._imitation import demonstrate
from ._play import Decisions, Likelihood, likelihood, likelihoods, play
from ._policy import Policy
from ._presets import PolicyTraining
from ._problem import Problem
from ._resume import check_training_state
from ._rewards import episode_rewards, leave_one_out, returns

__all__ = ["Trainer"]

# Weight of the past in the moving baseline.
_MEMORY = 0.9
# What parts of a checkpoint raise that are not what they should be.
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, RuntimeError, WavemmfError)
# Demonstrations are shown this many at a time, and each lot is gone through so many times.
_DEMONSTRATIONS = 32
_REPETITIONS = 10


class Trainer:
    """Plays episodes and learns from them.

    Parameters
    ----------
    policy : Policy
        Trained in place.
    problems : list of Problem
        The graphs, played in turn.
    settings : PolicyTraining
        How to learn.
    seed : int
        Seed of all that is random.
    keep : int
        How many of the best trajectories are kept, in `best`.
    """

    def __init__(
        self,
        policy: Policy,
        problems: list[Problem],
        settings: PolicyTraining,
        seed: int,
        keep: int = 0,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.seed = seed
        self.progress: Progress = silent
        kind = torch.optim.SGD if settings.update == "plain" else torch.optim.Adam
        self.optimizer: Any = kind(policy.parameters(), lr=settings.learning_rate)
        self.noise = torch.Generator().manual_seed(seed)
        self.updates = 0
        self.baselines: dict[str, Any] = {}
        self.history = policy.history
        self.best = Best(keep)
        self.graph = 0
        self.checkpoint: Checkpoint | None = None
        self.started = time.perf_counter()

    def begin(self) -> None:
        """Learn from demonstrations, if any are wanted and nothing was learned yet."""
        if not self.updates:
            self._imitate()

    def sample_trajectories(self, report: Callable[[int, int], None]) -> Decisions:
        """Play a batch of episodes on the next graph; `report` is called after every level."""
        self.graph = self._graph_in_turn()
        problem, batch = self.problems[self.graph], self.settings.batch
        return play(self.policy, problem, batch, self.noise, report=report)

    def optimise_rotations(self, trajectories: Decisions) -> Any:
        """Return the error of every trajectory, in closed form or with optimised rotations."""
        episodes, settings = trajectories.episodes, self.settings
        if settings.rewards == "closed_form":
            errors = episodes.errors()
            self.best.offer_all(errors, episodes.rotations)
            return errors
        optimised = episodes.optimized(settings.steps, settings.halving)
        errors = np.array([each.error for each in optimised])
        self.best.offer_all(errors, lambda b: optimised[b].rotations)
        return errors

    def reinforce(self, trajectories: Decisions, errors: Any) -> None:
        """Make the decisions of good trajectories more likely, and record how good they were."""
        rewards = self._rewards(trajectories, errors)
        self._learn(trajectories, self._advantages(self.graph, rewards))
        seconds = time.perf_counter() - self.started
        self.history.add(errors, rewards.sum(axis=0), seconds, self.graph)
        self.updates += 1

    def error_rises(self) -> bool:
        """Whether the mean error of the last `window` episodes is above that of those before."""
        window, errors = self.settings.window, self.history.errors
        if window is None or errors.size < 2 * window:
            return False
        return bool(errors[-window:].mean() > errors[-2 * window : -window].mean())

    def _graph_in_turn(self) -> int:
        """Go through all graphs, in a new random order each round."""
        count = len(self.problems)
        order = np.random.default_rng([self.seed, self.updates // count]).permutation(count)
        return int(order[self.updates % count])

    def _rewards(self, decisions: Decisions, errors: Any) -> Any:
        settings, costs = self.settings, decisions.episodes.costs
        return episode_rewards(costs, errors, settings.intermediate, settings.logarithmic)

    def _advantages(self, graph: int, rewards: Any) -> torch.Tensor:
        """Weights of the log-probabilities, shape (L, batch)."""
        settings = self.settings
        future = returns(rewards, settings.discount)
        advantages = future - self._baseline(graph, future)
        if settings.normalize and future.size:
            advantages /= advantages.std() + 1e-8
        discounts = settings.discount ** np.arange(len(future))[:, None]
        return torch.from_numpy(advantages * discounts).float()

    def _baseline(self, graph: int, future: Any) -> Any:
        if self.settings.baseline is None:
            return np.zeros_like(future)
        if self.settings.baseline == "batch":
            return leave_one_out(future)
        mean = future.mean(axis=1)
        before = self.baselines.get(str(graph), mean)
        self.baselines[str(graph)] = _MEMORY * before + (1.0 - _MEMORY) * mean
        return before[:, None]

    def _learn(self, decisions: Decisions, advantages: torch.Tensor) -> None:
        if self.settings.update == "plain":
            self._follow_each_level(decisions, advantages)
        else:
            self._follow_all_levels(decisions, advantages)

    def _follow_each_level(self, decisions: Decisions, advantages: torch.Tensor) -> None:
        """Apply the update rule of the paper (Eq. 12; lines 12 to 15 of Algorithm 1).

        Level by level, and as it is written: every step starts from the parameters that the
        level before has left.
        """
        for level in range(len(advantages)):
            part = likelihood(self.policy, decisions, slice(level, level + 1))
            self.optimizer.zero_grad()
            self._ascend(part.log_probability * advantages[part.levels], part)
            self.optimizer.step()

    def _follow_all_levels(self, decisions: Decisions, advantages: torch.Tensor) -> None:
        """Take one step of Adam, or a few with clipped ratios, along the sum over all levels."""
        settings = self.settings
        old: list[torch.Tensor] = []
        if settings.epochs > 1:
            with torch.no_grad():
                old = [part.log_probability for part in likelihoods(self.policy, decisions)]
        for _ in range(settings.epochs):
            self.optimizer.zero_grad()
            for index, part in enumerate(likelihoods(self.policy, decisions)):
                weight = advantages[part.levels]
                if settings.epochs > 1:
                    gain = _clipped(part.log_probability - old[index], weight, settings.clip)
                else:
                    gain = part.log_probability * weight
                self._ascend(gain, part)
            self.optimizer.step()

    def _ascend(self, gain: torch.Tensor, part: Likelihood) -> None:
        """Add the gradient of the mean gain over episodes, for an optimiser that descends."""
        gain = gain + self.settings.entropy * part.entropy
        (-gain.sum() / gain.shape[1]).backward()

    def _imitate(self) -> None:
        """Make the decisions of the greedy selector more likely, graph by graph."""
        wanted = self.settings.imitation
        for first in range(0, wanted, _DEMONSTRATIONS):
            count = min(_DEMONSTRATIONS, wanted - first)
            problem = self.problems[(first // _DEMONSTRATIONS) % len(self.problems)]
            with deferred_interrupts():
                shown = demonstrate(self.policy, problem, count, self.seed * 1009 + first)
                for _ in range(_REPETITIONS):
                    self.optimizer.zero_grad()
                    for part in likelihoods(self.policy, shown):
                        (-part.log_probability.sum() / count).backward()
                    self.optimizer.step()
            self.progress(first + count, wanted, "imitating the greedy selector")

    # -- checkpoints --

    def keep(self, path: str | os.PathLike[str], seconds: float, episodes: int) -> None:
        """Write the state to a file now and then; if it exists, continue from there."""
        identity = fingerprint(
            "training",
            policy=self.policy,
            graphs=[problem.matrix for problem in self.problems],
            schedules=[problem.schedule for problem in self.problems],
            settings=self.settings,
            seed=self.seed,
            episodes=episodes,
            best=self.best.count,
        )
        self.checkpoint = Checkpoint(path, identity, seconds)
        state = self.checkpoint.load()
        if state is not None:
            levels = [problem.schedule.levels for problem in self.problems]
            try:
                kept = {name: state.pop(name) for name in list(state) if name.startswith("best.")}
                self.best.restore(kept, self.problems[0].dense)
                check_training_state(state, self.state(), self.policy.parameters(), levels)
                self._resume(state)
            except _DAMAGE as error:
                raise FileFormatError(f"{self.checkpoint.path} is damaged: {error}") from error

    def state(self) -> dict[str, Any]:
        """Return all that the rest of the training depends on."""
        state: dict[str, Any] = {
            "updates": self.updates,
            "noise": self.noise.get_state().numpy(),
            **{f"history.{name}": array for name, array in self.history.arrays().items()},
            **{f"baseline.{name}": array for name, array in self.baselines.items()},
            **self.best.arrays(),
        }
        for name, value in self.policy.state_dict().items():
            state[f"policy.{name}"] = value.numpy().copy()
        if self.settings.update == "adam":  # the plain rule remembers nothing
            for index, moments in self.optimizer.state_dict()["state"].items():
                for name, value in moments.items():
                    state[f"adam.{index}.{name}"] = value.numpy().copy()
        return state

    def _resume(self, state: dict[str, Any]) -> None:
        self.updates = state["updates"]
        self.noise.set_state(torch.from_numpy(np.array(state["noise"])))
        parts = {name: _part(state, name) for name in ("policy", "adam", "history", "baseline")}
        self.policy.load_state_dict(
            {name: torch.from_numpy(np.array(value)) for name, value in parts["policy"].items()}
        )
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in parts["adam"].items():
            index, _, moment = name.partition(".")
            moments.setdefault(int(index), {})[moment] = torch.from_numpy(np.array(value))
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.baselines = {name: np.array(value) for name, value in parts["baseline"].items()}
        self.history = self.policy.history = TrainingHistory.from_arrays(parts["history"], "")
        self.started -= float(self.history.seconds[-1]) if self.history.episodes else 0.0


def _part(state: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the entries whose name begins with the prefix and a dot, under the rest."""
    start = f"{prefix}."
    return {name[len(start) :]: value for name, value in state.items() if name.startswith(start)}


def _clipped(log_ratio: torch.Tensor, advantage: torch.Tensor, clip: float) -> torch.Tensor:
    """Return the clipped surrogate of proximal policy optimisation."""
    ratio = log_ratio.exp()
    return torch.minimum(ratio * advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * advantage)
