"""From what the user gave as ``select`` to a selector, and what is checked of its choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidInputError
from ..factorization import Rotations
from ..validation import check_choice
from .evolution import Evolution
from .plan import Selector, Task
from .selectors import Explicit, Greedy, Neighbors, Random, Regular

__all__ = ["SELECTORS", "as_selector", "check_chosen"]

_BY_NAME: dict[str, Callable[[str, str], Selector]] = {
    "greedy": Greedy,
    "random": lambda pairs, survivors: Random(),
    "neighbors": lambda pairs, survivors: Neighbors(),
    "regular": lambda pairs, survivors: Regular(),
    "evolution": lambda pairs, survivors: Evolution(pairs=pairs),
}

#: The names of selectors that `wavemmf.factorize` knows.
SELECTORS = tuple(_BY_NAME)
_PARTS = ("name", "select", "sample")


def as_selector(select: Any, pairs: str = "exhaustive", survivors: str = "auto") -> Selector:
    """Return the selector that `select` stands for.

    Parameters
    ----------
    select : str, Selector or pair
        A name, a selector, which is returned as it is, or explicit index sets ``(I, T)``.
    pairs, survivors : str
        Settings of selectors given by name.

    Examples
    --------
    >>> as_selector("greedy", "exhaustive", "nearest")
    Greedy(pairs='exhaustive', survivors='nearest')
    """
    if isinstance(select, str):
        return _BY_NAME[check_choice("select", select, SELECTORS)](pairs, survivors)
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
            f"select must be one of {str(SELECTORS)[1:-1]}, a selector (an object with name, "
            "select and sample) or explicit indices, a pair (I, T); "
            f"got {type(select).__name__}"
        )
    return Explicit(select)


def check_chosen(selector: Selector, chosen: Any, n: int, task: Task) -> Rotations:
    """Return what a selector chose if it is what it was asked for."""
    if not isinstance(chosen, Rotations):
        raise InvalidInputError(
            f"the selector {selector.name!r} must return Rotations, got {type(chosen).__name__}"
        )
    if chosen.n != n or chosen.core.size != task.core:
        raise InvalidInputError(
            f"the selector {selector.name!r} was asked for a core of {task.core} of {n} rows, and "
            f"chose one of {chosen.core.size} of {chosen.n}"
        )
    return chosen
