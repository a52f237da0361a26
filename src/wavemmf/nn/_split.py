"""Which nodes a network learns from, is chosen by, and is tested on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._subsets import check_subsets

__all__ = ["Split"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint sets of nodes.

    Parameters
    ----------
    train, validation, test : int arrays
        Indices of nodes, at least one each.
    protocol : str
        How they were chosen, in words.

    Raises
    ------
    InvalidInputError, InputTypeError
        If a set is empty, or a node is in two of them; the message names it.

    Examples
    --------
    >>> Split([0, 2], [1], [3], "by hand").test
    array([3])
    """

    train: Integers
    validation: Integers
    test: Integers
    protocol: str

    def __post_init__(self) -> None:
        sets = check_subsets("node", **self.sets)
        for name, indices in sets.items():
            object.__setattr__(self, name, indices)

    @property
    def sets(self) -> dict[str, Integers]:
        """The three sets by name."""
        return {"train": self.train, "validation": self.validation, "test": self.test}
