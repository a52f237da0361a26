"""Episodes of index selection, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dense
from wavemmf.kernels.candidates import wavelets_of
from wavemmf.kernels.episode import (
    SIGNIFICANT,
    advance,
    clear_rows,
    score_dirty,
    shortlist,
    take_level,
)
from wavemmf.kernels.episode_sparse import pick_disjoint, rotate_groups, score_rows
from wavemmf.kernels.local import complete_rotation, local_score, quick_score
from wavemmf.kernels.rotate import TILE


class Episodes:
    """Three episodes that start from the same matrix."""

    def __init__(self, matrix: np.ndarray, k: int, drop: int, scored: bool) -> None:
        n, count = len(matrix), 3
        self.matrix, self.k, self.drop, self.scored = matrix, k, drop, scored
        gram = matrix @ matrix
        self.matrices, self.masks = np.array([matrix] * count), np.ones((count, n), bool)
        self.grams, self.energies = np.array([gram] * count), np.array([np.diag(gram)] * count)
        self.groups, self.sizes = np.zeros((count, n, k), np.int64), np.zeros((count, n), np.int64)
        self.scores, self.neighbors = np.zeros((count, n)), np.zeros((count, n), np.int64)
        self.dirty = np.ones((count, n), bool)
        self.noises, self.random = np.zeros(count), np.arange(count).astype(np.uint64)
        self.levels: list[tuple[np.ndarray, ...]] = []
        self.state = (
            self.matrices, self.masks, self.grams, self.energies, self.groups, self.sizes,
            self.scores, self.neighbors, self.dirty, self.noises, self.random,
        )  # fmt: skip
        if scored:
            score_dirty(*self.state, drop, 0.0, n, 0, 3)

    def take(
        self, actions: list[list[int]], count: int, anywhere: bool, nearest: bool, first: int = 0
    ) -> tuple[np.ndarray, ...]:
        """Take a level in the episodes from `first` on; return groups, sizes, and so on."""
        padded = np.full((3, self.k), -1)
        self.marked = np.tile(np.arange(self.k) < count, (3, 1))
        for episode, action in enumerate(actions):
            padded[episode, : len(action)] = action
        outputs = (
            np.full((3, self.k), -1), np.full(3, -1), np.full((3, self.drop), -1),
            np.full((3, self.k, self.k), np.nan), np.full(3, np.nan),
        )  # fmt: skip
        advance(
            *self.state, padded, self.marked, count, self.drop, anywhere, self.scored, nearest,
            0.0, len(self.matrix), *outputs, first, 3,
        )  # fmt: skip
        return outputs


def expected_level(
    matrix: np.ndarray, rows: np.ndarray, count: int, anywhere: bool, nearest: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation of a group, and its wavelets."""
    allowed = np.ones(rows.size, bool) if anywhere else np.arange(rows.size) < count
    square, block = np.ix_(rows, rows), np.ascontiguousarray(matrix[np.ix_(rows, rows)])
    _, basis = local_score((matrix @ matrix)[square], block, count)
    rotation, places = complete_rotation(basis, count, allowed, nearest)
    return rotation, rows[places]


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("nearest", [False, True])
def test_levels_of_several_episodes(scored: bool, anywhere: bool, nearest: bool) -> None:
    n, k, drop = 10, 4, 2
    matrix = dense.random_symmetric(n, seed=1)
    run = Episodes(matrix, k, drop, scored)
    rng = np.random.default_rng(0)
    current = [matrix.copy() for _ in range(3)]
    for count in (1, 2, 2):
        actions = [rng.permutation(np.flatnonzero(mask))[:k].tolist() for mask in run.masks]
        actions[1] = actions[1][:3]
        before = [run.matrices[0].copy(), run.scores[0].copy(), run.groups.copy()]
        groups, sizes, wavelets, blocks, costs = run.take(
            actions, count, anywhere, nearest, first=1
        )
        np.testing.assert_array_equal(run.matrices[0], before[0])  # it was not its turn
        np.testing.assert_array_equal(run.scores[0], before[1])
        for b in (1, 2):
            rows = np.array(actions[b])
            rotation, dropped = expected_level(current[b], rows, count, anywhere, nearest)
            size = rows.size
            assert sizes[b] == size
            assert groups[b, :size].tolist() == actions[b]
            assert wavelets[b, :count].tolist() == dropped.tolist()
            np.testing.assert_allclose(blocks[b, :size, :size], rotation, atol=1e-8)
            u = dense.embedded(rotation, rows, n)
            rotated = u @ current[b] @ u.T
            assert costs[b] == pytest.approx(dense.squared_loss(rotated, dropped), abs=1e-8)
            rotated[dropped] = rotated[:, dropped] = 0.0
            current[b] = rotated
            np.testing.assert_allclose(run.matrices[b], rotated, atol=1e-8)
            assert not run.masks[b, dropped].any()
            if scored:
                check_scores(run, b, np.isin(before[2][b], rows).any(axis=1))
    assert run.masks.sum(axis=1).tolist() == [10, 5, 5]


