"""Selectors that do not look at residuals when they group rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import Matrix, check_memory
from ..errors import InvalidFactorizationError, InvalidInputError
from ..factorization import Rotations
from ..kernels.closed_form import EXPLICIT, NEIGHBORS, RANDOM, closed_form_levels
from ..parallel.interrupts import deferred_interrupts
from ._order import prepared
from ._plan import LevelRecorder, Task, levels_per_call

__all__ = ["explicit", "neighbors", "random"]

_NO_INDICES = np.zeros((0, 1), np.int64)
_NO_COUNTS = np.zeros(0, np.int64)
_NOTHING_GIVEN = (_NO_INDICES, _NO_COUNTS, _NO_INDICES, _NO_COUNTS)


def random(matrix: Matrix, task: Task) -> Rotations:
    """Rotate k active rows drawn uniformly; the wavelets are those with the smallest residual."""
    return _run(matrix, task, RANDOM, _NOTHING_GIVEN)


def neighbors(matrix: Matrix, task: Task) -> Rotations:
    """Rotate a random active row with its heaviest neighbours in the active matrix."""
    return _run(matrix, task, NEIGHBORS, _NOTHING_GIVEN)


def explicit(matrix: Matrix, task: Task, indices: Any) -> Rotations:
    """Closed-form rotations for index sets ``(I, T)`` given by the caller.

    `I` holds the rotated coordinates of every level and `T` those that become wavelets. The
    sets are checked before any work is done.
    """
    n = matrix.shape[0]
    groups, wavelets = as_index_sets(indices, n)
    count = len(groups)
    given = (
        np.zeros((count, max(map(len, groups), default=1)), np.int64),
        np.array([len(group) for group in groups], np.int64),
        np.zeros((count, max(map(len, wavelets), default=1)), np.int64),
        np.array([len(dropped) for dropped in wavelets], np.int64),
    )
    for level in range(count):
        given[0][level, : len(groups[level])] = groups[level]
        given[2][level, : len(wavelets[level])] = wavelets[level]
    remaining = n - int(given[3].sum())
    task = replace(task, core=remaining, k=given[0].shape[1], drop=given[2].shape[1])
    return _run(matrix, task, EXPLICIT, given)


def as_index_sets(indices: Any, n: int) -> tuple[list[Any], list[Any]]:
    """Check explicit index sets ``(I, T)`` and return them as lists of integer arrays."""
    try:
        groups, wavelets = indices
        groups = [np.atleast_1d(np.asarray(group)) for group in groups]
        wavelets = [np.atleast_1d(np.asarray(dropped)) for dropped in wavelets]
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "explicit indices must be a pair (I, T): for every level the rotated coordinates, "
            f"and those that become wavelets; got {type(indices).__name__}"
        ) from error
    for level, dropped in enumerate(wavelets, start=1):
        if dropped.size == 0:
            raise InvalidFactorizationError(f"level {level}: no wavelet is given", level)
    # The constraints are those of any factorization; identity blocks let them be checked early.
    identities = [np.eye(group.size) for group in groups]
    Rotations.from_levels(n, groups, identities, wavelets)
    return groups, wavelets


def _run(matrix: Any, task: Task, choice: int, given: tuple[Any, ...]) -> Rotations:
    n = matrix.shape[0]
    check_memory(16 * n * n, f"the dense engine on {n} rows")
    work = prepared(matrix.toarray() if sp.issparse(matrix) else matrix)
    recorder = LevelRecorder(n, task)
    labels, position = np.arange(n), np.arange(n)
    rng = np.random.default_rng(task.seed)
    active, level = n, 0
    while active > task.core:
        with deferred_interrupts():
            active, level = closed_form_levels(
                work, labels, position, active, task.core, task.k, task.drop, choice, rng,
                task.compact, *given, *recorder.arrays, level, levels_per_call(n),
            )  # fmt: skip
        task.progress(n - active, n - task.core, "")
    return recorder.rotations(level)
