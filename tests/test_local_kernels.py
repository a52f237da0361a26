"""What happens inside one level: wavelets, survivors and groups, against dense algebra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import dense
from wavemmf.kernels.closed_form import (
    EXPLICIT,
    NEIGHBORS,
    RANDOM,
    _draw_neighbors,
    _draw_rows,
    closed_form_levels,
)
from wavemmf.kernels.local import (
    complete_rotation,
    local_score,
    nearest_survivors,
    smallest_cost,
)

SHAPES = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 1), (5, 3), (6, 5), (7, 4), (8, 8)]


def group_of(size: int, others: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gram block and block of the first rows of a random matrix."""
    a = dense.random_symmetric(size + others, seed)
    return np.ascontiguousarray((a @ a)[:size, :size]), np.ascontiguousarray(a[:size, :size])


def half_loss(gram: np.ndarray, block: np.ndarray, rows: np.ndarray) -> float:
    """Half the squared error of dropping orthonormal rows that are turned to be diagonal."""
    return float(np.trace(rows @ gram @ rows.T) - ((rows @ block @ rows.T) ** 2).sum())


@pytest.mark.parametrize(("size", "drop"), SHAPES)
@pytest.mark.parametrize("others", [0, 1, 6])
def test_every_wavelet_is_the_cheapest_beside_those_before(
    size: int, drop: int, others: int
) -> None:
    gram, block = group_of(size, others, seed=size)
    score, vectors, chosen = local_score(gram, block, drop)
    eigenvalues = np.diag(vectors.T @ gram @ vectors)
    np.testing.assert_allclose(gram @ vectors, vectors * eigenvalues, atol=1e-9)
    taken: list[int] = []
    for pick in chosen:
        costs = {
            e: half_loss(gram, block, vectors[:, [*taken, e]].T)
            for e in range(size)
            if e not in taken
        }
        assert costs[pick] <= min(costs.values()) + 1e-9
        taken.append(int(pick))
    assert score >= 0.0
    assert score == pytest.approx(half_loss(gram, block, vectors[:, taken].T), abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_smallest_cost_is_that_of_the_best_eigenvector(
    size: int, others: int, scale: float
) -> None:
    gram, block = group_of(size, others, seed=10 + size)
    gram, block = gram * scale**2, block * scale
    before = gram.copy()
    expected = min(half_loss(gram, block, v[None]) for v in np.linalg.eigh(gram)[1].T)
    cost = smallest_cost(gram, block)
    assert cost >= 0.0
    assert cost == pytest.approx(expected, abs=1e-7 * np.trace(gram))
    np.testing.assert_array_equal(gram, before)


def test_smallest_cost_of_close_eigenvalues_is_between_the_extremes() -> None:
    gram, block = np.eye(4) + 1e-12, np.diag([0.9, 0.5, 0.1, 0.0])
    assert smallest_cost(gram, block) == pytest.approx(1 - 0.9**2)
    assert smallest_cost(np.zeros((3, 3)), np.zeros((3, 3))) == 0.0


# -- the rotation of a level --------------------------------------------------------------------


def matched(rows: np.ndarray, free: Sequence[int]) -> dict[int, np.ndarray]:
    """Put rows on coordinates, the largest overlap first, each with a positive overlap."""
    overlap = np.abs(rows) * np.isin(np.arange(rows.shape[1]), free)
    result = {}
    for _ in rows:
        row, where = np.unravel_index(overlap.argmax(), overlap.shape)
        result[int(where)] = rows[row] * np.sign(rows[row, where])
        overlap[row], overlap[:, where] = -1.0, -1.0
    return result


@pytest.mark.parametrize(("size", "drop"), SHAPES)
@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotation_of_a_level(size: int, drop: int, nearest: bool, seed: int) -> None:
    gram, block = group_of(size, 4, seed)
    _, vectors, chosen = local_score(gram, block, drop)
    allowed = np.arange(size) != 1  # coordinate 1 carries no wavelet, if others are enough
    if drop == size or seed == 2:
        allowed[:] = True
    rotation, positions = complete_rotation(vectors, chosen, block, allowed, nearest)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(size), atol=1e-10)
    assert positions.tolist() == sorted(set(positions.tolist()))
    assert allowed[positions].all()
    if drop < size:
        assert np.linalg.det(rotation) > 0.0
    wavelets = rotation[positions]
    span = vectors[:, chosen]
    np.testing.assert_allclose(wavelets.T @ wavelets, span @ span.T, atol=1e-10)
    inner = wavelets @ block @ wavelets.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-10)
    for where, row in matched(wavelets, np.flatnonzero(allowed)).items():
        np.testing.assert_allclose(rotation[where], row, atol=1e-10)
    rest = np.setdiff1d(np.arange(size), positions)
    survivors = rotation[rest]
    if nearest:
        axes = np.eye(size)[rest]
        outside = axes - axes @ wavelets.T @ wavelets
        left, values, right = np.linalg.svd(outside, full_matrices=False)
        nearby = not rest.size or values[-1] ** 2 >= 1e-3
        expected = dict(zip(rest.tolist(), left @ right, strict=True))
    if not nearest or not nearby:
        others = np.delete(vectors, chosen, axis=1)
        expected = matched(others.T, rest)
    for where, row in zip(rest[:-1], survivors[:-1], strict=True):
        np.testing.assert_allclose(row, expected[int(where)], atol=1e-9)
    if rest.size:  # the sign of the last one makes it a rotation
        sign = np.sign(survivors[-1] @ expected[int(rest[-1])])
        np.testing.assert_allclose(survivors[-1], sign * expected[int(rest[-1])], atol=1e-9)


