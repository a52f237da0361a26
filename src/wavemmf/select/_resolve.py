"""From what the user gave as ``select`` to a selector, and what is checked of its choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._validation import check_choice
from ..errors import InvalidInputError
from ..factorization import Rotations
from ._diffusion import Diffusion
from ._evolution import Evolution
from ._heuristics import explicit
from ._plan import Selector, Task
from ._selectors import Explicit, Greedy, Neighbors, Random, Regular

__all__ = ["SELECTORS", "as_selector", "check_chosen", "check_compact"]

#: The selectors that `wavemmf.factorize` knows by name.
SELECTORS: dict[str, Callable[[], Selector]] = {
    "greedy": Greedy,
    "diffusion": Diffusion,
    "random": Random,
    "neighbors": Neighbors,
    "regular": Regular,
    "evolution": Evolution,
}
_PARTS = ("name", "select", "sample")


def as_selector(select: Any) -> Selector:
    """Return the selector that `select` stands for.

    Parameters
    ----------
    select : str, Selector or pair
        A name, which stands for the defaults, a selector, which is returned as it is, or explicit
        index sets ``(I, T)``.

    Examples
    --------
    >>> as_selector("greedy")
    Greedy(pairs='exhaustive', survivors='auto')
    """
    if isinstance(select, str):
        return SELECTORS[check_choice("select", select, tuple(SELECTORS))]()
    if isinstance(select, type):
        raise InvalidInputError(
            f"select is the class {select.__name__}; give an object of it: {select.__name__}(...)"
        )
    if isinstance(select, Selector):
        return select
    missing = [part for part in _PARTS if not hasattr(select, part)]
    if len(missing) < len(_PARTS):
        raise InvalidInputError(
            f"select={type(select).__name__} is not a selector: it has no {', '.join(missing)}"
        )
    if not (hasattr(select, "__len__") and len(select) == 2):
        raise InvalidInputError(
            f"select must be one of {', '.join(map(repr, SELECTORS))}, a selector (an object with "
            "name, select and sample) or explicit indices, a pair (I, T); "
            f"got {type(select).__name__}"
        )
    return Explicit(select)


def check_chosen(selector: Selector, chosen: Any, matrix: Any, task: Task) -> Rotations:
    """Return what a selector chose as rotations, if it is what it was asked for."""
    n = matrix.shape[0]
    if isinstance(chosen, tuple) and len(chosen) == 2:
        chosen = explicit(matrix, task, chosen)
    if not isinstance(chosen, Rotations):
        raise InvalidInputError(
            f"the selector {selector.name!r} must return Rotations or a pair (I, T), got "
            f"{type(chosen).__name__}"
        )
    if chosen.n != n or chosen.core.size != task.core:
        raise InvalidInputError(
            f"the selector {selector.name!r} was asked for a core of {task.core} of {n} rows, and "
            f"chose one of {chosen.core.size} of {chosen.n}"
        )
    return task.stored(chosen)


def check_compact(selector: Any, drop: int) -> None:
    """Refuse compact levels where there cannot be any.

    Examples
    --------
    >>> check_compact(Greedy(), drop=1)
    """
    if drop != 1:
        raise InvalidInputError(
            f"rotations='compact' stores the one wavelet of every level, got drop={drop}; take "
            "drop=1 or rotations='full'"
        )
    if getattr(selector, "survivors", "auto") == "eigenvectors":
        raise InvalidInputError(
            "rotations='compact' has survivors nearest to the coordinates, got "
            "survivors='eigenvectors'; leave that out or take rotations='full'"
        )
