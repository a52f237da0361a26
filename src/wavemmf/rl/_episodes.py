"""The decision process (section 5.2 of the paper): episodes of one matrix, side by side.

A state is the set of active rows, with the matrix as compressed so far; an action is the group
that is rotated and the rows among it that are dropped; an episode has exactly L levels. Training
plays a batch of episodes, and `MMFEnvironment` is a batch of one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..factorization import Rotations
from ..kernels.episode import advance, shortlist
from ..optimize import Optimised, halvings, optimize_many
from ..parallel.interrupts import deferred_interrupts
from ..parallel.threads import num_threads, run_all
from ..select._batch import LARGEST
from ..select._plan import LevelRecorder, Task
from ..select._room import with_room_in_order
from ._features import Facts, facts_of_current, facts_of_original, relations
from ._problem import Problem

__all__ = ["Episodes"]

# Work of one level, in multiplications, from which threads are worth their start.
_WORTH_THREADS = 200_000
# Squared norms below this are those of rows that hold nothing.
_TINY = 1e-30


class Episodes:
    """Several runs through all levels.

    Parameters
    ----------
    problem : Problem
        The matrix and its schedule.
    count : int
        How many.
    seed : int, optional
        Seed of the noise on correlations; there is none without.
    """

    def __init__(self, problem: Problem, count: int, seed: int | None = None) -> None:
        self.problem = problem
        self.count = count
        self.level = 0
        self.state = problem.start(self.count, seed)
        schedule = problem.schedule
        shape = (schedule.levels, self.count)
        self.groups = np.zeros((*shape, schedule.k), np.int64)
        self.sizes = np.zeros(shape, np.int64)
        self.wavelets = np.zeros((*shape, schedule.drop), np.int64)
        self.blocks = np.zeros((*shape, schedule.k, schedule.k))
        self._costs = np.zeros(shape)

    @property
    def finished(self) -> bool:
        """Whether all levels were taken."""
        return self.level == self.problem.schedule.levels

    @property
    def active(self) -> torch.Tensor:
        """Which rows are active, as booleans of shape (batch, n)."""
        return torch.from_numpy(self.state.masks.copy())

    @property
    def pivots(self) -> torch.Tensor:
        """Which rows may be pivots: those with the lowest scores, or all that are active."""
        few, masks = self.problem.few, self.state.masks
        if few >= self.problem.n:
            return self.active
        allowed = np.zeros((self.count, self.problem.n + 1), np.bool_)
        for b in range(self.count):
            allowed[b, shortlist(self.state.scores[b], masks[b], few)] = True
        return torch.from_numpy(allowed[:, :-1])

    @property
    def costs(self) -> npt.NDArray[np.float64]:
        """Squared error that each level added, shape (L, batch)."""
        return np.asarray(self._costs * self.problem.scale**2)

    def facts(self, active: torch.Tensor) -> Facts:
        """Return what features are made of."""
        if self.problem.scored:
            return facts_of_current(self.state)
        return facts_of_original(self.problem.messages, active)

    def relations(self, pivots: torch.Tensor) -> torch.Tensor:
        """Return how all rows relate to the pivots, shape (batch, n, 2)."""
        which, chosen = np.arange(self.count), pivots.numpy()
        energies = np.maximum(self.state.energies, _TINY)
        rows = self.state.grams[which, chosen]
        squared = rows * rows / (energies * energies[which, chosen][:, None])
        groups, sizes = self.state.groups[which, chosen], self.state.sizes[which, chosen]
        members = np.zeros(squared.shape, np.bool_)
        episode, place = np.nonzero(np.arange(groups.shape[1]) < sizes[:, None])
        members[episode, groups[episode, place]] = True
        return relations(torch.from_numpy(squared).float(), torch.from_numpy(members))

    def groups_of(self, pivots: torch.Tensor) -> torch.Tensor:
        """Return the candidate groups of pivots, shape (batch, k), padded by -1.

        Groups that are smaller than the number of wavelets take in the first rows that are left.
        """
        which, chosen = np.arange(self.count), pivots.numpy()
        groups, sizes = self.state.groups[which, chosen], self.state.sizes[which, chosen]
        groups = np.where(np.arange(groups.shape[1]) >= sizes[:, None], -1, groups)
        needed = self.problem.schedule.drops[self.level]
        for b in np.flatnonzero(sizes < needed):
            rest = np.setdiff1d(np.flatnonzero(self.state.masks[b]), groups[b])
            groups[b, sizes[b] : needed] = rest[: needed - sizes[b]]
        return torch.from_numpy(groups)

    def take(self, actions: Any, anywhere: bool, dropped: Any = None) -> None:
        """Rotate one group in every episode, in closed form, and drop the wavelets of the level.

        Parameters
        ----------
        actions : integers of shape (batch, k)
            The groups; -1 at the end for no member.
        anywhere : bool
            Whether wavelets go where they overlap most, or to the members that are named.
        dropped : booleans of shape (batch, k), optional
            Names those members; the leading ones of each group by default.
        """
        schedule, level = self.problem.schedule, self.level
        count = schedule.drops[level]
        if dropped is None:
            dropped = np.tile(np.arange(schedule.k) < count, (self.count, 1))
        outputs = (
            self.groups[level],
            self.sizes[level],
            self.wavelets[level],
            self.blocks[level],
            self._costs[level],
        )
        choice = (
            np.ascontiguousarray(actions, dtype=np.int64), dropped, count, schedule.drop,
            anywhere, self.problem.scored, self.problem.nearest, self.problem.shift,
            self.problem.few,
        )  # fmt: skip
        bounds = np.linspace(0, self.count, min(self.count, num_threads()) + 1).astype(int)
        calls = [
            (*self.state.arrays, *choice, *outputs, first, last) for first, last in pairwise(bounds)
        ]
        weight = schedule.n * schedule.k ** (3 if self.problem.scored else 2)
        with deferred_interrupts():
            run_all(advance, calls, worth_it=self.count * weight > _WORTH_THREADS)
        self.level += 1

    def errors(self) -> npt.NDArray[np.float64]:
        """Return the Frobenius error of every finished episode, with closed-form rotations."""
        return np.asarray(np.sqrt(self._costs.sum(axis=0)) * self.problem.scale)

    def optimized(self, steps: int, halving: bool = False) -> list[Optimised]:
        """Return every finished episode with its rotations optimised together.

        With `halving` only the better ones take all steps, see `optimize_many`.
        """
        starts = [self.rotations(b) for b in range(self.count)]
        return optimize_many(self.problem.dense, starts, halvings(steps) if halving else [steps])

    def rotations(self, episode: int) -> Rotations:
        """Return the rotations of one finished episode."""
        schedule = self.problem.schedule
        recorder = LevelRecorder(schedule.n, Task(schedule.core, schedule.k, schedule.drop))
        levels = schedule.levels
        recorder.groups[:levels] = self.groups[:, episode]
        recorder.sizes[:levels] = self.sizes[:, episode]
        recorder.wavelets[:levels] = self.wavelets[:, episode]
        recorder.drops[:levels] = schedule.drops
        recorder.blocks[:levels] = self.blocks[:, episode]
        rotations = recorder.rotations(levels)
        if not self.problem.scored or schedule.n > LARGEST:
            return rotations
        return with_room_in_order(self.problem.scaled_dense, rotations, schedule.k)
