"""How many coordinates every level rotates and drops: fixed before the first decision."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Schedule", "plan_levels"]


@dataclass(frozen=True)
class Schedule:
    """Sizes of the groups and numbers of wavelets, level by level.

    Attributes
    ----------
    n, core, k, drop : int
        The sizes it was made for.
    sizes, drops : tuple of int
        Coordinates rotated and coordinates dropped at each level.
    """

    n: int
    core: int
    k: int
    drop: int
    sizes: tuple[int, ...]
    drops: tuple[int, ...]

    @property
    def levels(self) -> int:
        """Number of decisions L."""
        return len(self.sizes)


def plan_levels(n: int, core: int, k: int, drop: int = 1) -> Schedule:
    """Return the schedule of a matrix of order n.

    A group has k members, or all that are still active. A level drops `drop` of them, fewer
    where the core would become too small, and never a whole group of several.

    Examples
    --------
    >>> plan_levels(6, core=1, k=4, drop=2).sizes
    (4, 4, 2)
    >>> plan_levels(6, core=1, k=4, drop=2).drops
    (2, 2, 1)
    """
    sizes, drops = [], []
    active = n
    while active > core:
        size = min(k, active)
        sizes.append(size)
        drops.append(min(drop, max(size - 1, 1), active - core))
        active -= drops[-1]
    return Schedule(n, core, k, drop, tuple(sizes), tuple(drops))
