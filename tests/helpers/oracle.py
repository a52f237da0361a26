"""A slow dense formulation of everything, written straight from the definitions."""

from __future__ import annotations

import networkx as nx
import numpy as np

import wavemmf as wm
from dense import random_symmetric


def rotation_matrix(f: wm.Factorization, level: int) -> np.ndarray:
    """U_l as an n-by-n matrix."""
    u = np.eye(f.n)
    group = f.rotations.group(level)
    u[np.ix_(group, group)] = f.rotations.block(level)
    return u


def basis(f: wm.Factorization) -> np.ndarray:
    """W = U_L ... U_1."""
    w = np.eye(f.n)
    for level in range(1, f.num_levels + 1):
        w = rotation_matrix(f, level) @ w
    return w


def core_diagonal(h: np.ndarray, core: np.ndarray) -> np.ndarray:
    """Keep the diagonal and the core block of h."""
    kept = np.diag(np.diag(h)).astype(float)
    kept[np.ix_(core, core)] = h[np.ix_(core, core)]
    return kept


def best_approximation(f: wm.Factorization, a: np.ndarray) -> np.ndarray:
    """W^T H W with H the core-diagonal part of W A W^T."""
    w = basis(f)
    return w.T @ core_diagonal(w @ a @ w.T, f.core_indices) @ w


def check_constraints(f: wm.Factorization) -> None:
    """I_l within the active set, T_l within I_l, blocks orthogonal, the core what remains."""
    active = set(range(f.n))
    for level in range(1, f.num_levels + 1):
        group = f.rotations.group(level).tolist()
        dropped = f.rotations.dropped(level).tolist()
        assert len(set(group)) == len(group)
        assert set(group) <= active
        assert dropped
        assert set(dropped) <= set(group)
        block = f.rotations.block(level)
        np.testing.assert_allclose(block @ block.T, np.eye(len(group)), atol=1e-12)
        active -= set(dropped)
    assert sorted(active) == f.core_indices.tolist()


def laplacian(graph: nx.Graph) -> np.ndarray:
    """Return the normalized Laplacian of a networkx graph, dense."""
    return wm.graphs.normalized_laplacian(graph).toarray()


def kernel_matrix(n: int) -> np.ndarray:
    """Make a smooth positive definite kernel on points of the line."""
    x = np.linspace(0, 3, n)
    return np.exp(-((x[:, None] - x[None, :]) ** 2))


#: One matrix of every kind that users have, all small.
MATRICES = {
    "path": laplacian(nx.path_graph(23)),
    "grid": laplacian(nx.grid_2d_graph(5, 6)),
    "star": laplacian(nx.star_graph(14)),
    "disconnected": laplacian(nx.disjoint_union(nx.cycle_graph(9), nx.complete_graph(5))),
    "isolated": laplacian(nx.disjoint_union(nx.path_graph(8), nx.empty_graph(6))),
    "self_loops": laplacian(
        nx.Graph([(i, i) for i in range(12)] + [(i, i + 1) for i in range(11)])
    ),
    "negative_weights": random_symmetric(18, seed=1, density=0.3),
    "dense": random_symmetric(16, seed=2),
    "kernel": kernel_matrix(21),
    "kronecker": wm.graphs.kronecker(4),
    "low_rank": np.outer(np.arange(15.0), np.arange(15.0)),
    "zero": np.zeros((11, 11)),
    "diagonal": np.diag(np.arange(12.0) - 5),
    "identity": np.eye(10),
    "ones": np.ones((13, 13)),
    "tiny": np.array([[2.0, 1.0], [1.0, -3.0]]),
    "single": np.array([[4.0]]),
}
