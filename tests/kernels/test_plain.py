"""Kernels that are plain loops, one by one against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import dense
from wavemmf.kernels.basis import basis_rows
from wavemmf.kernels.candidates import (
    comparable,
    insert_sorted,
    pair_cost,
    same_members,
    wavelets_of,
)
from wavemmf.kernels.check import first_violation
from wavemmf.kernels.compress import compress_dense, compress_scratch
from wavemmf.kernels.heap import heap_build, heap_remove, heap_update
from wavemmf.kernels.rotate import TILE, rotate_group, rotate_symmetric
from wavemmf.kernels.split import cut_part, outside_entries
from wavemmf.kernels.vectors import dot, norm


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 23])
def test_inner_products(size: int) -> None:
    x, y = np.random.default_rng(size).normal(size=(2, size))
    assert dot(x, y) == pytest.approx(x @ y, abs=1e-12)
    assert norm(x) == pytest.approx(np.linalg.norm(x), abs=1e-12)


@pytest.mark.parametrize("width", [1, TILE - 1, TILE, TILE + 1, 2 * TILE + 5])
def test_only_the_leading_columns_are_rotated(width: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.normal(size=(6, 2 * TILE + 9))
    rows, block = np.array([4, 0, 3]), dense.random_rotation(3, rng)
    expected = x.copy()
    expected[rows, :width] = block @ x[rows, :width]
    rotate_group(x, rows, block, 3, width, np.empty((3, TILE)))
    np.testing.assert_allclose(x, expected, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17])
def test_rotations_of_rows_and_columns(size: int) -> None:
    rng = np.random.default_rng(size)
    n, active = 24, 20
    a = dense.random_symmetric(n, size, density=0.3)
    rows = rng.permutation(active)[:size]
    block = dense.random_rotation(size, rng)
    u = dense.embedded(block, rows, n)
    expected = a.copy()
    expected[:active, :active] = (u @ a @ u.T)[:active, :active]
    rotate_symmetric(a, rows, block, size, active, np.empty((size, n)), np.empty(n, np.int64))
    np.testing.assert_allclose(a[:active, :active], expected[:active, :active], atol=1e-12)
    np.testing.assert_array_equal(a[:active, :active], a[:active, :active].T)


def test_a_heap_gives_rows_in_order_of_their_keys() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 12, size=30).astype(float)  # with ties
    heap, place = heap_build(keys)
    left = set(range(30))
    for count in range(30, 0, -1):
        assert all(heap[place[row]] == row for row in left)
        below = [(int(heap[(i - 1) // 2]), int(heap[i])) for i in range(1, count)]
        assert all((keys[up], up) <= (keys[down], down) for up, down in below)
        assert heap[0] == min(left, key=lambda row: (keys[row], row))
        changed = int(rng.choice(sorted(left)))
        keys[changed] = float(rng.integers(0, 12))
        heap_update(heap, place, keys, changed, count)
        assert heap[0] == min(left, key=lambda row: (keys[row], row))
        removed = int(rng.choice(sorted(left)))
        heap_remove(heap, place, keys, removed, count)
        left.remove(removed)
        assert place[removed] == -1


# -- the parts of a sparse matrix ---------------------------------------------------------------


def parted_matrix(seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """Make a matrix with few entries between its three parts, and tell the part of every row."""
    rng = np.random.default_rng(seed)
    part = rng.integers(0, 3, size=25)
    inside = part[:, None] == part
    entries = dense.random_symmetric(25, seed, density=0.2)
    between = np.triu(rng.random((25, 25)) < 0.1)
    return sp.csr_array(np.where(inside | between | between.T, entries, 0.0)), part


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_part_is_the_matrix_on_its_rows(number: int, seed: int) -> None:
    matrix, part = parted_matrix(seed)
    order = np.argsort(part, kind="stable")
    first, last = np.searchsorted(part[order], [number, number + 1])
    values, columns, starts, free = cut_part(
        matrix.indptr, matrix.indices, matrix.data, order, np.argsort(order), first, last
    )
    rows, others = np.flatnonzero(part == number), np.flatnonzero(part != number)
    whole = matrix.toarray()
    cut = sp.csr_array((values, columns, starts), shape=(rows.size, rows.size))
    assert cut.has_sorted_indices
    assert cut.nnz == np.count_nonzero(whole[np.ix_(rows, rows)])
    np.testing.assert_array_equal(cut.toarray(), whole[np.ix_(rows, rows)])
    np.testing.assert_array_equal(free, ~whole[np.ix_(rows, others)].any(axis=1))
    assert set(free) == {False, True}


@pytest.mark.parametrize("seed", [0, 1])
def test_entries_between_parts(seed: int) -> None:
    matrix, part = parted_matrix(seed)
    rows, columns, values = outside_entries(matrix.indptr, matrix.indices, matrix.data, part)
    expected = np.where(part[:, None] == part, 0.0, matrix.toarray())
    assert values.size == np.count_nonzero(expected) > 0
    found = sp.coo_array((values, (rows, columns)), shape=matrix.shape)
    np.testing.assert_array_equal(found.toarray(), expected)


# -- candidates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "drop", "count"),
    [(1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 3, 1), (5, 3, 3), (5, 4, 4), (5, 5, 4), (5, 9, 4)],
)
def test_one_row_of_a_group_stays_unless_it_is_alone(size: int, drop: int, count: int) -> None:
    assert wavelets_of(size, drop) == count


def test_partners_are_sorted_behind_the_pivot_and_ties_keep_their_order() -> None:
    rng = np.random.default_rng(0)
    wanted = rng.integers(0, 6, size=15).astype(float)
    keys, members = np.full(16, -1.0), np.full(16, 99)
    for j, key in enumerate(wanted):
        insert_sorted(keys, members, j + 1, key, j)
    order = np.argsort(-wanted, kind="stable")
    np.testing.assert_array_equal(members, [99, *order])
    np.testing.assert_array_equal(keys, [-1.0, *wanted[order]])


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ([3, 1, 2], [2, 3, 1], True),
        ([3, 1, 2], [3, 1, 4], False),
        ([5, 1, 2], [3, 1, 2], False),
        ([1, 2, 7], [2, 1, 8], False),
        ([4], [4], True),
    ],
)
def test_groups_with_the_same_members(first: list[int], second: list[int], same: bool) -> None:
    assert same_members(np.array(first), np.array(second), len(first)) is same
    longer = np.array([*first, 10]), np.array([*second, 11])
    assert same_members(*longer, len(first)) is same  # what follows does not matter


def cost_of_a_pair(gram: np.ndarray, block: np.ndarray) -> float:
    """Find the smallest residual over all angles of the wavelet: a fine grid, then a parabola."""

    def cost(t: float) -> float:
        v = np.array([np.cos(t), np.sin(t)])
        return float(v @ gram @ v - (v @ block @ v) ** 2)

    angles = np.linspace(0.0, np.pi, 2001)
    best = angles[np.argmin([cost(t) for t in angles])]
    around = (best - 2e-3, best + 2e-3)
    found = scipy.optimize.minimize_scalar(
        cost, bounds=around, method="bounded", options={"xatol": 1e-12}
    )
    return max(0.0, float(found.fun))


def pair(gram: np.ndarray, block: np.ndarray, limit: float = np.inf) -> float:
    return float(
        pair_cost(gram[0, 0], gram[0, 1], gram[1, 1], block[0, 0], block[0, 1], block[1, 1], limit)
    )


@pytest.mark.parametrize("seed", range(12))
def test_cost_of_a_pair_is_that_of_its_best_angle(seed: int) -> None:
    a = dense.random_symmetric(4, seed)
    gram, block = (a @ a)[:2, :2], a[:2, :2]
    expected = cost_of_a_pair(gram, block)
    assert pair(gram, block) == pytest.approx(expected, rel=1e-8, abs=1e-12)
    assert pair(gram[::-1, ::-1], block[::-1, ::-1]) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shift", [-3.0, 0.4, 100.0])
def test_cost_of_a_pair_does_not_notice_a_shift(seed: int, shift: float) -> None:
    a = dense.random_symmetric(5, seed)
    moved = a + shift * np.eye(5)
    expected = pair((a @ a)[:2, :2], a[:2, :2])
    found = pair((moved @ moved)[:2, :2], moved[:2, :2])
    assert found == pytest.approx(expected, abs=1e-11 * (1 + shift**2))


def test_costs_above_the_limit_are_only_known_to_be() -> None:
    for seed in range(20):
        a = dense.random_symmetric(5, seed)
        gram, block = (a @ a)[:2, :2], a[:2, :2]
        exact = pair(gram, block)
        assert pair(gram, block, exact * 1.001 + 1e-12) == pytest.approx(exact, abs=1e-12)
        assert exact >= pair(gram, block, exact * 0.5) >= min(exact, exact * 0.5) - 1e-12


def test_two_rows_alone_cost_nothing() -> None:
    for seed in range(20):
        a = dense.random_symmetric(2, seed)
        cost = pair(a @ a, a)
        assert 0.0 <= cost < 1e-12 * np.trace(a @ a)  # rounding does not make it negative
    matching = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert pair(np.eye(2), matching) == 0.0


def test_scores_are_compared_to_nine_digits() -> None:
    for score in (0.1, 3e-7, 0.75):
        assert comparable(score) == comparable(score * (1 + 1e-14))
        assert comparable(score) < comparable(score * (1 + 1e-6))
        assert comparable(score) == pytest.approx(score, rel=1e-7)
    assert comparable(1e-15) == 0.0


# -- all levels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("sizes", [[3], [2, 4, 3, 2], [6, 5, 4, 3, 2], [9, 9, 9, 9]])
def test_basis_rows(sizes: list[int], threshold: float) -> None:
    n = 12
    levels = dense.random_levels(n, sizes, [1] * len(sizes))
    w = levels.basis(n)
    indptr, indices, data, discarded = basis_rows(n, *levels[:4], threshold)
    found = sp.csr_array((data, indices, indptr), shape=(n, n))
    kept = np.abs(w) > threshold
    assert found.nnz == np.count_nonzero(kept)
    np.testing.assert_allclose(found.toarray(), np.where(kept, w, 0.0), atol=1e-13)
    assert discarded == pytest.approx((w[~kept] ** 2).sum(), abs=1e-12)


def test_entries_as_large_as_the_threshold_are_left_out() -> None:
    levels = dense.random_levels(4, [1], [1])
    indptr, indices, data, discarded = basis_rows(4, *levels[:4], 1.0)
    assert discarded == 4.0
    assert indices.size == data.size == indptr.max() == 0


@pytest.mark.parametrize(
    ("sizes", "drops"),
    [
        ([4], [1]),
        ([3, 5, 2], [1, 2, 1]),
        ([9, 8, 7], [3, 3, 3]),
        ([2, 1], [1, 1]),
        ([5, 4], [5, 0]),
    ],
)
def test_what_levels_lose(sizes: list[int], drops: list[int]) -> None:
    n = 12
    levels = dense.random_levels(n, sizes, drops, seed=len(sizes), last_first=True)
    matrix = dense.random_symmetric(n, seed=3, density=0.5)
    rotated, lost = levels.losses(matrix)
    added = compress_dense(matrix, *levels[:5], *compress_scratch(max(sizes), n))
    np.testing.assert_allclose(added, lost, rtol=1e-12, atol=1e-13)
    active = n - sum(drops)
    np.testing.assert_allclose(matrix[:active, :active], rotated[:active, :active], atol=1e-12)
    left = np.arange(n)[active:]  # a later level does not touch the diagonal of a dropped row
    np.testing.assert_allclose(matrix.diagonal()[left], rotated.diagonal()[left], atol=1e-12)


def test_scratch_has_room_for_a_group_and_for_all_rows() -> None:
    for largest, n in ((0, 3), (1, 5), (7, 40)):
        buffer, support = compress_scratch(largest, n)
        assert buffer.shape == (max(largest, 1), TILE)
        assert support.shape == (n,)


VALID = dense.Levels(
    offsets=np.array([0, 3, 5]), groups=np.array([0, 5, 2, 5, 3]),
    block_offsets=np.array([0, 9, 13]), blocks=np.concatenate([np.eye(3).ravel(), [0, 1, -1, 0]]),
    drop_offsets=np.array([0, 2, 3]), wavelets=np.array([0, 2, 5]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "place", "value", "code", "level"),
    [
        ("groups", 1, 6, 1, 0), ("groups", 3, -1, 1, 1), ("groups", 4, 0, 2, 1),
        ("groups", 3, 2, 2, 1), ("groups", 2, 0, 3, 0), ("groups", 4, 5, 3, 1),
        ("wavelets", 1, 3, 4, 0), ("wavelets", 2, 6, 4, 1), ("wavelets", 2, -1, 4, 1),
        ("wavelets", 2, 0, 4, 1), ("wavelets", 1, 0, 5, 0),
    ],
)  # fmt: skip
def test_index_sets_that_break_a_constraint(
    name: str, place: int, value: int, code: int, level: int
) -> None:
    assert first_violation(6, *VALID, 1e-12) == (0, -1, 0.0)
    broken = getattr(VALID, name).copy()
    broken[place] = value
    found = first_violation(6, *VALID._replace(**{name: broken}), 1e-12)
    assert found == (code, level, value)


@pytest.mark.parametrize(
    ("place", "value", "level", "deviation"),
    [
        (0, 1.5, 0, 1.25), (8, 0.0, 0, 1.0), (1, 0.25, 0, 0.25), (2, -0.5, 0, 0.5),
        (3, -0.5, 0, 0.5), (10, 1.5, 1, 1.25), (12, 0.125, 1, 0.125),
    ],
)  # fmt: skip
def test_blocks_that_are_not_orthogonal(
    place: int, value: float, level: int, deviation: float
) -> None:
    blocks = VALID.blocks.copy()
    blocks[place] = value
    broken = VALID._replace(blocks=blocks)
    assert first_violation(6, *broken, 0.9 * deviation) == (6, level, deviation)
    assert first_violation(6, *broken, deviation) == (0, -1, 0.0)
    blocks[place] = np.nan
    code, where, detail = first_violation(6, *broken, deviation)
    assert (code, where) == (6, level)
    assert np.isnan(detail)
