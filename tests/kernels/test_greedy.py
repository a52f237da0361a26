"""Greedy selection on dense matrices, step by step against dense algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dense
from wavemmf.kernels.canonical import canonical_order, dense_to_csr, row_values, shuffled
from wavemmf.kernels.centre import add_to_diagonal, centre_dense
from wavemmf.kernels.greedy_dense import Choice, greedy_levels
from wavemmf.kernels.greedy_many import greedy_many, small_gram
from wavemmf.kernels.local import local_score
from wavemmf.kernels.noise import seeded

NO_GROUPS = (np.zeros((0, 1), np.int64), np.zeros(0, np.int64))


class Greedy:
    """The state of a greedy run, and its levels so far."""

    def __init__(self, matrix: np.ndarray, k: int, choice: Choice, seed: int = 0) -> None:
        n = len(matrix)
        self.original, self.choice, self.rng = matrix, choice, seeded(seed)
        self.matrix, self.gram = matrix.copy(), matrix @ matrix
        self.energy, self.labels = np.diag(self.gram).copy(), np.arange(n)
        self.groups, self.sizes = np.zeros((n, k), np.int64), np.zeros(n, np.int64)
        self.scores, self.dirty = np.zeros(n), np.ones(n, bool)
        self.active, self.level = n, 0
        self.taken = (np.full((n, k), -1), np.zeros(n, np.int64), np.full((n, choice.drop), -1))
        self.drops, self.blocks = np.zeros(n, np.int64), np.zeros((n, k, k))

    def take(self, core: int, most: int, given: tuple[np.ndarray, np.ndarray] = NO_GROUPS) -> None:
        """Take up to `most` levels."""
        self.active, self.level = greedy_levels(
            self.matrix, self.gram, self.energy, self.labels, self.groups, self.sizes,
            self.scores, self.dirty, self.active, core, self.choice, self.rng, *given,
            *self.taken, self.drops, self.blocks, self.level, most,
        )  # fmt: skip

    def levels(self) -> dense.Levels:
        """Return the levels taken."""
        return dense.first_levels(self.level, *self.taken, self.drops, self.blocks)


def best_cost(matrix: np.ndarray, choice: Choice, k: int) -> float:
    """Find the smallest cost per wavelet of the groups considered, if eigenvectors are wavelets."""
    n, gram = len(matrix), matrix @ matrix
    costs = []
    for p in range(n):
        partners = np.delete(np.arange(n), p)
        measure = gram[p, partners] ** 2 / np.diag(gram)[partners]
        groups = [[p, *partners[np.argsort(-measure)][: k - 1]]]
        if choice.exhaustive:
            groups = [[p, j] for j in partners]
        for rows in groups:
            count = min(choice.drop, max(len(rows) - 1, 1))
            block = np.ix_(rows, rows)
            costs.append(dense.cost_of_eigenvectors(gram[block], matrix[block], count) / count)
    return min(costs)


CHOICES = [
    (k, Choice(drop, exhaustive, nearest, 0.0, 0.0, 0.0, False))
    for k, drop, exhaustive, nearest in (
        (2, 1, True, False), (2, 1, False, False), (3, 1, False, True),
        (4, 1, False, False), (4, 2, False, True), (5, 4, False, False),
    )
]  # fmt: skip


@pytest.mark.parametrize(("k", "choice"), CHOICES)
@pytest.mark.parametrize("density", [0.15, 1.0])
def test_the_state_is_that_of_the_matrix_after_every_level(
    k: int, choice: Choice, density: float
) -> None:
    matrix = dense.random_symmetric(12, seed=k, density=density)
    run = Greedy(matrix, k, choice)
    core, left = 1, np.arange(12)
    current = matrix
    while run.active > core:
        before = best_cost(current, choice, k) if density == 1.0 else 0.0
        run.take(core, 1)
        levels = run.levels()
        level = run.level - 1
        group, dropped = levels.group(level), levels.dropped(level)
        assert group.size <= k
        assert dropped.size == min(choice.drop, max(group.size - 1, 1), left.size - core)
        assert set(dropped.tolist()) <= set(group.tolist()) <= set(left.tolist())
        rotated, added = levels.losses(matrix)
        where = np.searchsorted(left, group)
        block = np.ix_(where, where)
        cost, _ = local_score((current @ current)[block], current[block], dropped.size)
        assert added[level] == pytest.approx(2 * cost, abs=1e-9)
        if density == 1.0 and dropped.size == choice.drop:  # every row feels every other
            assert cost / dropped.size <= before + 1e-6
        left = np.setdiff1d(left, dropped)
        current = rotated[np.ix_(left, left)]
        check_state(run, rotated)
    assert run.active == core


def check_state(run: Greedy, rotated: np.ndarray) -> None:
    active = run.active
    rows = run.labels[:active]
    block = rotated[np.ix_(rows, rows)]
    np.testing.assert_allclose(run.matrix[:active, :active], block, atol=1e-10)
    np.testing.assert_allclose(run.gram[:active, :active], block @ block, atol=1e-5)
    np.testing.assert_array_equal(run.energy[:active], np.diag(run.gram)[:active])
    for p in np.flatnonzero(~run.dirty[:active]):
        members = run.groups[p, : run.sizes[p]]
        assert members[0] == p
        assert members.max() < active


@pytest.mark.parametrize(("k", "choice"), CHOICES)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_levels_one_by_one_are_those_of_one_call(k: int, choice: Choice, noise: float) -> None:
    choice = choice._replace(score_noise=noise, correlation_noise=noise)
    matrix = dense.random_symmetric(10, seed=1, density=0.7)
    whole, pieces = Greedy(matrix, k, choice), Greedy(matrix, k, choice)
    whole.take(2, 100)
    while pieces.active > 2:
        pieces.take(2, 1)
    assert whole.level == pieces.level
    for first, second in zip(whole.levels(), pieces.levels(), strict=True):
        np.testing.assert_array_equal(first, second)
    plain = Greedy(matrix, k, choice._replace(score_noise=0.0, correlation_noise=0.0))
    plain.take(2, 100)
    same = np.array_equal(plain.blocks, whole.blocks)
    assert same == (noise == 0.0)


def test_given_groups_are_taken_while_all_their_rows_are_active() -> None:
    matrix = dense.random_symmetric(9, seed=3)
    given = np.array([[7, 2, 4], [1, 0, 0], [5, 6, 8]]), np.array([3, 2, 3])
    run = Greedy(matrix, 3, Choice(1, False, False, 0.0, 0.0, 0.0, False))
    run.take(2, 3, given)
    levels = run.levels()
    for level, size in enumerate(given[1]):
        assert levels.group(level).tolist() == given[0][level, :size].tolist()
    gone = levels.wavelets[0]
    again = Greedy(matrix, 3, run.choice)
    again.take(2, 2, (np.array([[7, 2, 4], [gone, 0, 1]]), np.array([3, 3])))
    alone = Greedy(matrix, 3, run.choice)
    alone.take(2, 1, given)
    alone.take(2, 1)
    np.testing.assert_array_equal(again.blocks, alone.blocks)


@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("nearest", [False, True])
def test_rows_that_are_alone_cost_nothing(trim: bool, nearest: bool) -> None:
    alone = 3
    matrix = np.diag(np.arange(10.0))
    matrix[alone:, alone:] = dense.random_symmetric(7, seed=5)
    run = Greedy(matrix, 4, Choice(1, False, nearest, 0.0, 0.0, 0.0, trim))
    run.take(2, alone)
    levels = run.levels()
    np.testing.assert_allclose(levels.losses(matrix)[1], 0.0, atol=1e-12)
    assert sorted(levels.wavelets.tolist()) == list(range(alone))
    assert levels.groups.tolist() == levels.wavelets.tolist()  # nothing was rotated with them


# -- many small matrices ------------------------------------------------------------------------

MATRICES = [dense.random_symmetric(n, seed=n, density=d) for n, d in ((7, 1), (4, 1), (9, 0.4))]
CORES = [2, 1, 0]


def select(
    matrices: list[np.ndarray], cores: list[int], k: int, drop: int, kinds: tuple[bool, bool]
) -> list[dense.Levels]:
    """Choose levels for all matrices in one call; `kinds` are `eigenvectors` and `nearest`."""
    orders = np.array([len(matrix) for matrix in matrices])
    flat = np.concatenate([matrix.ravel() for matrix in matrices])
    dropped = orders - cores
    rows = int(dropped.sum())
    counts, sizes, drops, wavelets = (np.full(m, -1) for m in (len(matrices), rows, rows, rows))
    groups, blocks = np.full(rows * k, -1), np.full(rows * k * k, np.nan)
    greedy_many(
        flat, orders, np.array(cores), k, drop, k == 2, *kinds,
        counts, sizes, groups, blocks, drops, wavelets,
    )  # fmt: skip
    result = []
    for g, first in enumerate(np.cumsum([0, *dropped[:-1]])):
        own = sizes[first : first + counts[g]]
        result.append(
            dense.Levels(
                np.cumsum([0, *own]), groups[k * first :][: own.sum()],
                np.cumsum([0, *own**2]), blocks[k * k * first :][: (own**2).sum()],
                np.cumsum([0, *drops[first : first + counts[g]]]),
                wavelets[first : first + dropped[g]],
            )
        )  # fmt: skip
    return result


def error_of(levels: dense.Levels, matrix: np.ndarray) -> float:
    return float(sum(levels.losses(matrix)[1]))


def same(first: Any, second: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (3, 1), (4, 3)])
@pytest.mark.parametrize("kinds", [(True, False), (False, True), (True, True)])
def test_many_matrices_are_treated_as_each_alone(
    k: int, drop: int, kinds: tuple[bool, bool]
) -> None:
    together = select(MATRICES, CORES, k, drop, kinds)
    for matrix, core, levels in zip(MATRICES, CORES, together, strict=True):
        alone = select([matrix], [core], k, drop, kinds)[0]
        assert levels.wavelets.size == len(matrix) - core
        assert same(levels, alone)


def error_of_try(
    ordered: np.ndarray, core: int, k: int, choice: Choice, moved: float = 0.0
) -> float:
    """Find the squared error of one try, which adds `moved` to the diagonal."""
    work = ordered.copy()
    add_to_diagonal(work, moved)
    run = Greedy(work, k, choice._replace(shift=choice.shift + moved))
    run.gram = small_gram(work)
    run.energy = np.diag(run.gram).copy()
    run.take(core, 100)
    return error_of(run.levels(), ordered)


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (3, 1), (4, 3)])
def test_the_best_of_several_tries_wins(k: int, drop: int) -> None:
    for matrix, core in zip(MATRICES, CORES, strict=True):
        centred = matrix.copy()
        _, shift = centre_dense(centred)
        entries = dense_to_csr(centred)
        order = shuffled(canonical_order(*entries, row_values(*entries)), 0)
        ordered = centred[order][:, order].copy()
        plain = Choice(drop, k == 2, False, 0.0, 0.0, shift, False)
        near = error_of_try(ordered, core, k, plain._replace(nearest=True))
        tries = [
            error_of_try(ordered, core, k, plain),
            error_of_try(ordered, core, k, plain._replace(trim=True), -0.5 * shift),
        ]
        nearest = select([matrix], [core], k, drop, (False, True))[0]
        assert error_of(nearest, matrix) == pytest.approx(near, abs=1e-12)
        eigenvectors = select([matrix], [core], k, drop, (True, False))[0]
        assert error_of(eigenvectors, matrix) <= min(tries) * (1.0 + 1e-9)  # equals count as one
        both = select([matrix], [core], k, drop, (True, True))[0]
        assert error_of(both, matrix) <= min(near, *tries) * (1.0 + 1e-9)


def test_small_gram_is_the_square() -> None:
    for matrix in MATRICES:
        np.testing.assert_allclose(small_gram(matrix), matrix @ matrix, atol=1e-12)
