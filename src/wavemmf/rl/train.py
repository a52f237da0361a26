"""REINFORCE: play, compare with what was to be expected, make good decisions more likely."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from .._progress import Report, silent
from ..errors import InvalidInputError
from ..kernels.interrupts import deferred_interrupts
from ..kernels.threads import run_all
from ..optimize import Settings, optimize
from ..optimize.checkpoint import Checkpoint, fingerprint
from ..validation import check_choice, check_integer
from .history import TrainingHistory
from .imitation import demonstrate
from .inputs import problems_of
from .play import Decisions, flags, likelihoods, play
from .policy import Policy
from .presets import PRESETS, TrainingSettings
from .problem import Problem
from .rewards import episode_rewards, leave_one_out, returns
from .settings import PolicySettings
from .threads import one_thread

__all__ = ["train_policy"]

#: Called after every update with (episodes so far, mean error of the batch); stops if true.
Callback = Callable[[int, float], Any]

# Weight of the past in the moving baseline.
_MEMORY = 0.9
# Demonstrations are gathered once, this many at a time, and gone through again and again.
_DEMONSTRATIONS = 32


def train_policy(
    A: Any,
    k: int = 4,
    core: int | float | None = None,
    drop: int = 1,
    episodes: int = 300,
    preset: str = "paper",
    *,
    policy: Policy | PolicySettings | None = None,
    seed: int = 0,
    matrix: str | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    report: Report = silent,
    **training: Any,
) -> Policy:
    r"""Train a policy to choose indices, on one matrix or on many.

    Episodes are played in batches, all of a batch on the same graph; graphs take turns.
    After every batch the parameters follow the gradient of

    .. math:: \sum_\ell \gamma^\ell \, a_\ell \log \pi_\theta(a_\ell | s_\ell)

    by one step of Adam, where the advantage :math:`a_\ell` is the return :math:`g_\ell` minus a
    baseline, divided by its standard deviation in the batch. With ``baseline=None`` and
    ``normalize=False`` it is the return itself: the update of the paper.

    Parameters
    ----------
    A : matrix, graph, path, or list of them
        What to train on; anything `wavemmf.factorize` accepts.
    k : int
        Coordinates per rotation.
    core : int or float, optional
        Size of the core, or its part of the rows if the graphs differ in size; a tenth of the
        rows, at least 8, by default.
    drop : int
        Wavelets per level.
    episodes : int
        Episodes to play; whole batches.
    preset : {"paper", "guided"}
        The paper's agent, or the stronger one that looks at the current matrix.
    policy : Policy or PolicySettings, optional
        A policy to train further (a copy is trained), or an architecture of your own.
    seed : int
        Seed of weights and decisions; the same seed gives the same policy.
    matrix : str, optional
        Which matrix of a graph to take, as for `wavemmf.factorize`.
    callback : callable, optional
        Called after every batch with the number of episodes and the mean error of the batch; a true
        return value ends the training.
    checkpoint : path, optional
        File that keeps the state of the training, written every `checkpoint_seconds`; a call
        with the same arguments continues from it exactly. It is removed at the end. Ctrl-C ends
        the training and returns the policy so far.
    checkpoint_seconds : float
        Time between two writes of the checkpoint.
    report : callable
        Called as ``report(episodes, total, note)``.
    batch : int
        Episodes per update.
    learning_rate : float
        Step size of Adam.
    discount : float
        The factor :math:`\gamma`.
    baseline : {"batch", "moving"}, optional
        Mean return of the other episodes of the batch, or a moving average per graph.
    normalize : bool
        Whether advantages are divided by their standard deviation in the batch.
    entropy : float
        Weight of a bonus for the entropy of pivot and first partner.
    imitation : int
        Demonstrations by the (randomised) greedy selector to learn from before.
    window : int, optional
        Stop when the mean error of the last `window` episodes exceeds that of the `window`
        before.
    rewards : {"closed_form", "stiefel"}
        Whether episodes are judged by closed-form rotations, or after all rotations
        were optimised together with `steps` steps of L-BFGS, which takes much longer.
    intermediate : bool
        Whether each level is also rewarded by minus the squared error it adds.
    logarithmic : bool
        Whether the final reward is minus the logarithm of the error.
    epochs, clip : int, float
        Updates per batch; with more than one, ratios of probabilities are clipped as in PPO.

    Returns
    -------
    Policy

    Examples
    --------
    >>> import wavemmf as wm
    >>> policy = wm.rl.train_policy(wm.graphs.karate(), k=8, core=8, episodes=32, seed=0)
    >>> policy.history.episodes
    32
    """
    check_choice("preset", preset, PRESETS)
    episodes = check_integer("episodes", episodes, 0)
    seed = check_integer("seed", seed, 0)
    settings = _training_settings(PRESETS[preset].training, training)
    learner = _learner(policy, preset, seed)
    problems = problems_of(A, k, core, drop, learner.settings.scored, matrix)
    trainer = _Trainer(learner, problems, settings, seed, report)
    learner.trained_with = {
        "preset": preset if policy is None else None,
        "k": k, "core": core, "drop": drop, "seed": seed, "graphs": len(problems),
        **settings.to_json(),
    }  # fmt: skip
    with one_thread():
        if checkpoint is not None:
            trainer.keep(checkpoint, checkpoint_seconds)
        trainer.run(episodes, callback)
    return learner


def _training_settings(preset: TrainingSettings, given: dict[str, Any]) -> TrainingSettings:
    unknown = sorted(set(given) - set(preset.to_json()))
    if unknown:
        raise InvalidInputError(
            f"unknown setting {unknown[0]!r}; the settings are {', '.join(preset.to_json())}"
        )
    return replace(preset, **given)


def _learner(given: Policy | PolicySettings | None, preset: str, seed: int) -> Policy:
    if isinstance(given, Policy):
        learner = Policy(given.settings)
        learner.load_state_dict(given.state_dict())
        return learner
    return Policy(PRESETS[preset].policy if given is None else given, seed)


class _Trainer:
    """The loop, and everything it needs to continue exactly."""

    def __init__(
        self,
        policy: Policy,
        problems: list[Problem],
        settings: TrainingSettings,
        seed: int,
        report: Report,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.seed = seed
        self.report = report
        self.adam = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)
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
            nearest = flags(self.policy.settings.nearest, self.settings.batch)
            decisions = play(self.policy, self.problems[graph], nearest, self.noise)
            errors = self._errors(decisions)
            rewards = self._rewards(decisions, errors)
            self._learn(decisions, self._advantages(graph, rewards, decisions))
            self.history.add(errors, rewards.sum(axis=0), time.perf_counter() - self.started, graph)
            self.updates += 1
        done, mean = self.history.episodes, float(errors.mean())
        self.report(done, episodes, f"error {mean:.4g}, reward {rewards.sum(axis=0).mean():.4g}")
        if self.checkpoint is not None:
            self.checkpoint.save_if_due(self._state())
        if callback is not None and callback(done, mean):
            self.history.stopped = "the callback asked to stop"

    def _graph_in_turn(self) -> int:
        """Go through all graphs, in a new random order each round."""
        count = len(self.problems)
        order = np.random.default_rng([self.seed, self.updates // count]).permutation(count)
        return int(order[self.updates % count])

    def _errors(self, decisions: Decisions) -> Any:
        if self.settings.rewards == "closed_form":
            return decisions.episodes.errors()
        matrix = decisions.episodes.problem.dense
        settings = Settings("lbfgs", self.settings.steps)
        calls = [
            (matrix, decisions.episodes.rotations(b), settings)
            for b in range(decisions.episodes.count)
        ]
        return np.array([history.errors[-1] for _, history in run_all(optimize, calls)])

    def _rewards(self, decisions: Decisions, errors: Any) -> Any:
        costs = decisions.episodes.costs * decisions.episodes.problem.scale**2
        return episode_rewards(costs, errors, self.settings.intermediate, self.settings.logarithmic)

    def _advantages(self, graph: int, rewards: Any, decisions: Decisions) -> torch.Tensor:
        """Weights of the log-probabilities, shape (L, batch)."""
        settings = self.settings
        future = returns(rewards, settings.discount)
        advantages = np.empty_like(future)
        # Episodes with different survivors differ for reasons that are not the policy's.
        for kind in np.unique(decisions.episodes.nearest):
            same = decisions.episodes.nearest == kind
            part = future[:, same]
            part = part - self._baseline((graph, bool(kind)), part)
            if settings.normalize and part.size:
                part = part / (part.std() + 1e-8)
            advantages[:, same] = part
        discounts = settings.discount ** np.arange(len(future))[:, None]
        return torch.from_numpy(advantages * discounts).float()

    def _baseline(self, key: tuple[int, bool], future: Any) -> Any:
        if self.settings.baseline is None:
            return np.zeros_like(future)
        if self.settings.baseline == "batch":
            return leave_one_out(future)
        mean = future.mean(axis=1)
        name = f"{key[0]}.{int(key[1])}"
        before = self.baselines.get(name, mean)
        self.baselines[name] = _MEMORY * before + (1.0 - _MEMORY) * mean
        return before[:, None]

    def _learn(self, decisions: Decisions, advantages: torch.Tensor) -> None:
        settings = self.settings
        episodes = max(1, decisions.episodes.count)
        old: list[torch.Tensor] = []
        if settings.epochs > 1:
            with torch.no_grad():
                old = [part.log_probability for part in likelihoods(self.policy, decisions)]
        for _ in range(settings.epochs):
            self.adam.zero_grad()
            for index, part in enumerate(likelihoods(self.policy, decisions)):
                weight = advantages[part.levels]
                if settings.epochs > 1:
                    gain = _clipped(part.log_probability - old[index], weight, settings.clip)
                else:
                    gain = part.log_probability * weight
                gain = gain + settings.entropy * part.entropy
                (-gain.sum() / episodes).backward()
            self.adam.step()

    def _imitate(self) -> None:
        """Make the decisions of the greedy selector more likely, graph by graph."""
        wanted = self.settings.imitation
        for first in range(0, wanted, _DEMONSTRATIONS):
            count = min(_DEMONSTRATIONS, wanted - first)
            problem = self.problems[(first // _DEMONSTRATIONS) % len(self.problems)]
            with deferred_interrupts():
                shown = demonstrate(self.policy, problem, count, self.seed * 1009 + first)
                for _ in range(10):
                    self.adam.zero_grad()
                    for part in likelihoods(self.policy, shown):
                        (-part.log_probability.sum() / count).backward()
                    self.adam.step()
            self.report(first + count, wanted, "imitating the greedy selector")

    # -- checkpoints --

    def keep(self, path: str | os.PathLike[str], seconds: float) -> None:
        """Write the state to a file now and then; if it exists, continue from there."""
        graphs = [problem.dense for problem in self.problems]
        plain = [self.policy.settings.to_json(), self.settings.to_json(), self.seed]
        sizes = [vars(problem.schedule) for problem in self.problems]
        start = [value.numpy() for value in self.policy.state_dict().values()]
        self.checkpoint = Checkpoint(path, fingerprint(*graphs, *start, plain, sizes), seconds)
        state = self.checkpoint.load()
        if state is not None:
            self._resume(state)

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "updates": self.updates,
            "noise": self.noise.get_state().numpy(),
            **{f"history.{name}": array for name, array in self.history.arrays().items()},
            **{f"baseline.{name}": array for name, array in self.baselines.items()},
        }
        for name, value in self.policy.state_dict().items():
            state[f"policy.{name}"] = value.numpy().copy()
        for index, moments in self.adam.state_dict()["state"].items():
            for name, value in moments.items():
                state[f"adam.{index}.{name}"] = value.numpy().copy()
        return state

    def _resume(self, state: dict[str, Any]) -> None:
        self.updates = int(state["updates"])
        self.noise.set_state(torch.from_numpy(np.array(state["noise"])))
        parts = {name: _part(state, name) for name in ("policy", "adam", "history", "baseline")}
        self.policy.load_state_dict(
            {name: torch.from_numpy(np.array(value)) for name, value in parts["policy"].items()}
        )
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in parts["adam"].items():
            index, _, moment = name.partition(".")
            moments.setdefault(int(index), {})[moment] = torch.from_numpy(np.array(value))
        groups = self.adam.state_dict()["param_groups"]
        self.adam.load_state_dict({"state": moments, "param_groups": groups})
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
