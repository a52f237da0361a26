"""Choosing which coordinates each level rotates and drops."""

from .diffusion import Diffusion
from .evolution import Evolution
from .given import Given
from .greedy import PAIRS, SURVIVORS, greedy
from .heuristics import as_index_sets, explicit, neighbors, random
from .plan import Selector, Task
from .regular import regular, regular_indices
from .resolve import SELECTORS, as_selector, check_chosen
from .selectors import Explicit, Greedy, Neighbors, Random, Regular

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
    "explicit",
    "greedy",
    "neighbors",
    "random",
    "regular",
    "regular_indices",
]
