"""Canonical orders: one matrix, however its rows are numbered."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
import wavemmf as wm
from wavemmf.factorization._norms import power_of_two_scale
from wavemmf.kernels.canonical import shuffled
from wavemmf.kernels.centre import centre_dense
from wavemmf.select._order import in_canonical_order, renumbered


def turned(matrix: np.ndarray, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(matrix))
    return np.ascontiguousarray(matrix[np.ix_(order, order)])


def centred(matrix: np.ndarray) -> np.ndarray:
    result = matrix / power_of_two_scale(matrix)
    centre_dense(result)
    return result / power_of_two_scale(result)


def assert_same(ordered: np.ndarray, expected: np.ndarray) -> None:
    """Check all but the diagonal to the last bit: its mean depends on the order of a sum."""
    np.testing.assert_allclose(ordered, expected, rtol=0, atol=1e-12)
    off = ~np.eye(len(expected), dtype=bool)
    np.testing.assert_array_equal(ordered[off], expected[off])


GRAPHS = {
    "karate": nx.karate_club_graph(),
    "tree": nx.balanced_tree(3, 4),
    "star": nx.star_graph(40),
    "grid": nx.grid_2d_graph(7, 7),
    "cycle": nx.cycle_graph(12),
    "complete": nx.complete_graph(9),
    "bipartite": nx.complete_bipartite_graph(4, 7),
    "isolated": nx.empty_graph(6),
    "parts": nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(5)),
    "weighted": nx.les_miserables_graph(),
}


def matrix_of(name: str, kind: str) -> np.ndarray:
    a = nx.to_numpy_array(GRAPHS[name])
    if kind == "normalized_laplacian":
        return wm.graphs.normalized_laplacian(sp.csr_array(a)).toarray()
    return a


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("kind", ["normalized_laplacian", "adjacency"])
def test_every_numbering_ends_in_the_same_matrix(name: str, kind: str) -> None:
    a = matrix_of(name, kind)
    expected, _ = in_canonical_order(a)
    for seed in range(8):
        mixed = turned(a, seed)
        ordered, order = in_canonical_order(mixed)
        assert_same(ordered, expected)
        np.testing.assert_array_equal(ordered, centred(mixed)[np.ix_(order, order)])
        sparse, _ = in_canonical_order(sp.csr_array(mixed))
        assert_same(sparse.toarray(), expected)


def assert_moved(ordered: np.ndarray, expected: np.ndarray) -> None:
    """Check that matrices differ by a multiple of the identity: one unit of the mean, or none."""
    moved = ordered[0, 0] - expected[0, 0]
    assert abs(moved) <= 2.0**-19 * np.diag(expected).mean()  # the mean has 20 binary digits
    assert_same(ordered, expected + moved * np.eye(len(expected)))


@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "isolated"])
@pytest.mark.parametrize("kind", ["normalized_laplacian", "adjacency"])
@pytest.mark.parametrize("added", [-1.0, 0.3, 7.0])
def test_a_multiple_of_the_identity_changes_nothing(name: str, kind: str, added: float) -> None:
    a = matrix_of(name, kind)
    expected, _ = in_canonical_order(a)
    moved = a + added * np.eye(len(a))
    assert_moved(in_canonical_order(moved)[0], expected)
    assert_moved(in_canonical_order(sp.csr_array(moved))[0].toarray(), expected)


@pytest.mark.parametrize("density", [0.3, 1.0])
@pytest.mark.parametrize("added", [-1.0, 0.3, 7.0])
def test_without_symmetries_there_is_one_order(density: float, added: float) -> None:
    a = dense.random_symmetric(30, seed=1, density=density)
    expected, order = in_canonical_order(a)
    for moved in (a + added * np.eye(30), sp.csr_array(a + added * np.eye(30))):
        ordered, same = in_canonical_order(moved)
        np.testing.assert_array_equal(same, order)
        assert_moved(ordered.toarray() if sp.issparse(ordered) else ordered, expected)


@settings(deadline=None, max_examples=60)
@given(n=st.integers(0, 12), levels=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_the_order_is_one(n: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, levels + 1, size=(n, n)).astype(float)
    ordered, order = in_canonical_order(a + a.T)
    assert sorted(order.tolist()) == list(range(n))
    np.testing.assert_array_equal(ordered, centred(a + a.T)[np.ix_(order, order)])


def test_rounding_of_the_entries_does_not_matter() -> None:
    a = wm.graphs.normalized_laplacian(nx.les_miserables_graph()).toarray()
    noise = 1e-14 * np.random.default_rng(0).normal(size=a.shape) * (a != 0)
    _, order = in_canonical_order(a)
    _, noisy = in_canonical_order(a + noise + noise.T)
    np.testing.assert_allclose(a[np.ix_(order, order)], a[np.ix_(noisy, noisy)], atol=1e-12)


def test_rotations_are_numbered_as_the_matrix_was() -> None:
    graph = wm.graphs.karate()
    f = wm.factorize(graph, core=8, k=4)
    order = np.random.default_rng(0).permutation(34)
    back = renumbered(f.rotations, order)
    assert back.group(1).tolist() == order[f.rotations.group(1)].tolist()
    assert sorted(back.core.tolist()) == sorted(order[f.rotations.core].tolist())


def test_shuffling_repeats() -> None:
    first, other = shuffled(np.arange(50), 0), shuffled(np.arange(50), 1)
    assert sorted(first.tolist()) == list(range(50))
    assert first.tolist() == shuffled(np.arange(50), 0).tolist() != other.tolist()
