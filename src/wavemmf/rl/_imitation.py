"""Demonstrations by the greedy selector, as sequences of decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..factorization import Rotations
from ..parallel.threads import run_all
from ..select import Task, greedy
from ._play import Decisions, replay
from ._policy import Policy
from ._problem import Problem

__all__ = ["demonstrate"]

# Noise that demonstrations go through, so that they visit more states than one run would.
_NOISE = ((0.0, 0.0), (0.2, 0.05), (0.5, 0.1), (0.2, 0.15))


def demonstrate(policy: Policy, problem: Problem, count: int, seed: int) -> Decisions:
    """Return `count` episodes of the (randomised) greedy selector, as the policy sees them."""
    schedule = problem.schedule
    dense = problem.matrix.toarray() if sp.issparse(problem.matrix) else problem.matrix

    def run(index: int) -> Any:
        score_noise, correlation_noise = _NOISE[index // 2 % len(_NOISE)]
        task = Task(
            schedule.core, schedule.k, schedule.drop, seed * 1_000_003 + index,
            score_noise=score_noise, correlation_noise=correlation_noise,
        )  # fmt: skip
        survivors = "nearest" if problem.nearest else "eigenvectors"
        return _as_decisions(greedy(dense, task, survivors=survivors), policy, problem)

    runs = run_all(run, [(index,) for index in range(count)])
    actions, moves = (torch.from_numpy(np.stack(part, axis=1)) for part in zip(*runs, strict=True))
    return replay(policy, problem, actions, moves)


def _as_decisions(rotations: Rotations, policy: Policy, problem: Problem) -> tuple[Any, Any]:
    """Return the decisions, shape (L, k), and the same groups with the dropped rows in front.

    The greedy selector lists the pivot first and its partners by falling correlation. A policy
    whose wavelets stay on the pivot has to decide for the dropped rows first. Groups may be short,
    where rows are orthogonal to all others; should a level have dropped fewer rows than scheduled
    (only if several are dropped at a time), the rest of the episode is filled up in order.
    """
    schedule = problem.schedule
    actions = np.full((schedule.levels, schedule.k), -1, np.int64)
    moves = actions.copy()
    active = np.ones(schedule.n, np.bool_)
    for level in range(schedule.levels):
        count = schedule.drops[level]
        group = rotations.group(level + 1) if level < rotations.num_levels else np.zeros(0, int)
        dropped = rotations.dropped(level + 1) if group.size else group
        if dropped.size != count or not active[group].all():
            group = np.flatnonzero(active)[: schedule.sizes[level]]
            dropped = group[:count]
        move = np.concatenate([dropped, group[~np.isin(group, dropped)]])
        moves[level, : group.size] = move
        actions[level, : group.size] = move if policy.settings.wavelets == "pivot" else group
        active[dropped] = False
    return actions, moves
