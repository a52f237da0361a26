"""Rotations chosen for a diffusion that is squared as the graph gets coarser.

The error of a Laplacian's factorization is made by its large eigenvalues, so rotations chosen for
the Laplacian itself break up smooth signals first. A diffusion is large on smooth signals, and
rotations chosen for it keep them. Of a small matrix all times are taken at once. Of a large one
that would be dense: there, what is left after a stage is squared (Coifman, Maggioni: Diffusion
wavelets, 2006), which doubles the time while the rows become fewer, and all stays local.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._progress import silent
from .._validation import check_choice, check_finite, check_memory, check_positive
from ..errors import InvalidInputError
from ..factorization import Rotations
from ..factorization._compress import compress_matrix
from ..factorization._norms import frobenius_norm
from ..kernels.basis import basis_rows
from ..optimize import Optimizer, optimize_rotations
from ._greedy import SURVIVORS, greedy_in_order, preferred_survivors
from ._merge import merge_rows
from ._operator import COARSER, Walk, first_walk
from ._order import in_canonical_order, prepared, renumbered
from ._part import Method, Part, Reduced, reduce_part
from ._plan import Task

__all__ = ["Diffused", "Diffusion", "Reducer"]

#: Eliminates rows of an operator until ``task.core`` are left.
Reducer = Callable[[Any, Task], Reduced]

# With so many rows left, all times are taken at once: a few seconds, and some hundred megabytes.
_ALL_TIMES_UP_TO = 3000
# What that takes, in arrays of n by n: the matrix, its inverse, their Gram matrix, and room.
_DENSE_ARRAYS = 7
# Longest diffusion: beyond, numbers of one row differ by no more than rounding.
_LONGEST = 2.0**40


@dataclass(frozen=True)
class Diffused:
    """What was chosen, and what happened in each stage.

    Attributes
    ----------
    rotations : Rotations
        All levels.
    stages : list of dict
        Rows at the start of the stage and at its end, entries of the operator, and relative to
        its norm what was pruned when it was made, what the dropped rows lost, and a bound on what
        was discarded on the way.
    """

    rotations: Rotations
    stages: list[dict[str, Any]]


@dataclass(frozen=True)
class Diffusion:
    r"""Levels chosen for diffusions of all times: a basis for smooth signals.

    A diffusion of time t is about :math:`e^{-tB}`, where B has eigenvalues from 0 to 2. What those
    of all times add up to, :math:`(B + 1/t)^{-1}` up to a time t, is large on smooth signals of
    every scale, and levels are chosen for it as `wavemmf.select.Greedy` would. It is dense: so it
    is for up to 3000 rows, and for dense matrices.

    Larger sparse matrices begin with diffusions that are so short that rows are short too. A stage
    leaves `ratio` of the rows; what is left of the diffusion is squared, unless its rows are long
    already, and so on until few rows are left. For k = 2 a level of these stages takes the pair of
    rows with the combination on which the sum is smallest, and that is its wavelet; for larger k
    levels are greedy ones. H, frequencies and the error of the factorization belong to the matrix
    asked for, not to the diffusion.

    Parameters
    ----------
    time : float
        Longest time t that counts.
    ratio : float
        Share of the rows that a stage leaves, between 0 and 1. Closer to 1, the diffusion is
        squared more often.
    tolerance : float
        Entries of a sparse diffusion below this times the root of the product of both diagonal
        entries are pruned when it is squared; ``history.details["stages"]`` tells how much.
    survivors : {"nearest", "eigenvectors", "auto"}
        For k > 2, as for `wavemmf.select.Greedy`; the basis stays sparse with "nearest".
    balanced : bool
        Whether the diffusion is a symmetric random walk that leaves constants as they are, the
        same for every Laplacian of a graph. Else, and if an entry beside the diagonal is positive,
        it is large where the matrix is small: give a Laplacian, a precision matrix, or minus a
        kernel. The walk of a normalized Laplacian leaves the roots of the degrees as they are:
        better for signals that grow with the degrees.

    Examples
    --------
    >>> import wavemmf as wm
    >>> x = np.arange(64.0)
    >>> grid = wm.graphs.grid(8, 8)
    >>> plain, chosen = (wm.factorize(grid, 4, 2, select=s) for s in ("greedy", "diffusion"))
    >>> wm.signals.best_terms(chosen, x, 16).error < wm.signals.best_terms(plain, x, 16).error
    True
    """

    name: ClassVar[str] = "diffusion"
    time: float = 1e4
    ratio: float = 0.8
    tolerance: float = 0.001
    survivors: str = "nearest"
    balanced: bool = True

    def __post_init__(self) -> None:
        if not check_positive("time", self.time) <= _LONGEST:
            raise InvalidInputError(f"time must be at most {_LONGEST:.0f}, got {self.time!r}")
        if not 0.0 < check_finite("ratio", self.ratio) < 1.0:
            raise InvalidInputError(f"ratio must be between 0 and 1, got {self.ratio!r}")
        if not 0.0 <= check_finite("tolerance", self.tolerance) < 1.0:
            raise InvalidInputError(
                f"tolerance must be at least 0 and below 1, got {self.tolerance!r}"
            )
        check_choice("survivors", self.survivors, SURVIVORS)
        if not isinstance(self.balanced, bool):
            raise InvalidInputError(f"balanced must be True or False, got {self.balanced!r}")

    def select(self, matrix: Any, task: Task) -> Rotations:
        """Run once."""
        return self.diffuse(matrix, task).rotations

    def sample(self, matrix: Any, task: Task, count: int) -> list[Rotations]:
        """Refuse: nothing is random, and the best error is not what is wanted."""
        raise InvalidInputError(
            f"restarts={count} keeps the rotations of the smallest error, but select='diffusion' "
            "chooses those that keep smooth signals, and knows one sequence only; leave it out"
        )

    def diffuse(
        self,
        matrix: Any,
        task: Task,
        optimizer: Optimizer | None = None,
        reducer: Reducer | None = None,
    ) -> Diffused:
        """Run once, and tell what happened.

        Parameters
        ----------
        matrix : ndarray or csr_array
            The symmetric matrix.
        task : Task
            Sizes, seed and progress.
        optimizer : Optimizer, optional
            How the rotations of a stage are optimised together, for the operator of that stage.
        reducer : Reducer, optional
            What eliminates rows of sparse operators; by default as one part, in canonical order.
        """
        if reducer is None:
            ordered, order = in_canonical_order(matrix)
            found = self._stages(ordered, task, optimizer, self._reduce_sparse)
            return replace(found, rotations=renumbered(found.rotations, order))
        return self._stages(matrix, task, optimizer, reducer)

    def _stages(
        self, matrix: Any, task: Task, optimizer: Optimizer | None, reduce_sparse: Reducer
    ) -> Diffused:
        n = matrix.shape[0]
        labels = np.arange(n)
        pieces, stages = [], []
        walk = first_walk(matrix, self.balanced)
        while labels.size > task.core:
            rows = labels.size
            if rows <= _ALL_TIMES_UP_TO or not sp.issparse(matrix):
                walk, reduced = self._finish(walk, task, optimizer)
            else:
                walk = walk.grown(self.time, self.tolerance) if rows == n else walk
                target = max(task.core, min(rows - 1, round(self.ratio * rows)))
                own = replace(task, core=target, progress=silent)
                if task.k == 2 and optimizer is None:
                    reduced = merge_rows(walk.total, own, COARSER * self.tolerance)
                else:
                    reduced = reduce_sparse(walk.total, own)
            pieces.append((reduced.rotations, labels))
            stages.append(_record(walk, reduced))
            labels = labels[reduced.rotations.core]
            note = f"stage {len(stages)}: {labels.size} rows left\n"
            task.progress(n - labels.size, n - task.core, note)
            if labels.size > task.core:
                walk = self._next(walk, reduced)
        return Diffused(task.stored(Rotations.one_after_another(n, pieces)), stages)

    def _finish(self, walk: Walk, task: Task, optimizer: Optimizer | None) -> tuple[Walk, Reduced]:
        """Choose all levels that are left for the sum of diffusions of all times."""
        n = walk.step.shape[0]
        check_memory(_DENSE_ARRAYS * 8 * n * n, f"diffusions of all times on {n} rows")
        total = walk.up_to(self.time)
        own = replace(task, progress=silent)
        rotations = greedy_in_order(prepared(total), own, "exhaustive", self.survivors)
        if optimizer is not None:
            rotations, _ = optimize_rotations(total, rotations, optimizer)
        h, error = compress_matrix(total, rotations)
        reduced = Reduced(rotations, h.diagonal, error**2, 0.0, h.core)
        return replace(walk, total=total), reduced

    def _next(self, walk: Walk, reduced: Reduced) -> Walk:
        """Restrict the walk to what a stage left, and go on if rows are short enough."""
        left = walk.restricted(_core_rows(reduced.rotations), reduced.matrix)
        return left.doubled(self.tolerance) if left.may_double(self.time) else left

    def _reduce_sparse(self, operator: Any, task: Task) -> Reduced:
        part = Part(operator, np.ones(operator.shape[0], np.bool_))
        return reduce_part(part, task.core, self.method(operator, task))

    def method(self, operator: Any, task: Task) -> Method:
        """Return how the levels of a sparse operator are chosen."""
        survivors = task.survivors(self.survivors)
        if survivors == "auto":
            survivors = preferred_survivors(operator, task, "exhaustive")
        nearest = survivors == "nearest"
        return Method(task.k, task.drop, task.k == 2, nearest, self.tolerance, task.rotations)


def _core_rows(r: Rotations) -> sp.csr_array:
    """Return the rows of W that are no wavelets; one stage leaves few entries in them."""
    parts = basis_rows(r.n, r.offsets, r.groups, r.block_offsets, r.blocks, 0.0)
    indptr, indices, data, _ = parts
    return sp.csr_array((data, indices, indptr), shape=(r.n, r.n))[r.core]


def _record(walk: Walk, reduced: Reduced) -> dict[str, Any]:
    norm = frobenius_norm(walk.total) or 1.0
    return {
        "rows": walk.step.shape[0],
        "left": reduced.rotations.core.size,
        "entries": int(walk.step.nnz if sp.issparse(walk.step) else walk.step.size),
        "pruned": walk.pruned,
        "residual": float(np.sqrt(reduced.squared_error)) / norm,
        "discarded": reduced.discarded / norm,
    }
