"""Kernels on sparse rows, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dense
from sparse_runs import Rows, SparseGreedy
from wavemmf.kernels.candidates import wavelets_of
from wavemmf.kernels.local import local_score
from wavemmf.kernels.partners_sparse import LITTLE
from wavemmf.kernels.sparse_rotation import gather_rows, union_of_rows, write_back
from wavemmf.kernels.sparse_rows import (
    find_entry,
    remove_entry,
    rows_from_csr,
    rows_to_csr,
    set_entry,
)


def test_rows_of_a_matrix_and_back() -> None:
    matrix = dense.random_symmetric(12, density=0.2)
    matrix[3] = matrix[:, 3] = 0.0
    rows = Rows(matrix)
    np.testing.assert_array_equal(rows.toarray(), matrix)
    assert (rows.room > rows.length).all()  # there is room to grow
    kept = np.delete(np.arange(12), 3)
    data, indices, indptr = rows_to_csr(rows.columns, rows.values, rows.start, rows.length, kept)
    again = sp.csr_array((data, indices, indptr), shape=(11, 11))
    assert again.nnz == np.count_nonzero(matrix)
    np.testing.assert_array_equal(again.toarray(), matrix[np.ix_(kept, kept)])


def test_entries_are_found_where_they_are_or_would_be() -> None:
    matrix = np.zeros((3, 20))
    matrix[1, [2, 5, 6, 11, 19]] = 1.0
    csr = sp.csr_array(matrix)
    columns, _, start, length, _, _ = rows_from_csr(csr.indptr, csr.indices, csr.data)
    for column in range(20):
        at = find_entry(columns, start, length, 1, column)
        assert at - start[1] == np.searchsorted([2, 5, 6, 11, 19], column)
    assert find_entry(columns, start, length, 0, 4) == start[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_entries_come_and_go(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected = dense.random_symmetric(9, seed, density=0.15)
    rows = Rows(expected)
    sizes = {rows.columns.size}
    for step in range(300):
        row, column = (int(i) for i in rng.integers(9, size=2))
        if rng.random() < (0.2 if step < 200 else 0.7):
            remove_entry(rows.columns, rows.values, rows.start, rows.length, rows.room, row, column)
            expected[row, column] = 0.0
        else:
            rows.make_room(row, int(rows.length[row]) + 1 + 3 * (step % 7 == 0))
            expected[row, column] = rng.normal()
            set_entry(
                rows.columns, rows.values, rows.start, rows.length, row, column,
                expected[row, column],
            )  # fmt: skip
        sizes.add(rows.columns.size)
        np.testing.assert_array_equal(rows.toarray(), expected)
    assert len(sizes) > 1  # the arena was repacked


def test_room_is_made_only_where_it_is_needed() -> None:
    rows = Rows(dense.random_symmetric(6, density=0.5))
    before, place = rows.used, rows.start.copy()
    rows.make_room(2, int(rows.room[2]))
    assert rows.used == before
    needed = int(rows.room[2]) + 1
    rows.make_room(2, needed)
    assert rows.room[2] >= needed
    assert rows.start[2] == before  # behind all others
    np.testing.assert_array_equal(np.delete(rows.start, 2), np.delete(place, 2))


# -- rotations of sparse rows -------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.0, 0.3])
@pytest.mark.parametrize("drop", [0, 1, 2])
def test_rotated_rows_are_written_back(tolerance: float, drop: int) -> None:
    n, rng = 14, np.random.default_rng(drop)
    matrix = dense.random_symmetric(n, seed=drop, density=0.2)
    group = np.array([9, 2, 5, 12])
    leaving = np.arange(4) < drop
    arena = Rows(matrix)
    slot, union = np.full(n, -1), np.empty(n, np.int64)
    width = union_of_rows(arena.columns, arena.start, arena.length, group, slot, union)
    met = np.flatnonzero(matrix[group].any(axis=0))
    assert union[:4].tolist() == group.tolist()
    assert sorted(union[:width]) == sorted({*group.tolist(), *met.tolist()})
    np.testing.assert_array_equal(slot[union[:width]], np.arange(width))
    assert np.count_nonzero(slot >= 0) == width
    gathered = gather_rows(
        arena.columns, arena.values, arena.start, arena.length, group, slot, width
    )
    np.testing.assert_array_equal(gathered, matrix[np.ix_(group, union[:width])])

    u = dense.embedded(dense.random_rotation(4, rng), group, n)
    expected = u @ matrix @ u.T
    expected = 0.5 * (expected + expected.T)
    rotated = np.ascontiguousarray(expected[np.ix_(group, union[:width])])
    energy = (matrix**2).sum(axis=1)
    arena.columns, arena.values, arena.used, lost = write_back(
        arena.columns, arena.values, arena.start, arena.length, arena.room, arena.used,
        energy, group, leaving, rotated, union, width, slot, tolerance,
    )  # fmt: skip
    gone = group[leaving]
    arena.length[gone] = 0
    expected[gone] = expected[:, gone] = 0.0
    found = arena.toarray()
    np.testing.assert_array_equal(found, found.T)
    kept = np.isclose(found, expected, atol=1e-12)
    assert (found[~kept] == 0.0).all()
    discarded = np.where(kept, 0.0, expected)
    assert lost == pytest.approx((discarded**2).sum(), abs=1e-12)
    assert discarded.any() == (tolerance > 0)
    assert not discarded[np.ix_(group, group)].any()
    norms = np.linalg.norm(expected, axis=1)
    where = np.argwhere(discarded)
    for i, j in where:
        assert abs(discarded[i, j]) <= tolerance * min(norms[i], norms[j])
    small = np.abs(expected) <= 0.5 * tolerance * np.minimum.outer(norms, norms)
    turned = np.isin(np.arange(n), group)
    small &= turned[:, None] ^ turned
    assert (found[small] == 0.0).all()
    others = np.setdiff1d(np.arange(n), group)
    np.testing.assert_allclose(energy[others], (found[others] ** 2).sum(axis=1), atol=1e-12)
    staying = group[~leaving]
    np.testing.assert_allclose(energy[staying], norms[staying] ** 2, atol=1e-12)


# -- greedy selection ---------------------------------------------------------------------------


SHAPES = [(2, 1, True), (2, 1, False), (3, 1, False), (4, 2, False), (5, 4, False)]


@pytest.mark.parametrize(("k", "drop", "pairwise"), SHAPES)
@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("frozen", [0, 5])
def test_what_is_left_is_the_rotated_matrix(
    k: int, drop: int, pairwise: bool, nearest: bool, frozen: int
) -> None:
    n, core = 16, 2
    matrix = dense.random_symmetric(n, seed=k, density=0.12)
    run = SparseGreedy(matrix, np.arange(n) >= frozen, k, drop)
    run.score(pairwise)
    assert np.isinf(run.scores[:frozen]).all()
    before = run.active
    while run.active > core:
        run.take(core, pairwise, nearest, 0.0, 1)
        if run.active == before:
            break
        before = run.active
        levels = run.levels()
        rotated, added = levels.losses(matrix)
        gone = levels.wavelets
        assert gone.min() >= frozen
        assert levels.groups.min() >= frozen
        assert run.lost[0] == pytest.approx(sum(added), abs=1e-10)
        assert run.lost[1] == 0.0
        np.testing.assert_allclose(run.diagonal[gone], rotated.diagonal()[gone], atol=1e-10)
        rotated[gone] = rotated[:, gone] = 0.0
        np.testing.assert_allclose(run.rows.toarray(), rotated, atol=1e-10)
        left = np.setdiff1d(np.arange(n), gone)
        np.testing.assert_allclose(run.energy[left], (rotated[left] ** 2).sum(axis=1), atol=1e-10)
        assert sorted(run.heap[: run.active]) == left.tolist()
        check_cost(levels, matrix, added)
    assert run.active == max(core, frozen)


def check_cost(levels: dense.Levels, matrix: np.ndarray, added: list[float]) -> None:
    """Check that the last level dropped the best eigenvectors of its group."""
    n, last = len(matrix), len(added) - 1
    current = matrix
    for u in levels.matrices(n)[:last]:
        current = u @ current @ u.T
    active = np.setdiff1d(np.arange(n), levels.wavelets[: levels.drop_offsets[last]])
    group = levels.group(last)
    square = current[np.ix_(group, active)] @ current[np.ix_(active, group)]
    cost, _ = local_score(
        square, np.ascontiguousarray(current[np.ix_(group, group)]), levels.dropped(last).size
    )
    assert added[last] == pytest.approx(2 * cost, abs=1e-9)


def test_levels_one_by_one_are_those_of_one_call() -> None:
    matrix = dense.random_symmetric(20, seed=3, density=0.1)
    runs = [SparseGreedy(matrix, np.ones(20, bool), 3, 1) for _ in range(2)]
    for run in runs:
        run.score(False)
    runs[0].take(3, False, True, 1e-3, 100)
    while runs[1].active > 3:
        runs[1].take(3, False, True, 1e-3, 1)
    assert runs[0].active == 3
    np.testing.assert_array_equal(runs[0].blocks, runs[1].blocks)
    np.testing.assert_array_equal(runs[0].lost, runs[1].lost)


def test_what_is_discarded_bounds_the_change_of_the_matrix() -> None:
    matrix = dense.random_symmetric(20, seed=4, density=0.15)
    run = SparseGreedy(matrix, np.ones(20, bool), 4, 1)
    run.score(False)
    run.take(8, False, False, 0.1, 100)
    levels = run.levels()
    rotated, _ = levels.losses(matrix)
    left = np.setdiff1d(np.arange(20), levels.wavelets)
    change = (rotated - run.rows.toarray())[np.ix_(left, left)]
    assert 0.0 < np.linalg.norm(change) <= run.lost[1]


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (3, 1), (5, 3)])
@pytest.mark.parametrize("shift", [0.0, 0.8])
def test_scores_are_costs_of_the_groups_tried(k: int, drop: int, shift: float) -> None:
    matrix = dense.random_symmetric(15, seed=5, density=0.15) + shift * np.eye(15)
    gram = matrix @ matrix
    free = np.arange(15) % 4 != 1
    run = SparseGreedy(matrix, free, k, drop)
    run.shift = shift
    run.score(False)
    for p in range(15):
        group = run.groups[p, : run.sizes[p]]
        assert free[group].all()
        assert free[p] == (p in group)
        if not free[p]:
            assert run.scores[p] == np.inf
            continue
        count, block = wavelets_of(group.size, drop), np.ix_(group, group)
        best = local_score(gram[block], matrix[block], count)[0] / count
        most = dense.cost_of_eigenvectors(gram[block], matrix[block], count) / count
        if count == 1:  # an estimate from above, no worse than an eigenvector
            assert best - 1e-6 <= run.scores[p] <= most + 1e-6
        else:
            assert run.scores[p] == pytest.approx(most, abs=1e-6)


def test_groups_have_the_rows_most_parallel_to_their_pivot() -> None:
    matrix = dense.random_symmetric(15, seed=5, density=0.3)
    gram, free = matrix @ matrix, np.ones(15, bool)
    run = SparseGreedy(matrix, free, 3, 1)
    run.score(False)
    for p in range(15):
        heavy = matrix[p] ** 2 >= LITTLE**2 * gram[p, p]
        row = np.where(heavy, matrix[p], 0.0) @ matrix  # entries of little weight find no partners
        partners = [j for j in np.flatnonzero(np.abs(row) > 1e-12) if j != p]
        group = [p, *sorted(partners, key=lambda j: -(row[j] ** 2) / gram[j, j])][:3]
        assert run.groups[p, :3].tolist() == group


def test_pairs_are_tried_by_their_true_cost() -> None:
    matrix = dense.random_symmetric(13, seed=6, density=0.12)
    matrix[7] = matrix[:, 7] = 0.0
    matrix[7, 7] = 2.0
    gram, free = matrix @ matrix, np.arange(13) != 4
    run = SparseGreedy(matrix, free, 2, 1)
    run.score(True)
    for p in np.flatnonzero(free):
        costs = {}
        for j in np.flatnonzero(free & (gram[p] != 0.0)):
            if j != p:
                block = np.ix_([p, j], [p, j])
                costs[j] = local_score(gram[block], matrix[block], 1)[0]
        alone = gram[p, p] - matrix[p, p] ** 2
        assert run.scores[p] == pytest.approx(min(costs.values(), default=alone), rel=1e-8)
        assert run.sizes[p] == (2 if costs else 1)
        assert run.groups[p, 0] == p
        if costs:
            assert costs[run.groups[p, 1]] == pytest.approx(run.scores[p], rel=1e-8)


def test_rows_that_cancel_are_no_partners_of_a_pivot() -> None:
    run = SparseGreedy(dense.ORTHOGONAL, np.ones(4, bool), 3, 1)
    run.score(False)
    assert run.sizes.tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(run.scores, 2.0)
