"""The learning algorithm (Algorithm 1 of the paper): sample, optimise, reinforce, again."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Any

from .._factorize import factorize
from .._progress import Progress, progress_shown
from .._restarts import Search
from .._validation import check_choice, check_integer, check_named
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..optimize import Optimizer, as_optimizer
from ..optimize._checkpoint import check_checkpoint
from ..optimize._settings import Callback
from ..parallel.interrupts import deferred_interrupts
from ..parallel.torch_threads import one_thread
from ._history import TrainingHistory
from ._inputs import problems_of
from ._play import choose_survivors
from ._policy import Policy
from ._presets import PRESETS, PolicyTraining
from ._settings import PolicySettings
from ._trainer import Trainer

__all__ = ["Learned", "learn", "prepare", "run"]

# Seconds between two words on how long a training may still take.
_TELL_EVERY = 0.5


@dataclass(frozen=True)
class Learned:
    """What `learn` has found.

    Attributes
    ----------
    factorization : Factorization
        The best that was found.
    policy : Policy
        The trained policy: a selector for more of them, and for other matrices.
    history : TrainingHistory
        Errors and rewards of all episodes, and why the training ended.
    """

    factorization: Factorization
    policy: Policy
    history: TrainingHistory


def run(
    trainer: Trainer,
    episodes: int,
    callback: Callback | None,
    checkpoint: str | os.PathLike[str] | None,
    checkpoint_seconds: float,
    progress: Progress | bool | None,
) -> None:
    """Run the algorithm; the numbers are those of the lines in the paper."""
    episodes = check_integer("episodes", episodes, 0)
    check_checkpoint(checkpoint, checkpoint_seconds)
    with one_thread(), progress_shown("training", progress) as trainer.progress:
        for problem in trainer.problems:
            choose_survivors(trainer.policy, problem)
        if checkpoint is not None:
            trainer.keep(checkpoint, checkpoint_seconds, episodes)
        history = trainer.history  # with what was played before, if a checkpoint was taken up
        clock = _Clock(trainer, episodes)
        try:
            trainer.begin()  # 2: the policy has its first parameters
            while not history.stopped:  # 3
                if history.episodes >= episodes:
                    history.stopped = f"{history.episodes} episodes were played"
                    break
                with deferred_interrupts():  # a batch is learned from whole or not at all
                    trajectories = trainer.sample_trajectories(clock.level_done)  # 4 to 10
                    errors = trainer.optimise_rotations(trajectories)  # 11
                    trainer.reinforce(trajectories, errors)  # 12 to 15
                mean = float(errors.mean())
                clock.batch_done(mean)
                if trainer.checkpoint is not None:
                    trainer.checkpoint.save_if_due(trainer.state())
                if trainer.error_rises():  # 16
                    window = trainer.settings.window
                    history.stopped = f"the mean error over {window} episodes rose"
                elif callback is not None and callback(history.episodes, mean):
                    history.stopped = "the callback asked to stop"
        except KeyboardInterrupt:
            if trainer.checkpoint is not None:
                trainer.checkpoint.save(trainer.state())
            history.stopped = "interrupted"
        else:
            if trainer.checkpoint is not None:
                trainer.checkpoint.remove()


def learn(
    A: Any,
    core: int | None = None,
    k: int = 4,
    drop: int = 1,
    episodes: int = 4096,
    preset: str = "groups",
    *,
    optimize: str | Optimizer | None = "lbfgs",
    finalists: int = 15,
    policy: Policy | PolicySettings | None = None,
    seed: int = 0,
    matrix: str | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    progress: Progress | bool | None = None,
    **training: Any,
) -> Learned:
    r"""Factorize a matrix by learning which coordinates to rotate: Algorithm 1 of the paper.

    Again and again trajectories are sampled from the policy, their rotations are optimised, and the
    decisions that led to small errors are made more likely, until `episodes` are played
    or the mean error over a window of them rises. The best trajectories met on the way are kept;
    at the end they are optimised further, in rounds that the better half survives, and the best is
    the result.

    With ``rewards="closed_form"`` this is the two-phase process of the paper's appendix: in
    phase 1 errors are those of closed-form rotations, and `optimize` is phase 2.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts, of a size that fits into memory as a dense matrix.
    core : int, optional
        Coordinates left at the end; a tenth of the rows, at least 8, by default.
    k, drop : int
        Coordinates per rotation, wavelets per level.
    episodes : int
        Episodes to play; whole batches.
    preset : {"groups", "transfer", "guided", "identities", "reduced-variance", "paper"}
        The agent and how it is trained, see `train_policy`.
    optimize : {"lbfgs", "stiefel", "sgd", "adam"}, Optimizer or None
        How the best trajectories are optimised at the end; with None they stay as they were met.
    finalists : int
        How many of the best trajectories are kept and optimised.
    policy, seed, matrix, callback, checkpoint, checkpoint_seconds, progress, **training
        As for `train_policy`. Ctrl-C ends the training; the result is the best so far.

    Returns
    -------
    Learned
        The best factorization, the policy and the history of the training.

    Examples
    --------
    >>> import wavemmf as wm
    >>> found = wm.rl.learn(wm.graphs.karate(), k=8, core=8, episodes=32, steps=20, finalists=2)
    >>> bool(found.factorization.error() < found.history.errors.min())
    True
    >>> found.history.episodes
    32
    """
    optimizer = as_optimizer(optimize, None)
    finalists = check_integer("finalists", finalists, 1)
    if optimizer is not None:
        optimizer = optimizer.for_many("several trajectories are optimised")
    trainer = prepare(A, core, k, drop, preset, policy, seed, matrix, training, finalists)
    if len(trainer.problems) != 1:
        raise InvalidInputError(
            f"learn factorizes one matrix, got {len(trainer.problems)}: train_policy learns from "
            "several"
        )
    run(trainer, episodes, callback, checkpoint, checkpoint_seconds, progress)
    problem, history, best = trainer.problems[0], trainer.history, trainer.best
    schedule, found = problem.schedule, len(best.kept)
    factorization = factorize(
        problem.dense, core=schedule.core, k=schedule.k, drop=schedule.drop,
        select=best if found else trainer.policy, restarts=Search(found, max(found, 1)),
        optimize=None if history.stopped == "interrupted" else optimizer,
        seed=seed, progress=progress,
    )  # fmt: skip
    return Learned(factorization, trainer.policy, history)


def prepare(
    A: Any,
    core: int | float | None,
    k: int,
    drop: int,
    preset: str,
    policy: Policy | PolicySettings | None,
    seed: int,
    matrix: str | None,
    training: dict[str, Any],
    keep: int = 0,
) -> Trainer:
    """Return what the algorithm works on: a policy, the graphs, and how to learn."""
    check_choice("preset", preset, PRESETS)
    seed = check_integer("seed", seed, 0)
    settings = _training_settings(PRESETS[preset].training, training)
    learner = _learner(policy, preset, seed)
    problems = problems_of(A, k, core, drop, learner.settings, matrix)
    learner.trained_with = {
        "preset": preset if policy is None else None,
        "k": k, "core": core, "drop": drop, "seed": seed, "graphs": len(problems),
        **settings.to_json(),
    }  # fmt: skip
    return Trainer(learner, problems, settings, seed, keep)


def _training_settings(preset: PolicyTraining, given: dict[str, Any]) -> PolicyTraining:
    for name in sorted(given):
        check_named("setting", name, preset.to_json())
    return replace(preset, **given)


def _learner(given: Policy | PolicySettings | None, preset: str, seed: int) -> Policy:
    if isinstance(given, Policy):
        learner = Policy(given.settings)
        learner.load_state_dict(given.state_dict())
        return learner
    return Policy(PRESETS[preset].policy if given is None else given, seed)


class _Clock:
    """Tells how far a training is, how fast it goes and how long it may still take."""

    def __init__(self, trainer: Trainer, episodes: int) -> None:
        self._trainer = trainer
        self._episodes = episodes
        self._before = trainer.history.episodes
        self._began = self._told = self._batch_began = time.perf_counter()

    def level_done(self, level: int, levels: int) -> None:
        """Say something in the first batch, which may take long."""
        now, done = time.perf_counter(), self._trainer.history.episodes
        if now - self._told < _TELL_EVERY:
            return
        self._told = now
        # Learning from a batch takes about as long as playing it.
        batches = -(-(self._episodes - done) // self._trainer.settings.batch)
        left = (now - self._batch_began) * (2.0 * batches * levels / level - 1.0)
        note = f"level {level} of {levels}, about {_duration(left)} left"
        self._trainer.progress(done, self._episodes, note)

    def batch_done(self, mean: float) -> None:
        """Say how large the mean error is, and how fast it goes."""
        self._told = self._batch_began = time.perf_counter()
        done = self._trainer.history.episodes
        rate = (done - self._before) / max(self._told - self._began, 1e-9)
        left = max(self._episodes - done, 0) / rate
        note = f"error {mean:.4g}, {rate:.3g} episodes/s, about {_duration(left)} left"
        self._trainer.progress(done, self._episodes, note)


def _duration(seconds: float) -> str:
    """Put a time into words.

    Examples
    --------
    >>> _duration(90), _duration(600), _duration(9000)
    ('90 s', '10 min', '2.5 h')
    """
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