def test_a_wavelet_may_carry_a_coordinate_it_does_not_overlap() -> None:
    allowed = np.array([False, True, False])
    rotation, positions = complete_rotation(
        np.asfortranarray(np.eye(3)), np.array([0]), np.diag([1.0, 2.0, 3.0]), allowed, False
    )
    assert positions.tolist() == [1]
    assert np.abs(rotation[1]).tolist() == [1.0, 0.0, 0.0]


def test_wavelets_are_different_even_if_costs_are_no_numbers() -> None:
    with np.errstate(invalid="ignore"):
        _, _, chosen = local_score(np.eye(3), np.full((3, 3), np.inf), 3)
    assert sorted(chosen) == [0, 1, 2]


def test_survivors_are_left_alone_where_no_basis_is_near_to_the_axes() -> None:
    rotation = np.full((3, 3), 7.0)
    rotation[1] = [1.0, 0.0, 0.0]  # the wavelet lies on axis 0, which has to carry a survivor
    before = rotation.copy()
    assert not nearest_survivors(rotation, np.array([1]), np.array([False, True, False]))
    np.testing.assert_array_equal(rotation, before)
    rotation[1] = [0.0, 1.0, 0.0]
    assert nearest_survivors(rotation, np.array([1]), np.array([False, True, False]))
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-12)
    assert nearest_survivors(np.eye(2), np.array([0, 1]), np.array([True, True]))


@pytest.mark.parametrize(("squared", "trusted"), [(0.9e-3, False), (1.1e-3, True)])
def test_how_far_from_the_axes_survivors_may_be(squared: float, trusted: bool) -> None:
    wavelet = np.array([np.sqrt(1 - squared), np.sqrt(squared)])
    rotation = np.stack([np.zeros(2), wavelet])
    taken = np.array([False, True])
    assert nearest_survivors(rotation, np.array([1]), taken) == trusted
    if trusted:
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-10)


# -- levels of given or drawn groups ------------------------------------------------------------


class Run:
    """Levels in closed form on a matrix, and what is left of it."""

    def __init__(self, matrix: np.ndarray, k: int, drop: int, core: int) -> None:
        n = len(matrix)
        self.matrix, self.shape = matrix.copy(), (core, k, drop)
        self.labels, self.position = np.arange(n), np.arange(n)
        self.active, self.level = n, 0
        self.groups, self.sizes = np.full((n, k), -1), np.zeros(n, int)
        self.wavelets, self.drops = np.full((n, drop), -1), np.zeros(n, int)
        self.blocks = np.zeros((n, k, k))

    def take(self, choice: int, rng: object, nearest: bool, given: tuple, most: int) -> None:
        """Take up to `most` levels."""
        self.active, self.level = closed_form_levels(
            self.matrix, self.labels, self.position, self.active, *self.shape, choice, rng,
            nearest, *given, self.groups, self.sizes, self.wavelets, self.drops, self.blocks,
            self.level, most,
        )  # fmt: skip

    def levels(self) -> dense.Levels:
        """Return the levels taken."""
        done = range(self.level)
        return dense.pack(
            [self.groups[i, : self.sizes[i]] for i in done],
            [self.blocks[i, : self.sizes[i], : self.sizes[i]] for i in done],
            [self.wavelets[i, : self.drops[i]] for i in done],
        )


NOTHING = (np.zeros((0, 1), int), np.zeros(0, int), np.zeros((0, 1), int), np.zeros(0, int))


def check_run(run: Run, original: np.ndarray) -> None:
    """Check every level for the best wavelets of its group, and what is left at the end."""
    n = len(original)
    levels = run.levels()
    rotated, added = levels.losses(original)
    current, active = original.copy(), np.ones(n, bool)
    for level, u in enumerate(levels.matrices(n)):
        group, dropped = levels.group(level), levels.dropped(level)
        assert active[group].all()
        assert set(dropped.tolist()) <= set(group.tolist())
        square = current[:, active] @ current[:, active].T
        cost, _, _ = local_score(
            square[np.ix_(group, group)], current[np.ix_(group, group)], dropped.size
        )
        assert added[level] == pytest.approx(2 * cost, abs=1e-9)
        current = u @ current @ u.T
        active[dropped] = False
    left = run.labels[: run.active]
    assert sorted(left) == np.flatnonzero(active).tolist()
    np.testing.assert_array_equal(run.position[left], np.arange(run.active))
    block = run.matrix[: run.active, : run.active]
    np.testing.assert_allclose(block, rotated[np.ix_(left, left)], atol=1e-10)


