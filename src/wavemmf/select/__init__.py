"""Choosing which coordinates each level rotates and drops."""

from .greedy import PAIRS, SURVIVORS, greedy
from .heuristics import as_index_sets, explicit, neighbors, random
from .plan import Task
from .regular import regular, regular_indices

__all__ = [
    "PAIRS",
    "SURVIVORS",
    "Task",
    "as_index_sets",
    "explicit",
    "greedy",
    "neighbors",
    "random",
    "regular",
    "regular_indices",
]