def check_scores(run: Episodes, b: int, touched: np.ndarray) -> None:
    """Check the Gram matrix of an episode, and the scores of groups that were touched."""
    matrix, active = run.matrices[b], np.flatnonzero(run.masks[b])
    gram = matrix @ matrix
    np.testing.assert_allclose(run.grams[b], gram, atol=1e-6)
    np.testing.assert_allclose(run.energies[b], np.diag(gram), atol=1e-6)
    assert not run.dirty[b, active].any()
    assert not run.sizes[b, ~run.masks[b]].any()
    for p in active[touched[active]]:
        group = run.groups[b, p, : run.sizes[b, p]]
        assert group[0] == p
        assert run.masks[b, group].all()
        count, square = wavelets_of(group.size, run.drop), np.ix_(group, group)
        cost = quick_score(gram[square], np.ascontiguousarray(matrix[square]), count) / count
        assert run.scores[b, p] == pytest.approx(cost, abs=1e-5)


@pytest.mark.parametrize("k", [2, 4, 12])
def test_groups_and_neighbors_of_pivots(k: int) -> None:
    matrix = dense.random_symmetric(11, seed=2, density=0.2)
    matrix[:3] *= 1e-2  # correlated with others, but hardly
    matrix[:, :3] *= 1e-2
    matrix[8] = matrix[:, 8] = 0.0
    run = Episodes(matrix, k, 1, scored=False)
    gram = matrix @ matrix
    energy = np.diag(gram)
    run.masks[1, 4] = False
    run.dirty[1, 5] = False
    score_dirty(*run.state, 1, 0.0, 11, 1, 2)
    assert run.dirty[1].tolist() == [p == 4 for p in range(11)]
    assert run.dirty[[0, 2]].all()
    assert not run.sizes[[0, 2]].any()
    for p in range(11):
        partners = [j for j in range(11) if j != p and gram[p, j] != 0.0]
        cosine = {j: gram[p, j] ** 2 / (energy[j] * energy[p]) for j in partners}
        found = run.groups[1, p, : run.sizes[1, p]].tolist()
        if p in (4, 5):
            assert found == []
            continue
        assert found[0] == p
        assert set(found[1:]) <= set(range(11)) - {p}
        assert run.neighbors[1, p] == sum(c > SIGNIFICANT for c in cosine.values())
        # The greedy selector's group: its score is its own, and no other measure has a lower one.
        correlated = [p, *sorted(partners, key=lambda j: -cosine[j])][:k]
        cost, plain = (cost_of(matrix, gram, group, k) for group in (found, correlated))
        assert run.scores[1, p] == pytest.approx(cost, abs=1e-8)
        assert run.scores[1, p] <= plain + 1e-8


def cost_of(matrix: np.ndarray, gram: np.ndarray, group: list[int], k: int) -> float:
    """Return what the wavelet of a group costs, as pivots are ranked."""
    square = np.ix_(group, group)
    block = np.ascontiguousarray(matrix[square])
    if k == 2:  # pairs are solved exactly
        return float(local_score(gram[square], block, 1)[0])
    return float(quick_score(gram[square], block, 1))


