"""Eliminate the rows of a large sparse matrix stage by stage.

A stage cuts the active matrix into parts of bounded size, eliminates about half of the rows of
every part (best first, see `wavemmf.select._part`; or learned, see `learn`), and puts what is left
together. Rows on the border of a part wait for the next stage, which cuts elsewhere. The parts do
not depend on the number of workers, so neither does the result. Nothing n-by-n is formed; memory
is proportional to the number of entries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._progress import Progress, silent
from ..optimize import Optimizer
from ..parallel.executor import current_mapper
from ..select._part import Method, Reduced, reduce_part
from .cut import Cut, cut, join, share
from .learn import learn_part
from .memory import memory_in_use
from .outcome import Collected, Outcome

__all__ = ["PART_SIZE", "reduce_in_stages"]

Integers = npt.NDArray[np.int64]

# Rows of a part: enough to make borders short, few enough that parts are many and fit the cache.
PART_SIZE = 4096
# Larger ones are tried if too many rows lie on borders.
_LARGER = 4
# Parts whose rotations are optimised together are dense inside: small ones are tried first.
_LEARNED_SIZES = (256, 512, 1024, 2048)
# A stage keeps at least this share of the rows: rows on borders should not wait long.
_KEEP = 0.5
# Rows of a graph that does not fall into parts become so long that small entries must go.
_LOOSE = 1e-2


def reduce_in_stages(
    matrix: Any,
    core: int,
    method: Method,
    part_size: int = PART_SIZE,
    seed: int = 0,
    optimizer: Optimizer | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Eliminate rows stage by stage until `core` are left.

    Parameters
    ----------
    matrix : csr_array
        The symmetric matrix, sorted, of entries around one.
    core : int
        Rows to keep.
    method : Method
        How groups and rotations are chosen.
    part_size : int
        Largest number of rows of a part, about.
    seed : int
        Seed of the partitioner.
    optimizer : Optimizer, optional
        If given, the rotations of every part are optimised together; parts are smaller then.
    progress : Progress
        Called now and then; a note that ends a stage ends in a newline.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> matrix = normalized_laplacian(grid(20, 20))
    >>> outcome = reduce_in_stages(matrix, 40, Method(4, 1, False, True, 1e-5), part_size=100)
    >>> outcome.h.core.shape, len(outcome.stages) > 1
    ((40, 40), True)
    """
    n = matrix.shape[0]
    collected = _Stages(n, core, method, part_size, seed, optimizer, progress)
    active: Any = matrix
    labels: Integers = np.arange(n)
    while active.shape[0] > core:
        active, kept = collected.next(active, labels)
        labels = labels[kept]
    return collected.outcome(active, labels)


class _Stages(Collected):
    """Runs stages and collects their levels."""

    def __init__(
        self, n: int, core: int, method: Method, part_size: int, seed: int,
        optimizer: Optimizer | None, progress: Progress,
    ) -> None:  # fmt: skip
        super().__init__(n)
        self.core = core
        self.method = method
        self.part_size = part_size
        self.seed = seed
        self.optimizer = optimizer
        self.progress = progress

    def next(self, active: Any, labels: Integers) -> tuple[Any, Integers]:
        """Run one stage; return what is left of the matrix, and which rows those are."""
        pieces, learn = self._cut(active)
        goal = max(self.core, round(_KEEP * pieces.rows)) if len(pieces.parts) > 1 else self.core
        reduced = self._reduce(pieces, share(goal, pieces.parts), learn)
        self.add(pieces, reduced, labels, learn)
        left, kept = join(pieces, reduced)
        self._tell(left)
        return left, kept

    def _cut(self, active: Any) -> tuple[Cut, bool]:
        """Parts with few rows on borders, and whether they are small enough for learning."""
        sizes = [(size, True) for size in _LEARNED_SIZES] if self.optimizer is not None else []
        plain = [(self.part_size, False), (_LARGER * self.part_size, False)]
        for size, learn in [*sizes, *plain]:
            pieces = cut(active, size, self.seed)
            if pieces.is_good:
                return pieces, learn
        if not self.stages:
            self.method = replace(self.method, tolerance=max(self.method.tolerance, _LOOSE))
        return cut(active, active.shape[0], self.seed), False

    def _reduce(self, pieces: Cut, targets: list[int], learn: bool) -> list[Reduced]:
        rows, total = self.n - pieces.rows, self.n - self.core
        done = 0

        def finished(position: int, result: Reduced) -> None:
            nonlocal done
            done += result.rotations.wavelets.size
            self.progress(rows + done, total, f"stage {len(self.stages) + 1}")

        extra = (self.method, self.optimizer) if learn else (self.method,)
        calls = [(p, t, *extra) for p, t in zip(pieces.parts, targets, strict=True)]
        function = learn_part if learn else reduce_part
        reduced: list[Reduced] = current_mapper()(function, calls, finished)
        return reduced

    def _tell(self, left: Any) -> None:
        rows, stage = left.shape[0], self.stages[-1]
        note = (
            f"stage {len(self.stages)}: {stage['parts']} parts, {rows} rows left with "
            f"{left.nnz} entries, error so far {stage['residual']:.6g}{memory_in_use()}\n"
        )
        self.progress(self.n - rows, self.n - self.core, note)
