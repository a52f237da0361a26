"""Graphs whose hubs have very many neighbours: exact where they can be, and not slow for them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from sparse_runs import SparseGreedy
from wavemmf.kernels import partners_sparse
from wavemmf.kernels.greedy_dense import Choice, greedy_levels
from wavemmf.kernels.noise import seeded


def graph_of(n: int, first: np.ndarray, last: np.ndarray) -> sp.csr_array:
    """Return the adjacency matrix of a graph of n vertices."""
    half = sp.coo_array((np.ones(first.size), (first, last)), shape=(n, n))
    return sp.csr_array(half + half.T)


def star(n: int) -> sp.csr_array:
    """Return a star: its hub is vertex 0."""
    return graph_of(n, np.zeros(n - 1, int), np.arange(1, n))


def caterpillar(n: int, hubs: int) -> sp.csr_array:
    """Return a path of half of the vertices; the others are leaves of a few of them."""
    spine = n // 2
    leaves = np.arange(spine, n)
    at = spine * (1 + leaves % hubs) // (hubs + 1)
    first = np.concatenate([np.arange(spine - 1), at])
    return graph_of(n, first, np.concatenate([np.arange(1, spine), leaves]))


# Dense rows, sparse rows, sparse rows with a hub that does not show all of its row, stages.
@pytest.mark.parametrize("n", [300, 1030, 2500, 21_000])
@pytest.mark.parametrize("k", [2, 4])
def test_a_star_is_exact_with_a_core_of_two(n: int, k: int) -> None:
    f = wm.factorize(star(n), core=2, k=k)
    assert f.core_size == 2
    assert f.relative_error() < 1e-12
    # The spectrum of a star: the root of its number of leaves, with both signs, and zeros.
    values = np.sort(np.linalg.eigvalsh(np.asarray(f.core)))
    np.testing.assert_allclose(values, [-np.sqrt(n - 1), np.sqrt(n - 1)], rtol=1e-10)
    assert np.abs(np.delete(f.frequencies, f.rotations.core)).max() < 1e-10


@pytest.mark.parametrize("k", [2, 4])
def test_leaves_of_hubs_cost_nothing(k: int) -> None:
    n, hubs = 3000, 2
    matrix = caterpillar(n, hubs)
    f = wm.factorize(matrix, core=n // 2 + hubs, k=k)
    assert f.relative_error() < 1e-12


@pytest.mark.parametrize("k", [2, 4])
def test_hubs_do_not_make_results_depend_on_the_order_of_rows(k: int) -> None:
    matrix = caterpillar(3000, 1)
    assert np.diff(matrix.indptr).max() > partners_sparse.HUB
    order = np.random.default_rng(1).permutation(3000)
    errors = [
        wm.factorize(a, core=30, k=k).relative_error() for a in (matrix, matrix[order][:, order])
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_scale_free_graphs_are_factorized() -> None:
    matrix = wm.graphs.normalized_laplacian(wm.graphs.barabasi_albert(1500, 3, seed=0))
    f = wm.factorize(matrix, core=150, k=4)
    dense = matrix.toarray()
    assert f.error() == pytest.approx(np.linalg.norm(dense - f.to_dense()), rel=1e-9)


# -- what hubs cost -----------------------------------------------------------------------------


def test_a_hub_shows_each_neighbour_a_part_of_its_row() -> None:
    n = 3 * partners_sparse.HUB
    rows = SparseGreedy(star(n).toarray() + 2.0 * np.eye(n), np.ones(n, bool), 4, 1).rows
    store = (rows.columns, rows.values, rows.start, rows.length)
    shown = {}
    for p in (1, n // 2, n - 1):
        workspace, seen = np.zeros(n), np.empty(n, np.int64)
        count = partners_sparse.gram_row(p, store, 0.0, workspace, seen)
        assert count <= partners_sparse.HUB + 3
        assert np.unique(seen[:count]).size == count
        np.testing.assert_array_equal(np.flatnonzero(workspace), np.sort(seen[:count]))
        shown[p] = set(seen[:count].tolist())
        assert p in shown[p]
    for p in shown:
        for other in shown:
            assert (other in shown[p]) == (p in shown[other])


def test_leaves_that_cost_nothing_wait_for_their_turn_in_sparse_rows() -> None:
    n, levels = 400, 100
    run = SparseGreedy(star(n).toarray() + 2.0 * np.eye(n), np.ones(n, bool), 4, 1)
    run.score(False)
    scored = 0
    for _ in range(levels):
        before = run.version.copy(), run.stamp.copy()
        run.take(2, False, True, 0.0, 1)
        scored += np.count_nonzero(run.stamp != before[1])
    assert run.lost[0] < 1e-20
    assert run.active == n - levels
    # The members of the group and who is tried next, not all neighbours of the hub.
    assert scored < 10 * levels


def test_leaves_that_cost_nothing_wait_for_their_turn_in_dense_rows() -> None:
    n, k = 200, 4
    matrix = star(n).toarray() + 2.0 * np.eye(n)
    gram = matrix @ matrix
    dirty = np.ones(n, bool)
    record = (
        np.zeros((n, k), np.int64), np.zeros(n, np.int64), np.zeros((n, 1), np.int64),
        np.zeros(n, np.int64), np.zeros((n, k, k)),
    )  # fmt: skip
    none = np.zeros((0, k), np.int64), np.zeros(0, np.int64)
    active, level = greedy_levels(
        matrix, gram, gram.diagonal().copy(), np.arange(n), np.zeros((n, k), np.int64),
        np.zeros(n, np.int64), np.zeros(n), dirty, n, 2,
        Choice(1, False, True, 0.0, 0.0, 2.0, False),
        seeded(0), *none, *record, 0, 20,
    )  # fmt: skip
    assert (active, level) == (n - 20, 20)
    assert np.count_nonzero(dirty[:active]) > n - 60  # never looked at