@pytest.mark.parametrize("few", [1, 3, 20])
def test_only_the_lowest_scores_are_kept_up_to_date(few: int) -> None:
    matrix = dense.random_symmetric(12, seed=9)
    run, whole = (Episodes(matrix, 4, 1, scored=True) for _ in range(2))
    stale = run.scores[0] * np.linspace(0.5, 1.0, 12)  # no higher than they are
    run.scores[0], run.dirty[0] = stale, True
    score_dirty(*run.state, 1, 0.0, few, 0, 1)
    fresh = ~run.dirty[0]
    np.testing.assert_allclose(run.scores[0, fresh], whole.scores[0, fresh])
    np.testing.assert_array_equal(run.scores[0, ~fresh], stale[~fresh])
    lowest = np.argsort(whole.scores[0], kind="stable")[: min(few, 12)]
    assert shortlist(run.scores[0], run.masks[0], few)[: lowest.size].tolist() == lowest.tolist()
    assert fresh[lowest].all()


def test_shortlist() -> None:
    scores = np.array([3.0, 1.0, 2.0, 1.0, 0.0])
    mask = np.array([True, True, True, True, False])
    assert shortlist(scores, mask, 2).tolist() == [1, 3]
    assert shortlist(scores, mask, 3).tolist() == [1, 3, 2]
    assert shortlist(scores, mask, 6).tolist() == [1, 3, 2, 0, -1, -1]


def test_noise_on_correlations() -> None:
    matrix = dense.random_symmetric(14, seed=10)
    runs = [Episodes(matrix, 4, 1, scored=False) for _ in range(2)]
    for run in runs:
        run.noises[1:] = 1.0
        score_dirty(*run.state, 1, 0.0, 14, 0, 3)
    np.testing.assert_array_equal(runs[0].groups, runs[1].groups)
    plain, first, second = runs[0].groups
    assert (first != plain).any()
    assert (first != second).any()


def test_members_orthogonal_to_the_pivot_leave_the_group() -> None:
    matrix = np.zeros((8, 8))
    matrix[:4, :4], matrix[4:, 4:] = (dense.random_symmetric(4, seed) for seed in (3, 4))
    run = Episodes(matrix, 5, 2, scored=True)
    groups, sizes, _, _, _ = run.take(
        [[0, 5, 1, 6, 2], [0, 5, 6, 7, 4], [0, 2, 3, 1]], 2, True, True
    )
    assert groups[0, : sizes[0]].tolist() == [0, 5, 1, 2]  # the leading two always stay
    assert groups[1, : sizes[1]].tolist() == [0, 5]
    assert groups[2, : sizes[2]].tolist() == [0, 2, 3, 1]
    blind = Episodes(matrix, 5, 2, scored=False)
    groups, sizes, _, _, _ = blind.take([[0, 5, 1, 6, 2]] * 3, 2, True, True)
    assert groups[0, : sizes[0]].tolist() == [0, 5, 1, 6, 2]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_level_of_one_matrix(count: int) -> None:
    matrix = dense.random_symmetric(9, seed=5, density=0.7)
    rows = np.array([6, 1, 4, 8])
    rotation, dropped = expected_level(matrix, rows, count, True, False)
    u = dense.embedded(rotation, rows, 9)
    rotated = u @ matrix @ u.T
    found, places, cost = take_level(
        matrix, rows, np.ones(4, bool), count, False, np.empty((4, TILE)), np.empty(9, np.int64)
    )
    np.testing.assert_allclose(found, rotation, atol=1e-9)
    assert rows[places].tolist() == dropped.tolist()
    np.testing.assert_allclose(matrix, rotated, atol=1e-9)  # dropped rows are still there
    assert cost == pytest.approx(dense.squared_loss(rotated, dropped), abs=1e-9)


def test_rows_and_columns_are_cleared() -> None:
    matrix = dense.random_symmetric(7, seed=6, density=0.6)
    expected = matrix.copy()
    expected[[2, 5]] = expected[:, [2, 5]] = 0.0
    clear_rows(matrix, np.array([5, 2]))
    np.testing.assert_array_equal(matrix, expected)


# -- rounds of many groups ----------------------------------------------------------------------


