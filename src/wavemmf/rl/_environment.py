"""The decision process (section 5.2 of the paper) for agents of any kind, one decision at a time.

It is a batch of one of the `Episodes` that training plays: the same transitions and rewards.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from .._validation import check_choice, check_integer, check_memory, check_mmf_parameters
from ..errors import InvalidInputError
from ..factorization import Factorization, Rotations
from ..graphs import as_matrix
from ._episodes import Episodes
from ._gymnasium import Environment, action_space, observation_space
from ._presets import REWARDS
from ._problem import Problem
from ._rewards import check_discount, final_rewards, level_rewards, returns
from ._schedule import plan_levels

__all__ = ["MMFEnvironment", "Observation"]


class Observation(NamedTuple):
    """What an agent is told: a 0/1 vector of the active rows, and the number of levels taken."""

    active: npt.NDArray[np.int8]
    level: int


class MMFEnvironment(Environment):
    r"""Choose, level by level, which coordinates are rotated and which become wavelets.

    Where Gymnasium is installed this is one of its environments, with spaces and all that its
    ``check_env`` looks at; without it, the interface is the same but for the spaces. An action
    is a pair ``(I, T)``: the coordinates that are rotated, and those among them that are
    dropped. An action that is not allowed changes nothing; ``info["invalid"]`` says why. An episode
    has exactly `num_levels` valid steps.

    The last step is rewarded by :math:`-\|A - U_1^T \cdots U_L^T H U_L \cdots U_1\|_F`. With
    ``intermediate=True`` the steps before are rewarded by :math:`-\|[U_\ell A_{\ell-1}
    U_\ell^T]_{S,S}\|_{resi}^2`, read as the squared error that the level adds for good.

    Parameters
    ----------
    A : matrix, graph or path
        Anything `wavemmf.factorize` accepts.
    core : int, optional
        Coordinates left at the end; a tenth of the rows, at least 8, by default.
    k, drop : int
        Coordinates per rotation, wavelets per level. Where fewer than k rows are left, all of them
        are rotated; the last level may drop fewer.
    rewards : {"closed_form", "stiefel"}
        Whether the error is that of the closed-form rotations, or that after all rotations have
        been optimised together.
    intermediate : bool
        Whether steps before the last are rewarded.
    discount : float
        Default of `returns`.
    steps : int
        Optimisation steps for ``rewards="stiefel"``.
    survivors : {"eigenvectors", "nearest"}
        Basis of the rows that stay active.
    render_mode : {"ansi"}, optional
        What `render` gives: a line of text.

    Examples
    --------
    >>> import wavemmf as wm
    >>> environment = MMFEnvironment(wm.graphs.cycle(5), core=3, k=3)
    >>> observation, info = environment.reset()
    >>> observation.active.tolist(), observation.level
    ([1, 1, 1, 1, 1], 0)
    >>> observation, reward, terminated, truncated, info = environment.step(([0, 1, 2], [0]))
    >>> observation.active.tolist(), terminated
    ([0, 1, 1, 1, 1], False)
    >>> environment.step(([0, 1, 2], [1]))[-1]["invalid"]
    'coordinate 0 is not active'
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        A: Any,
        core: int | None = None,
        k: int = 4,
        drop: int = 1,
        rewards: str = "closed_form",
        intermediate: bool = False,
        discount: float = 1.0,
        steps: int = 500,
        survivors: str = "eigenvectors",
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        check_choice("rewards", rewards, REWARDS)
        check_choice("survivors", survivors, ("eigenvectors", "nearest"))
        matrix = as_matrix(A)
        n = matrix.shape[0]
        check_memory(24 * n * n, f"an environment of {n} rows")
        sizes = check_mmf_parameters(n, core, k, drop)
        self.schedule = plan_levels(n, *sizes)
        self.rewards = rewards
        self.intermediate = intermediate
        self.discount = check_discount(discount)
        self.steps = check_integer("steps", steps, 0)
        self.survivors = survivors
        self._problem = Problem(matrix, self.schedule, scored=False)
        self._problem.nearest = survivors == "nearest"
        self.render_mode = render_mode
        self.action_space = action_space(n)
        self.observation_space = observation_space(n, self.num_levels)
        self.reset()

    @property
    def num_levels(self) -> int:
        """Steps in an episode."""
        return self.schedule.levels

    @property
    def terminated(self) -> bool:
        """Whether the episode is over."""
        return self._episode.finished

    @property
    def current_matrix(self) -> npt.NDArray[np.float64]:
        """The compressed matrix of this level; rows and columns that were dropped are zero."""
        matrix: npt.NDArray[np.float64] = self._episode.state.matrices[0] * self._problem.scale
        return matrix

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode. Nothing is random here, so the seed has no effect.

        Returns
        -------
        observation : Observation
        info : dict
        """
        super().reset(seed=seed, options=options)
        self._episode = Episodes(self._problem, 1)
        self._result: Rotations | None = None
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one action.

        Parameters
        ----------
        action : pair (I, T) of integer sequences
            Coordinates to rotate, and those of them to drop. T may be None: the wavelets are then
            put on the coordinates they overlap most.

        Returns
        -------
        observation : Observation
        reward : float
        terminated, truncated : bool
            Whether the episode is over; it is never cut short.
        info : dict
            ``residual``, the squared error that the level added; ``error``, the Frobenius
            error, after the last step; ``invalid``, the reason, if the action was refused.

        Raises
        ------
        InvalidInputError
            If the action is not a pair of integer sequences at all.
        """
        group, dropped = _as_action(action)
        reason = self._why_invalid(group, dropped)
        if reason:
            return self._observe(), 0.0, self.terminated, False, {"invalid": reason}
        level = self._episode.level
        self._take(group, dropped)
        cost = float(self._episode.costs[level, 0])
        info: dict[str, Any] = {"residual": cost}
        reward = level_rewards(cost, self.intermediate)
        if self.terminated:
            info["error"] = self._final_error()
            reward = final_rewards(info["error"])
        return self._observe(), float(reward), self.terminated, False, info

    def render(self) -> str | None:
        """Return where the episode is, in words, if ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        active = int(self._episode.state.masks[0].sum())
        return f"level {self._episode.level} of {self.num_levels}: {active} rows are active"

    def returns(self, rewards: Any) -> npt.NDArray[np.float64]:
        """Return the discounted future rewards of an episode, see `returns`."""
        return returns(rewards, self.discount)

    def rotations(self) -> Rotations:
        """Return the index sets and blocks of a finished episode."""
        if not self.terminated:
            left = self.num_levels - self._episode.level
            raise InvalidInputError(f"the episode is not over: {left} levels are left")
        if self._result is None:
            self._result = self._episode.rotations(0)
        return self._result

    def factorization(self) -> Factorization:
        """Return the factorization that a finished episode has led to."""
        return Factorization.from_rotations(self._problem.matrix, self.rotations())

    def _observe(self) -> Observation:
        return Observation(self._episode.state.masks[0].astype(np.int8), self._episode.level)

    def _why_invalid(self, group: Any, dropped: Any) -> str:
        """Return why an action is not allowed, or nothing."""
        if self.terminated:
            return "the episode is over"
        level, active = self._episode.level, self._episode.state.masks[0]
        size, count = self.schedule.sizes[level], self.schedule.drops[level]
        for index in group:
            if not 0 <= index < self.schedule.n:
                return f"coordinate {index} is outside 0..{self.schedule.n - 1}"
            if not active[index]:
                return f"coordinate {index} is not active"
        if len(set(group.tolist())) < len(group):
            return "a coordinate is rotated twice"
        if len(group) != size:
            return f"{len(group)} coordinates are rotated, this level takes {size}"
        if dropped is None:
            return ""
        if len(set(dropped.tolist())) < len(dropped):
            return "a coordinate is dropped twice"
        for index in dropped:
            if index not in group:
                return f"coordinate {index} is dropped but not rotated"
        if len(dropped) != count:
            return f"{len(dropped)} coordinates are dropped, this level takes {count}"
        return ""

    def _take(self, group: Any, dropped: Any) -> None:
        action = np.full((1, self.schedule.k), -1)
        action[0, : len(group)] = group
        marked = None if dropped is None else np.isin(action, dropped)
        self._episode.take(action, anywhere=dropped is None, dropped=marked)

    def _final_error(self) -> float:
        if self.rewards == "closed_form":
            return float(self._episode.errors()[0])
        optimised = self._episode.optimized(self.steps)[0]
        self._result = optimised.rotations
        return optimised.error


def _as_action(action: Any) -> tuple[Any, Any]:
    """Return the two parts of an action as integer arrays."""
    try:
        group, dropped = action
        return _indices(group), None if dropped is None else _indices(dropped)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"an action is a pair (I, T) of integer sequences, got {action!r}"
        ) from error


def _indices(values: Any) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError("not a sequence of integers")
    return array.astype(np.int64)
