"""Rewards and returns (Eq. 7 to 9 of the paper), and advantages, which are ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError

__all__ = [
    "check_discount",
    "episode_rewards",
    "final_rewards",
    "leave_one_out",
    "level_rewards",
    "returns",
]


def check_discount(discount: float) -> float:
    """Return the discount factor if it is above 0 and at most 1."""
    if not 0.0 < discount <= 1.0:
        raise InvalidInputError(f"discount must be above 0 and at most 1, got {discount!r}")
    return float(discount)


def returns(rewards: Any, discount: float = 1.0) -> npt.NDArray[np.float64]:
    r"""Return the discounted future rewards :math:`g_\ell = \sum_j \gamma^j r_{\ell + j + 1}`.

    Eq. 9 of the paper.

    Parameters
    ----------
    rewards : array of shape (L, ...)
        ``rewards[l]`` follows the decision of level l, counted from 0.
    discount : float
        The factor :math:`\gamma`.

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> returns([0.0, 0.0, -8.0], discount=0.5).tolist()
    [-2.0, -4.0, -8.0]
    """
    future = np.array(rewards, dtype=np.float64)
    for level in range(len(future) - 2, -1, -1):
        future[level] += discount * future[level + 1]
    return future


def level_rewards(costs: Any, intermediate: bool) -> npt.NDArray[np.float64]:
    r"""Return the rewards of levels before the last (Eq. 8 of the paper), or zeros.

    The squared error that a level adds for good is
    :math:`2 \sum_{i \in T, j \in S_\ell} A_\ell[i,j]^2 + \sum_{i \neq j \in T} A_\ell[i,j]^2`.
    (Read literally the norm of the paper would charge all off-diagonal entries at every level;
    only those of dropped rows are lost, and their sum over all levels is the squared error.)

    Examples
    --------
    >>> level_rewards([1.0, 3.0], intermediate=True).tolist()
    [-1.0, -3.0]
    """
    costs = np.asarray(costs, dtype=np.float64)
    return -costs if intermediate else np.zeros_like(costs)


def final_rewards(errors: Any, logarithmic: bool = False) -> npt.NDArray[np.float64]:
    """Return the rewards of finished episodes (Eq. 7): minus the error, or minus its logarithm.

    Examples
    --------
    >>> final_rewards([2.0]).tolist()
    [-2.0]
    """
    errors = np.asarray(errors, dtype=np.float64)
    return -np.log(np.maximum(errors, 1e-300)) if logarithmic else -errors


def episode_rewards(
    costs: Any, errors: Any, intermediate: bool, logarithmic: bool
) -> npt.NDArray[np.float64]:
    """Return the rewards, shape (L, batch), of finished episodes.

    Parameters
    ----------
    costs : array of shape (L, batch)
        Squared error that each level added, in the units of the matrix.
    errors : array of shape (batch,)
        Frobenius errors.
    intermediate : bool
        Whether every level but the last is rewarded by minus its cost.
    logarithmic : bool
        Whether the last reward is minus the logarithm of the error, not minus the error.
    """
    rewards = level_rewards(costs, intermediate)
    if len(rewards):
        rewards[-1] = final_rewards(errors, logarithmic)
    return rewards


def leave_one_out(future: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return, for every episode and level, the mean return of the other episodes.

    Examples
    --------
    >>> leave_one_out(np.array([[1.0, 2.0, 6.0]])).tolist()
    [[4.0, 3.5, 1.5]]
    """
    count = future.shape[1]
    if count < 2:
        return np.zeros_like(future)
    rest: npt.NDArray[np.float64] = (future.sum(axis=1, keepdims=True) - future) / (count - 1)
    return rest
