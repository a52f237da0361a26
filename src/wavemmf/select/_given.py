"""Groups that a greedy run takes over from earlier runs instead of choosing its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations

__all__ = ["NOTHING", "Given"]


class Given(NamedTuple):
    """One group per level, padded to equal length.

    A level takes its group if all of the group's rows are still active there, and is chosen
    greedily otherwise, as are levels of size zero and levels beyond the last: whatever is given,
    the outcome is a valid sequence.

    Attributes
    ----------
    groups : int array, L by k
        The coordinates each level rotates.
    sizes : int array of length L
        How many of them there are.

    Examples
    --------
    >>> rotations = Rotations.from_levels(3, [[0, 1], [2]], [np.eye(2), np.eye(1)], [[1], [2]])
    >>> Given.from_rotations(rotations, k=2).until(1).groups
    array([[0, 1]])
    """

    groups: npt.NDArray[Any]
    sizes: npt.NDArray[Any]

    @classmethod
    def from_rotations(cls, rotations: Rotations, k: int) -> Given:
        """Take over all groups of `rotations`, which have at most k rows."""
        groups = np.zeros((rotations.num_levels, k), np.int64)
        groups[np.arange(k) < rotations.sizes[:, None]] = rotations.groups
        return cls(groups, rotations.sizes)

    def renumbered(self, numbers: npt.NDArray[Any]) -> Given:
        """Call coordinate i ``numbers[i]``."""
        return Given(numbers[self.groups] if self.groups.size else self.groups, self.sizes)

    def until(self, level: int) -> Given:
        """Keep the first `level` levels."""
        return Given(self.groups[:level], self.sizes[:level])

    def followed_by(self, other: Given, level: int) -> Given:
        """Keep the first `level` levels, and take those after them from `other`."""
        return Given(
            np.concatenate([self.groups[:level], other.groups[level:]]),
            np.concatenate([self.sizes[:level], other.sizes[level:]]),
        )


#: Every level is chosen by the selector itself.
NOTHING = Given(np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
