"""Rows that are wavelets as they are wait for levels that cost: same error, better optimised."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.factorization import Factorization, Rotations
from wavemmf.select import Task, greedy
from wavemmf.select._room import with_room


def laplacian(graph):
    return np.asarray(nx.normalized_laplacian_matrix(graph).toarray())


TREES = {
    "ternary": laplacian(nx.balanced_tree(3, 3)),
    "binary": laplacian(nx.balanced_tree(2, 4)),
    "scale-free": laplacian(nx.barabasi_albert_graph(60, 1, seed=0)),
    "lollipop": laplacian(nx.lollipop_graph(12, 14)),
}


def chosen(matrix, k, core=8, drop=1):
    """Return what the greedy selector chooses before it makes room."""
    return greedy(matrix, Task(core, k, drop), "exhaustive", "auto")


def error(matrix, rotations):
    return Factorization.from_rotations(matrix, rotations).error()


def idle_levels(rotations):
    levels = range(1, rotations.num_levels + 1)
    return [
        level
        for level in levels
        if np.allclose(rotations.block(level), np.eye(rotations.group(level).size), atol=1e-9)
    ]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("k", [3, 4, 8])
def test_same_wavelets_same_error_same_sizes(name, k):
    matrix = TREES[name]
    before = chosen(matrix, k)
    after = with_room(matrix, before, k)
    assert error(matrix, after) == pytest.approx(error(matrix, before), rel=1e-9, abs=1e-12)
    assert sorted(after.wavelets) == sorted(before.wavelets)
    assert set(after.core) == set(before.core)
    assert after.sizes.max() <= k
    dense_before, dense_after = (
        Factorization.from_rotations(matrix, each).analyze(np.eye(len(matrix)))
        for each in (before, after)
    )
    assert np.allclose(dense_before, dense_after, atol=1e-8)


def test_idle_rows_wait_for_levels_that_cost():
    matrix = TREES["ternary"]
    before = chosen(matrix, 4)
    after = with_room(matrix, before, 4)
    assert len(idle_levels(after)) == len(idle_levels(before)) > 5
    assert np.mean(idle_levels(after)) > np.mean(idle_levels(before)) + 2


def by_hand(matrix, rotations, level):
    """Return the wavelet's use of rows, and its leak, as dense algebra has them at a level."""
    work = matrix.copy()
    for each in range(1, level):
        rows, block = rotations.group(each), rotations.block(each)
        work[rows] = block @ work[rows]
        work[:, rows] = work[:, rows] @ block.T
    rows = rotations.group(level)
    wavelet = rotations.block(level)[rows.tolist().index(int(rotations.dropped(level)[0]))]
    return dict(zip(rows.tolist(), wavelet**2, strict=True)), (wavelet @ work[rows]) ** 2


@pytest.mark.parametrize("name", ["ternary", "scale-free"])
def test_company_is_what_the_next_wavelet_uses_and_leaks_into(name):
    matrix = TREES[name]
    after = with_room(matrix, chosen(matrix, 4), 4)
    idle = idle_levels(after)
    looked_at = 0
    for level in idle:
        if level + 1 in idle or level == after.num_levels:
            continue
        used, leak = by_hand(matrix, after, level + 1)
        company = after.group(level)[1:].tolist()
        if not company or company[0] not in used:
            continue  # it had no level to wait for, and stayed where it was
        looked_at += 1
        assert used[company[0]] == pytest.approx(max(used.values()), rel=1e-6)
        waiting = {int(after.dropped(each)[0]) for each in idle if each >= level}
        gone = set(after.wavelets[: after.drop_offsets[level]].tolist())
        others = set(range(len(matrix))) - gone - waiting - set(used)
        outside = [row for row in company if row not in used]
        best = sorted((leak[row] for row in others), reverse=True)[: len(outside)]
        assert np.allclose([leak[row] for row in outside], best, rtol=1e-6, atol=1e-12)
    assert looked_at > 2


def test_nothing_idle_nothing_moved():
    matrix = laplacian(nx.davis_southern_women_graph())
    before = chosen(matrix, 4)
    assert not idle_levels(before)
    assert with_room(matrix, before, 4) is before


def test_levels_without_a_later_cost_stay():
    matrix = np.diag([1.0, 2.0, 3.0, 4.0])
    before = Rotations.from_levels(4, [[0, 1], [1, 2]], [np.eye(2), np.eye(2)], [[0], [1]])
    after = with_room(matrix, before, 2)
    assert after.groups.tolist() == before.groups.tolist()
    assert after.wavelets.tolist() == before.wavelets.tolist()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(6, 30), k=st.integers(2, 6), drop=st.integers(1, 2)
)
def test_any_tree(seed, n, k, drop):
    sequence = np.random.default_rng(seed).integers(0, n, n - 2).tolist()
    matrix = laplacian(nx.from_prufer_sequence(sequence))
    before = chosen(matrix, k, core=2, drop=min(drop, k - 1))
    after = with_room(matrix, before, k)  # Rotations checks that every level is allowed
    assert error(matrix, after) == pytest.approx(error(matrix, before), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_optimised_errors_over_orders_and_in_data_sets(name):
    matrix = TREES[name]
    order = np.random.default_rng(3).permutation(len(matrix))
    other = matrix[np.ix_(order, order)]
    settings_ = {"core": 8, "k": 4, "optimize": "lbfgs"}
    first, second = (wm.factorize(each, **settings_).error() for each in (matrix, other))
    assert second == pytest.approx(first, rel=0.02)
    assert wm.factorize_many([matrix], **settings_)[0].error() == first
    plain = wm.refine(Factorization.from_rotations(matrix, chosen(matrix, 4)), matrix).error()
    assert first < 0.95 * plain


def test_indices_given_by_the_caller_stay():
    matrix = TREES["binary"]
    rotations = chosen(matrix, 4)
    levels = range(1, rotations.num_levels + 1)
    groups = [rotations.group(level).tolist() for level in levels]
    wavelets = [rotations.dropped(level).tolist() for level in levels]
    f = wm.factorize(matrix, k=4, select=(groups, wavelets), optimize="lbfgs", steps=5)
    assert f.rotations.groups.tolist() == rotations.groups.tolist()
