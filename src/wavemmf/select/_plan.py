"""What every selector is told, and how it hands back what it chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._progress import Progress, silent
from .._validation import check_memory
from ..factorization import Rotations
from ._given import NOTHING, Given

__all__ = ["LevelRecorder", "Selector", "Task", "as_dense", "levels_per_call"]


def levels_per_call(n: int) -> int:
    """Levels to run between two looks at the keyboard and two updates of the progress bar.

    Every call allocates work space of n numbers, so larger matrices take more levels at a time.

    Examples
    --------
    >>> levels_per_call(1000)
    256
    """
    return max(256, n // 64)


def as_dense(matrix: Any) -> npt.NDArray[np.float64]:
    """Return the matrix as an ndarray, for selectors that cannot work on sparse rows."""
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    n = matrix.shape[0]
    check_memory(32 * n * n, f"the dense engine on {n} rows")
    dense: npt.NDArray[np.float64] = matrix.toarray()
    return dense


@dataclass(frozen=True)
class Task:
    """The part of a factorization that concerns index selection.

    Attributes
    ----------
    core, k, drop : int
        Size of the core, of the rotations, and wavelets per level.
    seed : int
        Seed of whatever is random in the selector.
    progress : Progress
        Called with (rows eliminated, rows to eliminate, note).
    score_noise, correlation_noise : float
        Strength of the noise that makes greedy runs on dense storage differ by seed: Gumbel noise
        on the logarithm of the scores, normal noise on the logarithm of the correlations.
    given : Given
        Groups that greedy runs on dense storage take over instead of choosing them.
    rotations : {"full", "compact"}
        How levels are stored. Compact ones have survivors nearest to the coordinates.
    """

    core: int
    k: int
    drop: int
    seed: int = 0
    progress: Progress = silent
    score_noise: float = 0.0
    correlation_noise: float = 0.0
    given: Given = field(default=NOTHING, compare=False)
    rotations: str = "full"

    @property
    def compact(self) -> bool:
        """Whether levels are to be compact."""
        return self.rotations == "compact"

    def survivors(self, wanted: str) -> str:
        """Return the kind of survivors to take: the one that is wanted if there is a choice."""
        return "nearest" if self.compact else wanted

    def stored(self, rotations: Rotations) -> Rotations:
        """Return the rotations as they are to be stored."""
        return rotations.to_compact() if self.compact else rotations.to_full()


@runtime_checkable
class Selector(Protocol):
    """Anything that chooses indices: an object with `name`, `select` and `sample`.

    `matrix` is the symmetric matrix, an ndarray or a csr_array. `task` says what is asked for:
    ``task.core`` rows left at the end, at most ``task.k`` rows in a rotation, ``task.drop``
    wavelets per level; ``task.seed`` decides all that is random, so that the same seed gives the
    same result; ``task.progress(done, total, note)`` may be called now and then.

    Both methods return `Rotations` (`sample` a list of them), or in place of each the index sets
    alone, a pair ``(I, T)`` as ``select=`` takes it: the coordinates that each level rotates, and
    those of them that it drops. They then get their closed-form rotations.

    Two things more may be there. ``fingerprint_parts()`` returns all that the choices depend on,
    for caches (``cache=``), which refuse selectors without it. ``relatedness``, for samples that
    descend from each other, is a number from 0 to 1: the largest share of groups that two samples
    may have in common if both are to be optimised (by default, 1, only copies are left out).

    Examples
    --------
    >>> import wavemmf as wm
    >>> class LastRows:
    ...     name = "last rows"
    ...
    ...     def select(self, matrix, task):
    ...         n = matrix.shape[0]
    ...         dropped = range(n - 1, task.core - 1, -1)
    ...         return [[i, i - 1] for i in dropped], [[i] for i in dropped]
    ...
    ...     def sample(self, matrix, task, count):
    ...         return [self.select(matrix, task)] * count
    >>> wm.factorize(wm.graphs.cycle(8), core=2, k=2, select=LastRows()).core_indices
    array([0, 1])
    """

    @property
    def name(self) -> str:
        """What it is called in the history and the parameters of a factorization."""
        ...

    def select(self, matrix: Any, task: Task) -> Any:
        """Choose once, as well as possible."""
        ...

    def sample(self, matrix: Any, task: Task, count: int) -> list[Any]:
        """Choose `count` times, differently, for a search that keeps the best."""
        ...


class LevelRecorder:
    """Arrays that a kernel fills level by level, padded to size k, and their packed form."""

    def __init__(self, n: int, task: Task) -> None:
        levels = n - task.core  # every level drops at least one row
        self.n = n
        self.task = task
        self.groups = np.zeros((levels, task.k), np.int64)
        self.sizes = np.zeros(levels, np.int64)
        self.wavelets = np.zeros((levels, task.drop), np.int64)
        self.drops = np.zeros(levels, np.int64)
        self.blocks = np.zeros((levels, task.k, task.k))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays in the order the kernels take them."""
        return self.groups, self.sizes, self.wavelets, self.drops, self.blocks

    def rotations(self, levels: int) -> Rotations:
        """Pack the first `levels` levels."""
        sizes, drops = self.sizes[:levels], self.drops[:levels]
        in_group = np.arange(self.groups.shape[1]) < sizes[:, None]
        in_drop = np.arange(self.wavelets.shape[1]) < drops[:, None]
        in_block = in_group[:, :, None] & in_group[:, None, :]
        packed = Rotations(
            n=self.n,
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            groups=self.groups[:levels][in_group],
            blocks=self.blocks[:levels][in_block],
            drop_offsets=np.concatenate([[0], np.cumsum(drops)]),
            wavelets=self.wavelets[:levels][in_drop],
        )
        return self.task.stored(packed)
