"""Run a policy on a matrix: once as well as possible, or many times at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy.sparse as sp
import torch

from .._progress import silent
from ..factorization import Rotations
from ..parallel.torch_threads import one_thread
from ..select._plan import Task
from ._inputs import problem_for
from ._play import choose_survivors, play
from ._policy import Policy
from ._problem import Problem
from ._rounds import select_in_rounds
from ._schedule import plan_levels

__all__ = ["sample", "select"]

# Episodes side by side: enough to share the cost of a network call, few enough for the cache.
_BATCH = 32
# Temperatures that samples go through. Search wants the best of many: some samples close to the
# most likely decisions, some far from them; which pays depends on the matrix.
_TEMPERATURES = (1.0, 0.5, 0.25)
_BATCH_NUMBERS = 8_000_000
# Sparse matrices with more rows, and at most this part of entries, are played in rounds.
_ROUNDS_FROM = 1024
_ROUNDS_DENSITY = 0.05


def select(policy: Policy, matrix: Any, task: Task) -> Rotations:
    """Take the most likely decision at every level."""
    with one_thread():
        if _in_rounds(policy, matrix):
            return select_in_rounds(policy, matrix, task)
        problem = _problem(policy, matrix, task)
        return play(policy, problem, 1, record=False).episodes.rotations(0)


def sample(policy: Policy, matrix: Any, task: Task, count: int) -> list[Rotations]:
    """Draw `count` sequences of decisions."""
    generator = torch.Generator().manual_seed(task.seed)
    temperatures = torch.tensor(_TEMPERATURES).repeat(count // len(_TEMPERATURES) + 1)
    found: list[Rotations] = []
    with one_thread():
        if _in_rounds(policy, matrix):
            quiet = replace(task, progress=silent)
            for temperature in temperatures[:count].tolist():
                rounds = select_in_rounds(policy, matrix, quiet, generator, temperature)
                found.append(rounds)
                task.progress(len(found), count, "sampling")
            return found
        problem = _problem(policy, matrix, task)
        batch = max(1, min(_BATCH, _BATCH_NUMBERS // max(1, problem.n**2)))
        while len(found) < count:
            part = min(batch, count - len(found))
            heat = temperatures[len(found) : len(found) + part, None]
            decisions = play(policy, problem, part, generator, record=False, temperature=heat)
            found += [decisions.episodes.rotations(b) for b in range(part)]
            task.progress(len(found), count, "sampling")
    return found


def _in_rounds(policy: Policy, matrix: Any) -> bool:
    n = matrix.shape[0]
    sparse = sp.issparse(matrix) and n > _ROUNDS_FROM and matrix.nnz <= _ROUNDS_DENSITY * n * n
    return bool(policy.settings.scored and sparse)


def _problem(policy: Policy, matrix: Any, task: Task) -> Problem:
    schedule = plan_levels(matrix.shape[0], task.core, task.k, task.drop)
    problem = problem_for(policy.settings, matrix, schedule)
    if task.compact:
        problem.nearest = True
        return problem
    return choose_survivors(policy, problem)
