"""The steps of greedy selection on a dense matrix, one by one against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

import dense
from wavemmf.kernels.candidates import CENTRED, HEAVY, comparable
from wavemmf.kernels.greedy_dense import (
    NEGLIGIBLE,
    NOTICEABLE,
    Choice,
    _best_pivot,
    _downdate_gram,
    _given_rows,
    _mark_touched,
    _move_last,
    move_last_row,
)
from wavemmf.kernels.local import local_score, quick_score, quick_wavelet
from wavemmf.kernels.noise import seeded
from wavemmf.kernels.pivots import (
    _best_partner,
    _fill_up,
    _most_correlated,
    _perturbed,
    _score_group,
    new_memory,
)
from wavemmf.kernels.regrow import (
    _grown,
    _most_used,
    components,
    exchange_rows,
    is_axis,
    with_heaviest,
)


def test_where_given_rows_are() -> None:
    labels = np.array([4, 0, 3, 1, 2])
    groups, sizes = np.array([[3, 4, 1], [0, 2, 9], [0, 0, 0]]), np.array([3, 2, 1])
    assert _given_rows(labels, 4, groups, sizes, 0).tolist() == [2, 0, 3]
    assert _given_rows(labels, 3, groups, sizes, 0).tolist() == []  # row 1 was dropped
    assert _given_rows(labels, 5, groups, sizes, 1).tolist() == [1, 4]
    assert _given_rows(labels, 4, groups, sizes, 1).tolist() == []
    assert _given_rows(labels, 5, groups, sizes, 2).tolist() == [1]
    assert _given_rows(labels, 5, groups, sizes, 3).tolist() == []


PLAIN = Choice(1, False, False, 0.0, 0.0, 0.0, False)


def most_correlated(
    p: int,
    matrix: np.ndarray,
    gram: np.ndarray,
    active: int,
    k: int,
    choice: Choice,
    rng: np.ndarray,
) -> list[list[int]]:
    """Return the groups of a pivot by the three measures."""
    groups, lengths = np.full((3, k), -1), np.zeros(3, np.int64)
    _most_correlated(p, matrix, gram, np.diag(gram).copy(), active, choice, rng, groups, lengths)
    return [group[:size].tolist() for group, size in zip(groups, lengths, strict=True)]


@pytest.mark.parametrize("k", [2, 3, 6, 12])
@pytest.mark.parametrize("p", [0, 4, 8])
@pytest.mark.parametrize("shift", [0.0, 0.6])
def test_most_correlated_rows(k: int, p: int, shift: float) -> None:
    centred = dense.random_symmetric(10, seed=2, density=0.35)
    centred[6] = centred[:, 6] = 0.0
    matrix = centred + shift * np.eye(10)
    active = 9
    found = most_correlated(
        p, matrix, matrix @ matrix, active, k, PLAIN._replace(shift=shift), seeded(0)
    )
    for measure, rows in enumerate(found):
        measured = centred if measure == CENTRED else matrix
        gram = measured @ measured
        partners = [j for j in range(active) if j != p and abs(gram[p, j]) > 1e-12]
        assert len(rows) == min(k, 1 + len(partners))
        length = np.ones(10) if measure == HEAVY else np.diag(gram)
        key = {j: -(gram[p, j] ** 2) / length[j] for j in partners}
        assert rows == [p, *sorted(partners, key=key.__getitem__)][:k]


def test_groups_are_completed_by_rows_correlated_with_their_members() -> None:
    path = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1) + 0.9 * np.eye(10)
    gram = path @ path
    group = np.full(6, -1)
    group[:3] = 0, 1, 2
    assert _fill_up(path, gram, np.diag(gram).copy(), 10, 0.0, group, 3) == 6
    assert group.tolist()[:4] == [0, 1, 2, 3]
    assert sorted(group) == [0, 1, 2, 3, 4, 5]
    alone = np.array([0, -1])
    assert _fill_up(np.eye(3), np.eye(3), np.ones(3), 3, 0.0, alone, 1) == 1


def test_rows_without_energy_are_no_partners() -> None:
    matrix = np.diag([1.0, 0.0, 0.0])
    assert most_correlated(0, matrix, matrix @ matrix, 3, 3, PLAIN, seeded(0)) == [[0]] * 3


def test_of_rows_that_are_as_good_the_first_are_taken() -> None:
    ones = np.ones((9, 9))
    assert most_correlated(2, ones, ones @ ones, 9, 4, PLAIN, seeded(0)) == [[2, 0, 1, 3]] * 3


def test_noise_on_correlations_is_normal_in_their_logarithm() -> None:
    # Row 1 wins over row 2 if log(e) + N > N', which has the probability Phi(1 / sqrt(2)).
    gram = np.ones((3, 3))
    gram[0, 1] = np.e
    rng, wins = seeded(0), np.zeros(3)
    noisy = PLAIN._replace(correlation_noise=1.0)
    for _ in range(2000):
        wins += [group[1] == 1 for group in most_correlated(0, gram, gram, 3, 2, noisy, rng)]
    np.testing.assert_allclose(wins / 2000, 0.7602, atol=0.03)


def cost_of(matrix: np.ndarray, rows: np.ndarray, wavelet: np.ndarray) -> float:
    """Find what a wavelet on some rows leaves in the others, squared."""
    image = matrix[:, rows] @ wavelet
    return float(image @ image - (wavelet @ image[rows]) ** 2)


def test_rows_the_wavelet_leaks_into_take_the_place_of_those_it_does_not_use() -> None:
    better = 0
    for seed in range(20):
        matrix = dense.random_symmetric(9, seed, density=0.5)
        gram, rows = matrix @ matrix, np.array([0, 1, 2, 3])
        square = np.ix_(rows, rows)
        score, basis = local_score(gram[square], matrix[square], 1)
        changed, turned = exchange_rows(matrix, gram, rows, score, basis, 9, 4)
        after = cost_of(matrix, changed, turned[0])
        assert changed.size <= 4
        assert after <= score + 1e-12
        assert sorted(set(changed.tolist())) == sorted(changed.tolist())
        better += after < 0.99 * score
    assert better > 5


def test_the_rows_a_wavelet_uses_most_are_kept_in_their_order() -> None:
    rows, wavelet = np.array([7, 2, 9, 4, 5]), np.array([0.1, -0.7, 0.3, -0.1, 0.6])
    kept = [_most_used(rows, wavelet, count).tolist() for count in range(6)]
    assert kept == [[], [2], [2, 5], [2, 9, 5], [2, 9, 4, 5], [7, 2, 9, 4, 5]]


@pytest.mark.parametrize("k", [2, 4, 7, 12])
def test_groups_grow_by_the_rows_their_wavelet_leaks_into(k: int) -> None:
    for seed in range(5):
        matrix = dense.random_symmetric(11, seed, density=0.4)
        active = 9
        square = matrix[:active, :active]
        gram = np.full((11, 11), np.nan)
        gram[:active, :active] = square @ square
        rows, cost, wavelet = _grown(matrix, gram, np.array([4, 1]), active, k)
        assert rows[:2].tolist() == [4, 1]
        assert rows.max() < active
        assert np.unique(rows).size == rows.size <= k
        assert cost == pytest.approx(cost_of(square, rows, wavelet), abs=1e-7)
        for size in range(2, rows.size + 1):
            group = np.ix_(rows[:size], rows[:size])
            _, before = quick_wavelet(gram[group], matrix[group])
            leak = (square[:, rows[:size]] @ before) ** 2
            leak[rows[:size]] = 0.0
            if size < rows.size:
                assert rows[size] == leak.argmax()
        assert rows.size == k or leak.max() < 1e-12


def test_a_row_alone_takes_the_heaviest_of_its_component_along() -> None:
    energy = np.array([1.0, 4.0, 0.0, 3.0, 4.0 + 1e-12, 9.0])
    everyone = np.ones(6, bool)
    assert with_heaviest(2, energy, everyone[:5], 4).tolist() == [2, 1, 4, 3]  # first of equals
    assert with_heaviest(1, energy, everyone, 3).tolist() == [1, 5, 4]
    assert with_heaviest(0, energy, everyone[:3], 5).tolist() == [0, 1, 2]
    assert with_heaviest(0, energy, np.arange(6) < 3, 5).tolist() == [0, 1, 2]
    assert with_heaviest(3, energy, np.arange(6) == 3, 5).tolist() == [3]


def test_components_are_connected_or_were_rotated_together() -> None:
    matrix = np.zeros((5, 5))
    matrix[0, 1] = matrix[1, 0] = -0.5
    labels = np.array([4, 0, 2, 1, 3, 5])
    groups, sizes = np.array([[5, 3, 0], [1, 9, 9]]), np.array([2, 1])

    def found(active: int, levels: int) -> list[list[int]]:
        numbers = components(matrix, labels, active, groups, sizes, levels)
        return sorted(np.flatnonzero(numbers == number).tolist() for number in set(numbers))

    assert found(5, 0) == [[0, 4], [1], [2], [3], [5]]
    assert found(5, 2) == [[0, 4], [1], [2], [3, 5]]
    assert found(1, 0) == [[0], [1], [2], [3], [4], [5]]


def test_a_wavelet_may_be_a_row_as_it_is() -> None:
    assert is_axis(np.array([0.0, -1.0, 0.0]))
    assert not is_axis(np.array([0.0, 0.8, 0.6]))


def test_scores_are_kept_within_a_level() -> None:
    matrix, memory = dense.random_symmetric(6, seed=4), new_memory()
    gram, rows = matrix @ matrix, np.array([3, 0, 5])
    square = np.ix_(rows, rows)
    score = _score_group(matrix, gram, rows, 1, memory, 0)
    assert score == comparable(quick_score(gram[square], matrix[square], 1))
    twice = 2.0 * matrix
    assert _score_group(twice, 4.0 * gram, rows[::-1].copy(), 1, memory, 0) == score
    assert _score_group(twice, 4.0 * gram, rows[:2], 1, memory, 0) != score
    assert _score_group(twice, 4.0 * gram, rows, 1, memory, 1) == pytest.approx(4.0 * score)


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_a_quick_wavelet_has_its_cost(size: int) -> None:
    for seed in range(20):
        matrix = dense.random_symmetric(8, seed, density=0.6)
        rows = np.arange(size)
        gram, block = (matrix @ matrix)[:size, :size].copy(), matrix[:size, :size].copy()
        cost, wavelet = quick_wavelet(gram, block)
        assert np.linalg.norm(wavelet) == pytest.approx(1.0, abs=1e-12)
        assert cost == pytest.approx(cost_of(matrix, rows, wavelet), abs=1e-7)
        vectors = np.linalg.eigh(gram)[1].T
        assert cost <= min(cost_of(matrix, rows, v) for v in vectors) + 1e-7
        assert cost == quick_score(gram, block, 1)


def test_noise_on_scores_is_that_of_an_exponential_variate() -> None:
    rng = seeded(0)
    assert _perturbed(0.25, 0.0, rng) == 0.25
    draws = np.sort([_perturbed(0.25, 0.5, rng) for _ in range(1000)])
    variates = (draws / 0.25) ** 2
    empirical = np.arange(1, 1001) / 1000
    assert np.abs(empirical - (1.0 - np.exp(-variates))).max() < 0.05
    assert 0.0 < _perturbed(0.0, 0.5, rng) < 1e-7  # perfect groups are drawn among themselves


@pytest.mark.parametrize("density", [0.3, 1.0])
def test_best_partner(density: float) -> None:
    matrix = dense.random_symmetric(9, seed=5, density=density)
    matrix[4] = matrix[:, 4] = 0.0
    matrix[4, 4] = 0.5
    gram, active = matrix @ matrix, 8
    for p in range(active):
        costs = {}
        for j in range(active):
            if j != p and (gram[p, j] != 0.0 or matrix[p, j] != 0.0):
                block = np.ix_([p, j], [p, j])
                costs[j] = local_score(gram[block], matrix[block], 1)[0]
        partner, cost = _best_partner(p, matrix, gram, np.diag(gram).copy(), active)
        if costs:
            assert cost == pytest.approx(comparable(min(costs.values())), abs=1e-10)  # nine digits
            assert partner == min(costs, key=costs.__getitem__)
        else:
            assert partner == -1
            assert cost == pytest.approx(gram[p, p] - matrix[p, p] ** 2, abs=1e-12)
            assert cost >= 0.0
    assert _best_partner(4, matrix, gram, np.diag(gram).copy(), active)[0] == -1


def test_the_best_pivot_is_scored_again_before_it_is_taken() -> None:
    matrix = dense.random_symmetric(8, seed=6)
    gram, rng = matrix @ matrix, seeded(0)
    groups, sizes = np.zeros((8, 3), np.int64), np.zeros(8, np.int64)
    scores, dirty, fresh = np.zeros(8), np.ones(8, bool), np.full(8, -1)
    memory = new_memory()

    def best(level: int) -> int:
        return _best_pivot(
            matrix, gram, np.diag(gram).copy(), 8, PLAIN, rng,
            groups, sizes, scores, dirty, fresh, memory, level,
        )  # fmt: skip

    p = best(0)
    assert not dirty.any()
    assert p == scores.argmin()
    right, kept = scores.copy(), groups.copy()
    worst = int(right.argmax())
    scores[worst], groups[worst] = 0.5 * right.min(), 0  # out of date
    assert best(1) == p
    np.testing.assert_array_equal(scores, right)
    np.testing.assert_array_equal(groups, kept)
    scores[worst] = 0.5 * right.min()
    assert best(1) == worst  # it was scored at this level: taken as it is
    scores[:], dirty[[p, worst]] = right.max(), True  # marked rows are scored first
    assert best(2) == p
    assert scores[worst] == right[worst]


# -- keeping the state --------------------------------------------------------------------------


def test_pivots_whose_group_was_touched_are_marked() -> None:
    groups = np.array([[0, 3, 2], [1, 4, 3], [2, 1, 4], [3, 0, 1], [4, 2, 0], [5, 3, 1]])
    sizes, dirty = np.array([3, 3, 2, 1, 3, 3]), np.zeros(6, bool)
    _mark_touched(np.array([3, 2]), 5, groups, sizes, dirty)
    assert dirty.tolist() == [True, True, True, True, True, False]
    dirty[:] = False
    _mark_touched(np.array([1]), 6, groups, sizes, dirty)
    assert dirty.tolist() == [False, True, True, False, False, True]


@pytest.mark.parametrize("density", [0.4, 1.0])
@pytest.mark.parametrize("t", [0, 3, 6])
def test_a_column_is_taken_out_of_the_gram_matrix(density: float, t: int) -> None:
    matrix = dense.random_symmetric(9, seed=7, density=density)
    active = 7
    rest = np.delete(np.arange(active), t)
    tiny = rest[-1]
    if density < 1.0:
        matrix[t, tiny] = matrix[tiny, t] = 0.5 * NEGLIGIBLE * np.linalg.norm(matrix[t, :active])
    whole = matrix[:active, :active] @ matrix[:active, :active]
    gram = np.full((9, 9), 5.0)
    gram[:active, :active] = whole
    energy, dirty = np.diag(gram).copy(), np.zeros(9, bool)
    squared = matrix[t] ** 2
    scores = squared / NOTICEABLE * np.resize([0.9, 1.1], 9)
    _downdate_gram(matrix, gram, energy, t, active, scores, dirty)
    kept = matrix[np.ix_(rest, rest)]
    np.testing.assert_allclose(gram[np.ix_(rest, rest)], kept @ kept, atol=1e-6)
    np.testing.assert_allclose(energy[rest], (kept**2).sum(axis=1), atol=1e-6)
    expected = np.zeros(9, bool)
    expected[rest] = (squared > NOTICEABLE * scores)[rest]
    if density < 1.0:
        expected[tiny] = False
        np.testing.assert_array_equal(gram[tiny, :active], whole[tiny])  # to the last bit
    np.testing.assert_array_equal(dirty, expected)
    assert (gram[active:] == 5.0).all()
    assert (gram[:, active:] == 5.0).all()


def test_the_last_row_takes_the_place_of_a_dropped_one() -> None:
    matrix = dense.random_symmetric(6, seed=8, density=0.6)
    moved = matrix.copy()
    move_last_row(moved, 1, 4)
    order = [0, 4, 2, 3]
    np.testing.assert_array_equal(moved[:4, :4], matrix[np.ix_(order, order)])

    gram, energy, labels, scores = matrix @ matrix, np.arange(6.0), np.arange(6), np.arange(6.0)
    groups, sizes = np.array([[0, 4], [1, 0], [2, 3], [3, 4], [4, 2], [5, 4]]), np.full(6, 2)
    sizes[[3, 4]] = 1
    dirty = np.arange(6) == 4
    state = (matrix, gram, energy, labels, groups, sizes, scores, dirty)
    before = [each.copy() for each in state]
    _move_last(4, 4, *state)
    for each, same in zip(state, before, strict=True):
        np.testing.assert_array_equal(each, same)
    _move_last(1, 4, *state)
    for square, same in zip(state[:2], before[:2], strict=True):
        np.testing.assert_array_equal(square[:4, :4], same[np.ix_(order, order)])
    for each in (energy, labels, scores):
        assert each[:4].tolist() == order
    assert groups[:4].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]  # the last has one member
    assert sizes[:4].tolist() == [2, 1, 2, 1]
    assert dirty[:4].tolist() == [False, True, False, False]