@pytest.mark.parametrize(("width", "k", "drop"), [(3, 3, 1), (6, 4, 2), (14, 3, 1)])
def test_pivots_of_a_round(width: int, k: int, drop: int) -> None:
    n = 15
    matrix = dense.random_symmetric(n, seed=7, density=0.12)
    matrix[:3] *= 1e-2  # correlated, but hardly
    matrix[:, :3] *= 1e-2
    csr, gram = sp.csr_array(matrix), matrix @ matrix
    energy = np.diag(gram).copy()
    pivots = np.array([0, 4, 2, 9, 14, 7])
    candidates, cosines = np.full((n, width), -1), np.full((n, width), np.nan)
    sizes, scores, neighbors = np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64)
    outputs = (candidates, cosines, sizes, scores, neighbors)
    score_rows(csr.indptr, csr.indices, csr.data, energy, k, drop, *outputs, pivots, 1, 5)
    score_rows(csr.indptr, csr.indices, csr.data, energy, k, drop, *outputs, pivots, 0, 1)
    untouched = np.setdiff1d(np.arange(n), pivots[:5])
    assert not sizes[untouched].any()
    for p in pivots[:5]:
        cosine = gram[p] ** 2 / (energy * energy[p] + (energy * energy[p] == 0))
        partners = [j for j in range(n) if j != p and gram[p, j] != 0.0]
        order = [p, *sorted(partners, key=lambda j: -cosine[j])][:width]
        assert candidates[p, : sizes[p]].tolist() == order
        np.testing.assert_allclose(cosines[p, : sizes[p]], cosine[order], rtol=1e-9)
        assert neighbors[p] == np.count_nonzero(cosine[partners] > SIGNIFICANT)
        block = np.ix_(order[:k], order[:k])
        count = wavelets_of(len(order[:k]), drop)
        expected = local_score(gram[block], matrix[block], count)[0] / count
        assert scores[p] == pytest.approx(expected, abs=1e-12)


def test_products_that_cancel_make_no_partners() -> None:
    csr = sp.csr_array(dense.ORTHOGONAL)
    candidates, cosines = np.full((4, 4), -1), np.zeros((4, 4))
    counts = (np.zeros(4, np.int64), np.zeros(4), np.zeros(4, np.int64))
    score_rows(
        csr.indptr, csr.indices, csr.data, np.full(4, 2.0), 2, 1, candidates, cosines, *counts,
        np.arange(4), 0, 4,
    )  # fmt: skip
    assert counts[0].tolist() == [1, 1, 1, 1]
    assert counts[2].tolist() == [0, 0, 0, 0]


def test_groups_taken_do_not_meet() -> None:
    groups = np.array([[3, 1, 9], [1, 2, 0], [4, 5, 3], [6, 7, 3], [2, 0, 0], [8, 7, 0]])
    sizes = np.array([2, 2, 2, 3, 1, 1])
    assert pick_disjoint(groups, sizes, 10, 9).tolist() == [0, 2, 4, 5]
    assert pick_disjoint(groups, sizes, 10, 4).tolist() == [0, 2, 4, 5]
    assert pick_disjoint(groups, sizes, 10, 2).tolist() == [0, 2]


@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("nearest", [False, True])
def test_rotations_of_a_round(anywhere: bool, nearest: bool) -> None:
    matrix = dense.random_symmetric(12, seed=8, density=0.3)
    csr, gram = sp.csr_array(matrix), matrix @ matrix
    groups = np.array([[0, 5, 3, 7], [1, 2, 4, 0], [6, 8, 9, 10], [11, 0, 0, 0]])
    sizes, drops = np.array([4, 3, 4, 1]), np.array([2, 1, 3, 1])
    wavelets, blocks = np.full((4, 3), -1), np.full((4, 4, 4), np.nan)
    rotate_groups(
        csr.indptr, csr.indices, csr.data, np.diag(gram).copy(), groups, sizes, drops,
        anywhere, nearest, wavelets, blocks, 1, 4,
    )  # fmt: skip
    assert np.isnan(blocks[0]).all()
    for g in range(1, 4):
        size, count = sizes[g], drops[g]
        rows = groups[g, :size]
        block = np.ascontiguousarray(matrix[np.ix_(rows, rows)])
        _, basis = local_score(gram[np.ix_(rows, rows)], block, count)
        allowed = np.ones(size, bool) if anywhere else np.arange(size) < count
        rotation, places = complete_rotation(basis, count, allowed, nearest)
        np.testing.assert_allclose(blocks[g, :size, :size], rotation, atol=1e-9)
        assert wavelets[g, :count].tolist() == rows[places].tolist()
