"""The learning algorithm (Algorithm 1 of the paper): REINFORCE, and all it needs to continue."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .._fingerprint import fingerprint
from .._progress import Progress
from ..errors import FileFormatError
from ..optimize._checkpoint import Checkpoint
from ..optimize._settings import Callback
from ..parallel.interrupts import deferred_interrupts
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
# Demonstrations are shown this many at a time, and each lot is gone through so many times.
_DEMONSTRATIONS = 32
_REPETITIONS = 10
# Seconds between two words on how long a training may still take.
_TELL_EVERY = 0.5


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
    progress : Progress
        Progress display.
    """

    def __init__(
        self,
        policy: Policy,
        problems: list[Problem],
        settings: PolicyTraining,
        seed: int,
        progress: Progress,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.seed = seed
        self.progress = progress
        kind = torch.optim.SGD if settings.update == "plain" else torch.optim.Adam
        self.optimizer: Any = kind(policy.parameters(), lr=settings.learning_rate)
        self.noise = torch.Generator().manual_seed(seed)
        self.updates = 0
        self.baselines: dict[str, Any] = {}
        self.history = policy.history
        self.checkpoint: Checkpoint | None = None
        self.started = time.perf_counter()

    def run(self, episodes: int, callback: Callback | None) -> None:
        """Train until the episodes are played or there is another reason to stop."""
        history = self.history
        try:
            if not self.updates:
                self._imitate()
            while not history.stopped:
                if history.episodes >= episodes:
                    history.stopped = f"{history.episodes} episodes were played"
                elif self._error_rises():
                    history.stopped = f"the mean error over {self.settings.window} episodes rose"
                else:
                    self._update(episodes, callback)
        except KeyboardInterrupt:
            if self.checkpoint is not None:
                self.checkpoint.save(self._state())
            history.stopped = "interrupted"
        else:
            if self.checkpoint is not None:
                self.checkpoint.remove()

    def _error_rises(self) -> bool:
        window, errors = self.settings.window, self.history.errors
        if window is None or errors.size < 2 * window:
            return False
        return bool(errors[-window:].mean() > errors[-2 * window : -window].mean())

    def _update(self, episodes: int, callback: Callback | None) -> None:
        with deferred_interrupts():  # a batch is learned from whole or not at all
            graph = self._graph_in_turn()
            batch = self.settings.batch
            report = self._inside_a_batch(episodes)
            decisions = play(self.policy, self.problems[graph], batch, self.noise, report=report)
            errors = self._errors(decisions)
            rewards = self._rewards(decisions, errors)
            self._learn(decisions, self._advantages(graph, rewards))
            self.history.add(errors, rewards.sum(axis=0), time.perf_counter() - self.started, graph)
            self.updates += 1
        done, mean = self.history.episodes, float(errors.mean())
        self.progress(done, episodes, f"error {mean:.4g}, reward {rewards.sum(axis=0).mean():.4g}")
        if self.checkpoint is not None:
            self.checkpoint.save_if_due(self._state())
        if callback is not None and callback(done, mean):
            self.history.stopped = "the callback asked to stop"

    def _inside_a_batch(self, episodes: int) -> Callable[[int, int], None]:
        """Return what tells, level by level, how long the training may still take."""
        began = told = time.perf_counter()
        done = self.history.episodes
        batches = -(-(episodes - done) // self.settings.batch)

        def report(level: int, levels: int) -> None:
            nonlocal told
            now = time.perf_counter()
            if now - told < _TELL_EVERY:
                return
            told = now
            # Learning from a batch takes about as long as playing it.
            left = (now - began) * (2.0 * batches * levels / level - 1.0)
            self.progress(
                done, episodes, f"level {level} of {levels}, about {_duration(left)} left"
            )

        return report

    def _graph_in_turn(self) -> int:
        """Go through all graphs, in a new random order each round."""
        count = len(self.problems)
        order = np.random.default_rng([self.seed, self.updates // count]).permutation(count)
        return int(order[self.updates % count])

    def _errors(self, decisions: Decisions) -> Any:
        if self.settings.rewards == "closed_form":
            return decisions.episodes.errors()
        optimized = decisions.episodes.optimized(self.settings.steps)
        return np.array([history.errors[-1] for _, history in optimized])

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
        )
        self.checkpoint = Checkpoint(path, identity, seconds)
        state = self.checkpoint.load()
        if state is not None:
            levels = [problem.schedule.levels for problem in self.problems]
            try:
                check_training_state(state, self._state(), self.policy.parameters(), levels)
                self._resume(state)
            except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
                raise FileFormatError(f"{self.checkpoint.path} is damaged: {error}") from error

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "updates": self.updates,
            "noise": self.noise.get_state().numpy(),
            **{f"history.{name}": array for name, array in self.history.arrays().items()},
            **{f"baseline.{name}": array for name, array in self.baselines.items()},
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


def _duration(seconds: float) -> str:
    """Put a time into words."""
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"


def _part(state: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the entries whose name begins with the prefix and a dot, under the rest."""
    start = f"{prefix}."
    return {name[len(start) :]: value for name, value in state.items() if name.startswith(start)}


def _clipped(log_ratio: torch.Tensor, advantage: torch.Tensor, clip: float) -> torch.Tensor:
    """Return the clipped surrogate of proximal policy optimisation."""
    ratio = log_ratio.exp()
    return torch.minimum(ratio * advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * advantage)
