"""Train a policy, on one matrix or on many: the learning algorithm without what it factorizes."""

from __future__ import annotations

import os
from typing import Any

from .._progress import Progress
from ..optimize._settings import Callback
from ._learn import prepare, run
from ._policy import Policy
from ._settings import PolicySettings

__all__ = ["train_policy"]


def train_policy(
    A: Any,
    core: int | float | None = None,
    k: int = 4,
    drop: int = 1,
    episodes: int = 300,
    preset: str = "groups",
    *,
    policy: Policy | PolicySettings | None = None,
    seed: int = 0,
    matrix: str | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    progress: Progress | bool | None = None,
    **training: Any,
) -> Policy:
    r"""Train a policy to choose indices, on one matrix or on many.

    The paper's rule (``preset="paper"``) is, after every episode and level by level,

    .. math:: \theta \leftarrow \theta + \eta \, \gamma^\ell g_\ell \,
        \nabla_\theta \log \pi_\theta(a_\ell | s_\ell), \quad \ell = 0, \ldots, L - 1

    with :math:`g_\ell` the return (`returns`). All returns are negative: every decision is made
    less likely, the more so the larger the error it led to. The other presets are ours: episodes
    are played in batches, the return is replaced by how much better it is than a baseline, divided
    by its standard deviation in the batch, and all levels together are one step of Adam. What is
    factorized on the way is in what `learn` returns.

    All episodes of a batch are of the same graph; graphs take turns.

    Parameters
    ----------
    A : matrix, graph, path, or list of them
        What to train on; anything `wavemmf.factorize` accepts.
    core : int or float, optional
        Size of the core, or its part of the rows if the graphs differ in size; a tenth of the
        rows, at least 8, by default.
    k : int
        Coordinates per rotation.
    drop : int
        Wavelets per level.
    episodes : int
        Episodes to play; whole batches.
    preset : {"groups", "transfer", "guided", "identities", "reduced-variance", "paper"}
        What learns, from the strongest to the paper's. "groups" chooses among the best groups of
        the greedy selector and knows rows apart: for one graph. "transfer" goes by what groups are
        like alone: for many graphs, and others. "guided" chooses single rows of the current
        matrix. "paper" is the paper's agent, trained by its rule, "reduced-variance" the same
        with less variance, "identities" the same with rows told apart.
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
    progress : callable, bool or None
        A bar (True), none (False), or by default one that appears on terminals and in notebooks
        when the work takes longer than two seconds. A callable is called instead, as
        ``progress(episodes, total, note)``.
    update : {"plain", "adam"}
        The rule of the paper, or one step of Adam for all levels together.
    batch : int
        Episodes per update.
    learning_rate : float
        The step size.
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
        were optimised together with up to `steps` steps of L-BFGS.
    steps : int
        Those steps.
    halving : bool
        Whether only a quarter of a batch takes all of them: all episodes take a quarter of the
        steps, the better half of them half, and the better half of those the rest.
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
    trainer = prepare(A, core, k, drop, preset, policy, seed, matrix, training)
    run(trainer, episodes, callback, checkpoint, checkpoint_seconds, progress)
    return trainer.policy
