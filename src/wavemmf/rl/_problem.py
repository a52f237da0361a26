"""A matrix prepared for many episodes: scaled, with its schedule and its first scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_memory
from ..factorization._norms import power_of_two_scale
from ..kernels.centre import centre_dense
from ..kernels.episode import score_dirty
from ._messages import Messages
from ._schedule import Schedule

__all__ = ["Problem", "State"]


@dataclass
class State:
    """The arrays of a batch of episodes, as the kernels in `kernels.episode` take them.

    All have the episode as their first dimension. Agents that do not look at the current matrix
    have arrays of no size in place of those from `grams` on.
    """

    matrices: Any
    masks: Any
    grams: Any
    energies: Any
    groups: Any
    sizes: Any
    scores: Any
    neighbors: Any
    dirty: Any
    noises: Any
    random: Any

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All arrays, in the order of the fields."""
        return tuple(vars(self).values())

    def repeated(self, count: int) -> State:
        """Return `count` copies of a state of one episode."""
        return State(*(np.repeat(array, count, axis=0) for array in self.arrays))


class Problem:
    """What episodes of one matrix have in common.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    schedule : Schedule
        Sizes of all levels.
    scored : bool
        Whether Gram matrix and scores are kept.
    noises : sequence of float
        Strength of the noise on correlations that the episodes of a batch go through.
    few : int, optional
        Only so many pivots, those with the lowest scores, have scores that are up to date.
    centred : bool
        Whether the diagonal has the mean that the greedy selector gives it. Groups are better
        then; a policy that chooses partners itself compares them by what the matrix has.

    Attributes
    ----------
    nearest : bool
        Whether rows that stay active are those nearest to the coordinates; see `choose_survivors`.
    """

    def __init__(
        self,
        matrix: Any,
        schedule: Schedule,
        scored: bool,
        noises: Sequence[float] = (0.0,),
        few: int | None = None,
        centred: bool = True,
    ) -> None:
        self.matrix = matrix
        self.schedule = schedule
        self.scored = scored
        self.noises = tuple(noises)
        self.few = schedule.n if few is None else few
        self.centred = centred
        self.nearest = False
        self.shift = 0.0
        self.scale = power_of_two_scale(matrix)

    @property
    def n(self) -> int:
        """Order of the matrix."""
        return self.schedule.n

    @cached_property
    def scaled(self) -> Any:
        """The matrix divided by a power of two near its largest entry."""
        return self.matrix / self.scale

    @cached_property
    def scaled_dense(self) -> Any:
        """The same as an array."""
        return np.array(self.dense / self.scale)

    @cached_property
    def messages(self) -> Messages:
        """The graph of the matrix, for message passing."""
        return Messages(self.scaled)

    @property
    def dense(self) -> Any:
        """The matrix as an array."""
        return self.matrix.toarray() if sp.issparse(self.matrix) else self.matrix

    @cached_property
    def _first(self) -> State:
        n, k = self.n, self.schedule.k
        dense = self.scaled_dense.copy()
        if self.scored and self.centred:
            _, self.shift = centre_dense(dense)
        rows = n if self.scored else 0
        gram = dense @ dense if self.scored else np.zeros((0, 0))
        state = State(
            matrices=dense[None],
            masks=np.ones((1, n), np.bool_),
            grams=gram[None],
            energies=gram.diagonal().copy()[None],
            groups=np.zeros((1, rows, k), np.int64),
            sizes=np.zeros((1, rows), np.int64),
            scores=np.zeros((1, rows)),
            neighbors=np.zeros((1, rows), np.int64),
            dirty=np.ones((1, rows), np.bool_),
            noises=np.zeros(1),
            random=np.zeros(1, np.uint64),
        )
        if self.scored:
            score_dirty(*state.arrays, self.schedule.drop, self.shift, self.few, 0, 1)
        return state

    def start(self, count: int, seed: int | None = None) -> State:
        """Return the state of `count` episodes before their first level.

        Only with a seed is there noise on correlations; it goes in turn through its strengths.
        """
        copies = 2 if self.scored else 1
        check_memory(8 * copies * (count + 1) * self.n**2, f"{count} episodes of {self.n} rows")
        state = self._first.repeated(count)
        if seed is not None and any(self.noises):
            state.noises[:] = np.resize(self.noises, count)
            state.random[:] = np.random.default_rng(seed).integers(2**63, size=count)
            state.dirty[state.noises > 0.0] = True
            score_dirty(*state.arrays, self.schedule.drop, self.shift, self.few, 0, count)
        return state
