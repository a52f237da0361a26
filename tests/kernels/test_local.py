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
from wavemmf.kernels.eigen import symmetric_eigen
from wavemmf.kernels.local import complete_rotation, local_score, quick_score

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
def test_the_basis_begins_with_wavelets_of_the_score(size: int, drop: int, others: int) -> None:
    gram, block = group_of(size, others, seed=size)
    score, basis = local_score(gram, block, drop)
    np.testing.assert_allclose(basis @ basis.T, np.eye(size), atol=1e-12)
    wavelets, survivors = basis[:drop], basis[drop:]
    assert score >= 0.0
    assert score == pytest.approx(half_loss(gram, block, wavelets), abs=1e-9)
    inner = wavelets @ block @ wavelets.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-10)
    inner = survivors @ gram @ survivors.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("others", [0, 5])
def test_a_wavelet_is_a_minimum_and_no_worse_than_an_eigenvector(size: int, others: int) -> None:
    gram, block = group_of(size, others, seed=20 + size)
    score, basis = local_score(gram, block, 1)
    eigenvectors = np.linalg.eigh(gram)[1].T
    assert score <= min(half_loss(gram, block, v[None]) for v in eigenvectors) + 1e-12
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = basis[0] + 1e-3 * rng.normal(size=size)
        near /= np.linalg.norm(near)
        assert half_loss(gram, block, near[None]) >= score - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_a_multiple_of_the_identity_changes_no_wavelet(seed: int) -> None:
    a = dense.random_symmetric(9, seed)
    costs = []
    for shift in (0.0, 0.7, -2.0):
        moved = a + shift * np.eye(9)
        gram = np.ascontiguousarray((moved @ moved)[:4, :4])
        block = np.ascontiguousarray(moved[:4, :4])
        # The best of several starts: one alone may end in another minimum after a shift.
        best = min(
            local_score(gram + 2 * t * block + t * t * np.eye(4), block + t * np.eye(4), 1)[0]
            for t in np.linspace(-3, 3, 61)
        )
        costs.append(best)
    np.testing.assert_allclose(costs, costs[0], rtol=1e-7)


def test_eigenvalues_of_opposite_sign_are_told_apart() -> None:
    # Squaring throws the eigenvalues 1 and -1 together; any vector is an eigenvector then.
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    moved = pair + 0.9 * np.eye(2)
    score, basis = local_score(moved @ moved, moved, 1)
    assert score < 1e-15
    np.testing.assert_allclose(np.abs(basis), np.sqrt(0.5), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_smallest_cost_is_between_the_best_wavelet_and_the_best_eigenvector(
    size: int, others: int, scale: float
) -> None:
    gram, block = group_of(size, others, seed=10 + size)
    gram, block = gram * scale**2, block * scale
    before = gram.copy()
    most = min(half_loss(gram, block, v[None]) for v in np.linalg.eigh(gram)[1].T)
    least = 0.0 if size > 6 else local_score(gram, block, 1)[0]
    cost = quick_score(gram, block, 1)
    rounding = 1e-7 * np.trace(gram)
    assert 0.0 <= cost <= most + rounding
    assert cost >= least - rounding
    np.testing.assert_array_equal(gram, before)


def test_smallest_cost_of_close_eigenvalues_is_between_the_extremes() -> None:
    gram, block = np.eye(4) + 1e-12, np.diag([0.9, 0.5, 0.1, 0.0])
    assert quick_score(gram, block, 1) == pytest.approx(1 - 0.9**2)
    assert quick_score(np.zeros((3, 3)), np.zeros((3, 3)), 1) == 0.0


@pytest.mark.parametrize("size", [1, 2, 5, 8, 20])
def test_eigenvectors_are_those_of_the_library(size: int) -> None:
    matrix = dense.random_symmetric(size, seed=size)
    values, rows = symmetric_eigen(matrix)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12)
    np.testing.assert_allclose(rows @ rows.T, np.eye(size), atol=1e-13)
    np.testing.assert_allclose(rows @ matrix @ rows.T, np.diag(values), atol=1e-12)


def test_rounding_does_not_choose_between_equal_rows() -> None:
    plain = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    rng = np.random.default_rng(0)
    _, expected = symmetric_eigen(plain)
    for _ in range(20):
        noise = 1e-15 * rng.normal(size=(3, 3))
        _, rows = symmetric_eigen(plain + noise + noise.T)
        overlap = np.abs(rows @ expected.T)
        np.testing.assert_allclose(overlap[2, 2], 1.0, atol=1e-9)
        np.testing.assert_allclose(rows[0], expected[0], atol=1e-6)


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
    _, basis = local_score(gram, block, drop)
    allowed = np.arange(size) != 1  # coordinate 1 carries no wavelet, if others are enough
    if drop == size or seed == 2:
        allowed[:] = True
    rotation, positions = complete_rotation(basis, drop, allowed, nearest)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(size), atol=1e-10)
    assert positions.tolist() == sorted(set(positions.tolist()))
    assert allowed[positions].all()
    if drop < size:
        assert np.linalg.det(rotation) > 0.0
    wavelets = rotation[positions]
    span = basis[:drop]
    np.testing.assert_allclose(wavelets.T @ wavelets, span.T @ span, atol=1e-10)
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
        nearby = not rest.size or drop == 1 or values[-1] ** 2 >= 1e-3
        expected = dict(zip(rest.tolist(), left @ right, strict=True))
    if not nearest or not nearby:
        expected = matched(basis[drop:], rest)
    for where, row in zip(rest[:-1], survivors[:-1], strict=True):
        np.testing.assert_allclose(row, expected[int(where)], atol=1e-9)
    if rest.size:  # the sign of the last one makes it a rotation
        sign = np.sign(survivors[-1] @ expected[int(rest[-1])])
        np.testing.assert_allclose(survivors[-1], sign * expected[int(rest[-1])], atol=1e-9)


def test_a_wavelet_may_carry_a_coordinate_it_does_not_overlap() -> None:
    allowed = np.array([False, True, False])
    rotation, positions = complete_rotation(np.eye(3), 1, allowed, False)
    assert positions.tolist() == [1]
    assert np.abs(rotation[1]).tolist() == [1.0, 0.0, 0.0]


def test_a_wavelet_on_another_axis_is_turned_to_its_own() -> None:
    # Where no basis is near to the axes a single wavelet still has its rotation in a plane.
    basis = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rotation, positions = complete_rotation(basis, 1, np.array([False, True, False]), True)
    assert positions.tolist() == [1]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) > 0.0
    np.testing.assert_allclose(rotation[2], [0.0, 0.0, 1.0], atol=1e-12)


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
        cost, _ = local_score(
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
