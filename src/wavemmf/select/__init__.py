"""Choosing which coordinates each level rotates and drops."""

from ._diffusion import Diffusion
from ._evolution import Evolution
from ._given import Given
from ._greedy import PAIRS, SURVIVORS, greedy
from ._heuristics import as_index_sets, explicit, neighbors, random
from ._plan import Selector, Task
from ._regular import regular, regular_indices
from ._resolve import SELECTORS, as_selector, check_chosen, check_compact
from ._selectors import Explicit, Greedy, Neighbors, Random, Regular

__all__ = [
    "PAIRS",
    "SELECTORS",
    "SURVIVORS",
    "Diffusion",
    "Evolution",
    "Explicit",
    "Given",
    "Greedy",
    "Neighbors",
    "Random",
    "Regular",
    "Selector",
    "Task",
    "as_index_sets",
    "as_selector",
    "check_chosen",
    "check_compact",
    "explicit",
    "greedy",
    "neighbors",
    "random",
    "regular",
    "regular_indices",
]
