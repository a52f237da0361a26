"""Run a policy on a large sparse matrix, many levels between two looks at it.

In every round the current sparse matrix is scored, the networks give every row a logit, and groups
that do not overlap are taken in that order. Their rotations do not depend on each other: the Gram
block of a group is not changed when columns outside it are rotated. The matrix is then rotated as
a sparse product, and entries negligible beside both of their rows are discarded; that happens in
here only, the caller computes the exact error from the given matrix.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..factorization import Rotations
from ..factorization._norms import power_of_two_scale
from ..kernels.episode_sparse import pick_disjoint, rotate_groups, score_rows
from ..parallel.interrupts import deferred_interrupts
from ..parallel.threads import num_threads, run_all
from ..select._plan import LevelRecorder, Task
from ._features import relations, stack_features
from ._messages import Messages
from ._policy import Policy
from ._sampling import largest, preferences

__all__ = ["select_in_rounds"]

# Groups of a round, as a part of the active rows: with k = 8 an eighth would be all that fit.
_SHARE = 0.05
# Partners that the networks may choose from, per place in the group.
_CHOICE = 2
# Pivots whose scores are brought up to date in a round, per group that is taken.
_LOOK = 8
_FILL_TOLERANCE = 1e-3


@torch.no_grad()
def select_in_rounds(
    policy: Policy,
    matrix: Any,
    task: Task,
    generator: torch.Generator | None = None,
    temperature: float = 1.0,
) -> Rotations:
    """Choose coordinates for a csr_array; without a generator, always the largest logits."""
    rounds = _Rounds(policy, matrix, task, generator, temperature)
    while rounds.active > task.core:
        rounds.play()
        task.progress(rounds.n - rounds.active, rounds.n - task.core, "")
    return rounds.recorder.rotations(rounds.level)


class _Rounds:
    def __init__(
        self,
        policy: Policy,
        matrix: Any,
        task: Task,
        generator: torch.Generator | None,
        temperature: float,
    ) -> None:
        self.policy, self.task = policy, task
        self.generator, self.temperature = generator, temperature
        # Of two kinds to choose from, survivors near the coordinates keep sparse rows sparse.
        self.nearest = task.survivors(policy.settings.survivors) != "eigenvectors"
        self.n = matrix.shape[0]
        self.matrix = sp.csr_array(matrix / power_of_two_scale(matrix))
        self.messages = Messages(self.matrix)
        self.mask = np.ones(self.n, np.bool_)
        self.active = self.n
        self.level = 0
        self.recorder = LevelRecorder(self.n, task)
        width = 1 + _CHOICE * (task.k - 1)
        self.candidates = np.zeros((self.n, width), np.int64)
        self.cosines = np.zeros((self.n, width))
        self.sizes = np.zeros(self.n, np.int64)
        self.scores = np.zeros(self.n)
        self.neighbors = np.zeros(self.n, np.int64)
        self.stale = np.ones(self.n, np.bool_)
        self.energy = _squared_norms(self.matrix)
        self.partners = torch.empty(0)

    def play(self) -> None:
        """Take the groups of one round.

        Scores are brought up to date only for pivots that come into question by their old ones: a
        rotation rarely makes a group cheaper.
        """
        limit = max(self.policy.settings.refresh, int(_SHARE * self.active))
        limit = min(limit, self.active - self.task.core)
        rows = np.flatnonzero(self.mask)
        if self.level:
            rows = self._leading(rows, _LOOK * limit)
        self._score(rows[self.stale[rows]])
        rows = self._leading(rows, rows.size)
        groups, sizes = self._groups(rows)
        picked = pick_disjoint(groups, sizes, self.n, limit)
        self._rotate(groups[picked], sizes[picked])

    def _score(self, rows: Any) -> None:
        """Find candidates and score of the given rows."""
        a, task = self.matrix, self.task
        self.stale[rows] = False
        _in_parallel(
            score_rows, rows.size,
            (a.indptr, a.indices, a.data, self.energy, task.k, task.drop, self.candidates,
             self.cosines, self.sizes, self.scores, self.neighbors, rows),
        )  # fmt: skip

    def _leading(self, rows: Any, count: int) -> Any:
        """Return the rows with the largest logits as pivots, best first; embeds all rows."""
        active = torch.from_numpy(self.mask).float()[None]
        neighbors = torch.from_numpy(self.neighbors).float()[None]
        scores = torch.from_numpy(self.scores).float()[None]
        facts = {
            "degree": neighbors,
            "diagonal": torch.from_numpy(self.matrix.diagonal()).float()[None],
            "norm": torch.from_numpy(self.energy).float()[None],
            "score": scores,
            "neighbors": neighbors,
            "sizes": torch.from_numpy(np.minimum(self.sizes, self.task.k)).float()[None]
            / self.task.k,
        }
        progress = (self.n - self.active) / max(1, self.n - self.task.core)
        features = stack_features(self.policy.settings, facts, active, progress)
        pivots, *partners = self.policy.embed(features, active, self.messages)
        if partners:
            self.partners = partners[0][0]
        logits = self.policy.pivot_logits(pivots, scores)[0][rows]
        wanted = preferences(logits, self.generator, self.temperature)
        return rows[largest(wanted, count).numpy()]

    def _groups(self, rows: Any) -> tuple[Any, Any]:
        """Return the groups of the given pivots, pivot first, and their sizes."""
        candidates = torch.from_numpy(self.candidates[rows])
        sizes = self.sizes[rows]
        if self.policy.settings.actions == "groups":
            return self.candidates[rows, : self.task.k], np.minimum(sizes, self.task.k)
        known = relations(
            torch.from_numpy(self.cosines[rows]).float(),
            (torch.arange(candidates.shape[1]) < self.task.k).expand(candidates.shape),
        )
        logits = self.policy.candidate_logits(self.partners, candidates, known)
        wanted = preferences(logits, self.generator, self.temperature)
        real = torch.arange(candidates.shape[1]) < torch.from_numpy(sizes)[:, None]
        wanted = torch.where(real, wanted, torch.full_like(wanted, -torch.inf))
        wanted[:, 0] = torch.inf  # the pivot itself
        best = largest(wanted, self.task.k)
        return candidates.gather(1, best).numpy(), np.minimum(sizes, self.task.k)

    def _rotate(self, groups: Any, sizes: Any) -> None:
        drops = np.minimum(self.task.drop, np.maximum(sizes - 1, 1))
        drops = np.minimum(drops, np.maximum(0, self.active - self.task.core - _before(drops)))
        count = int(np.count_nonzero(drops))
        levels = slice(self.level, self.level + count)
        recorder = self.recorder
        recorder.groups[levels] = groups[:count]
        recorder.sizes[levels] = sizes[:count]
        recorder.drops[levels] = drops[:count]
        a = self.matrix
        anywhere = self.policy.settings.wavelets == "overlap"
        _in_parallel(
            rotate_groups, count,
            (a.indptr, a.indices, a.data, self.energy, groups, sizes, drops, anywhere, self.nearest,
             recorder.wavelets[levels], recorder.blocks[levels]),
        )  # fmt: skip
        in_drop = np.arange(self.task.drop) < drops[:count, None]
        dropped = recorder.wavelets[levels][in_drop]
        self.mask[dropped] = False
        self._compress(groups[:count], sizes[:count], recorder.blocks[levels])
        touched = np.zeros(self.n, np.bool_)
        touched[groups[:count]] = True
        self.stale |= touched[self.candidates].any(axis=1)
        self.active -= dropped.size
        self.level += count

    def _compress(self, groups: Any, sizes: Any, blocks: Any) -> None:
        """Rotate the sparse matrix, without the dropped rows and negligible entries."""
        member = np.arange(groups.shape[1]) < sizes[:, None]
        inside = member[:, :, None] & member[:, None, :]
        rows = np.broadcast_to(groups[:, :, None], inside.shape)[inside]
        columns = np.broadcast_to(groups[:, None, :], inside.shape)[inside]
        others = np.setdiff1d(np.flatnonzero(self.mask), groups[member])
        entries = np.concatenate([blocks[inside], np.ones(others.size)])
        at = np.concatenate([rows, others]), np.concatenate([columns, others])
        kept = self.mask[at[0]]
        q = sp.csr_array((entries[kept], (at[0][kept], at[1][kept])), shape=(self.n, self.n))
        self.matrix = _without_negligible(sp.csr_array(q @ self.matrix @ q.T))
        self.energy = _squared_norms(self.matrix)


def _before(drops: Any) -> Any:
    """Return how many rows the groups before each one drop."""
    return np.concatenate([[0], np.cumsum(drops)[:-1]])


def _squared_norms(matrix: Any) -> Any:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, matrix.data * matrix.data, matrix.shape[0])


def _without_negligible(matrix: Any) -> Any:
    """Return the symmetric matrix without entries small beside both of their rows."""
    norms = np.sqrt(_squared_norms(matrix))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    smaller = np.minimum(norms[rows], norms[matrix.indices])
    large = np.abs(matrix.data) > _FILL_TOLERANCE * smaller
    lengths = np.bincount(rows[large], minlength=matrix.shape[0])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((matrix.data[large], matrix.indices[large], indptr), matrix.shape)


def _in_parallel(kernel: Any, count: int, arguments: tuple[Any, ...]) -> None:
    bounds = np.linspace(0, count, 4 * num_threads() + 1).astype(int)
    calls = [(*arguments, a, b) for a, b in pairwise(bounds) if b > a]
    with deferred_interrupts():
        run_all(kernel, calls)