@pytest.mark.parametrize("nearest", [False, True])
def test_given_groups_and_wavelets(nearest: bool) -> None:
    matrix = dense.random_symmetric(9, seed=4)
    groups = [[3, 0, 8], [1, 3, 2], [1, 7], [5, 1, 4]]
    wavelets = [[8, 0], [2], [7], [4, 5]]
    sizes, drops = (np.array([len(each) for each in sets]) for sets in (groups, wavelets))
    given = (
        np.array([[3, 0, 8], [1, 3, 2], [1, 7, 0], [5, 1, 4]]), sizes,
        np.array([[8, 0], [2, 0], [7, 0], [4, 5]]), drops,
    )  # fmt: skip
    run = Run(matrix, k=3, drop=2, core=3)
    run.take(EXPLICIT, np.random.default_rng(0), nearest, given, 3)
    assert (run.active, run.level) == (5, 3)
    run.take(EXPLICIT, np.random.default_rng(0), nearest, given, 9)
    assert (run.active, run.level) == (3, 4)
    check_run(run, matrix)
    levels = run.levels()
    for level in range(4):
        assert levels.group(level).tolist() == given[0][level, : sizes[level]].tolist()
        assert set(levels.dropped(level)) == set(given[2][level, : drops[level]])


@pytest.mark.parametrize("choice", [RANDOM, NEIGHBORS])
@pytest.mark.parametrize(("k", "drop", "core"), [(2, 1, 0), (3, 2, 2), (4, 1, 3), (20, 3, 1)])
def test_drawn_groups(choice: int, k: int, drop: int, core: int) -> None:
    matrix = dense.random_symmetric(11, seed=5, density=0.6)
    whole, pieces = Run(matrix, k, drop, core), Run(matrix, k, drop, core)
    whole.take(choice, np.random.default_rng(1), False, NOTHING, 100)
    check_run(whole, matrix)
    assert whole.active == core
    left = 11 - np.cumsum([0, *whole.drops[: whole.level]])
    for before, size, count in zip(left[:-1], whole.sizes, whole.drops, strict=False):
        assert size == min(k, before)
        assert count == min(drop, max(size - 1, 1), before - core)
    rng = np.random.default_rng(1)
    for expected in range(1, whole.level + 1):
        pieces.take(choice, rng, False, NOTHING, 1)
        assert pieces.level == expected
    np.testing.assert_array_equal(pieces.blocks, whole.blocks)


@pytest.mark.parametrize(("choice", "apart"), [(RANDOM, False), (NEIGHBORS, True)])
def test_neighbors_stay_in_their_component(choice: int, apart: bool) -> None:
    matrix = np.zeros((12, 12))
    matrix[:6, :6], matrix[6:, 6:] = (dense.random_symmetric(6, seed) for seed in (0, 1))
    run = Run(matrix, k=3, drop=1, core=4)
    run.take(choice, np.random.default_rng(0), True, NOTHING, 100)
    levels = run.levels()
    sides = [set((levels.group(level) < 6).tolist()) for level in range(run.level)]
    assert all(len(side) == 1 for side in sides) == apart


def test_all_draws_of_rows_are_equally_likely() -> None:
    rng = np.random.default_rng(0)
    draws = [tuple(_draw_rows(4, 2, rng).tolist()) for _ in range(2400)]
    counts = [draws.count(pair) for pair in sorted(set(draws))]
    assert len(counts) == 12  # of different rows
    assert max(abs(count - 200) for count in counts) < 60


def around(matrix: np.ndarray, start: int, size: int) -> list[int]:
    """Search breadth first, along the heaviest edges first."""
    rows = [start]
    for center in rows:
        for j in np.argsort(-np.abs(matrix[center]), kind="stable").tolist():
            if matrix[center, j] != 0.0 and j not in rows and len(rows) < size:
                rows.append(j)
    return rows


@pytest.mark.parametrize("density", [0.05, 0.15, 0.6])
@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_neighbors_are_those_around_a_row(density: float, size: int) -> None:
    matrix = dense.random_symmetric(14, seed=6, density=density)
    matrix[np.diag_indices(14)] = 1.0
    rng = np.random.default_rng(0)
    starts = set()
    for _ in range(60):
        rows = _draw_neighbors(matrix, 12, size, rng).tolist()
        starts.add(rows[0])
        assert rows == around(matrix[:12, :12], rows[0], size)
    assert starts == set(range(12))
