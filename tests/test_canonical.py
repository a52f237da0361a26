"""Canonical orders: one matrix, however its rows are numbered."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.kernels.canonical import shuffled
from wavemmf.select.order import in_canonical_order, renumbered


def turned(matrix: np.ndarray, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(matrix))
    return np.ascontiguousarray(matrix[np.ix_(order, order)])


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


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("matrix", ["normalized_laplacian", "adjacency"])
def test_every_numbering_ends_in_the_same_matrix(name: str, matrix: str) -> None:
    graph = GRAPHS[name]
    a = nx.to_numpy_array(graph)
    if matrix == "normalized_laplacian":
        a = wm.graphs.normalized_laplacian(sp.csr_array(a)).toarray()
    expected, _ = in_canonical_order(a)
    for seed in range(8):
        mixed = turned(a, seed)
        ordered, order = in_canonical_order(mixed)
        np.testing.assert_array_equal(ordered, expected)
        np.testing.assert_array_equal(ordered, mixed[np.ix_(order, order)])
        sparse, _ = in_canonical_order(sp.csr_array(mixed))
        np.testing.assert_array_equal(sparse.toarray(), expected)


@settings(deadline=None, max_examples=60)
@given(n=st.integers(0, 12), levels=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_the_order_is_one(n: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, levels + 1, size=(n, n)).astype(float)
    ordered, order = in_canonical_order(a + a.T)
    assert sorted(order.tolist()) == list(range(n))
    np.testing.assert_array_equal(ordered, (a + a.T)[np.ix_(order, order)])


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
