"""The same answer in every order of the rows, after a shift, and on every machine."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm

MATRICES = {
    "karate": (wm.graphs.karate(), 8),
    "cayley": (wm.graphs.cayley_tree(4, 4), 8),
    "les miserables": (nx.les_miserables_graph(), 12),
    "grid": (wm.graphs.grid(10, 10), 10),
}


def laplacian(graph: object) -> np.ndarray:
    return np.asarray(wm.graphs.normalized_laplacian(graph).toarray())


def mixed(matrix: np.ndarray, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(matrix))
    return np.ascontiguousarray(matrix[np.ix_(order, order)])


# -- the order of the rows ----------------------------------------------------------------------


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("k", [2, 4, 8])
def test_the_error_does_not_depend_on_the_order_of_the_rows(name: str, k: int) -> None:
    graph, core = MATRICES[name]
    matrix = laplacian(graph)
    expected = wm.factorize(matrix, core=core, k=k).error()
    for seed in range(6):
        error = wm.factorize(mixed(matrix, seed), core=core, k=k).error()
        assert error == pytest.approx(expected, rel=1e-9)


def test_nor_does_it_on_sparse_storage() -> None:
    matrix = sp.csr_array(laplacian(wm.graphs.cayley_tree(3, 5)))
    errors = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(matrix.shape[0])
        turned = sp.csr_array(matrix[order][:, order])
        errors.append(wm.factorize(turned, core=20, k=4, engine="sparse").error())
    np.testing.assert_allclose(errors, errors[0], rtol=1e-9)


@pytest.mark.parametrize("settings", [{"restarts": 12}, {"select": "evolution", "restarts": 20}])
def test_searches_do_not_depend_on_the_order(settings: dict[str, object]) -> None:
    matrix = laplacian(wm.graphs.karate())
    errors = [
        wm.factorize(mixed(matrix, seed), core=8, k=4, seed=3, **settings).error()
        for seed in range(3)
    ]
    np.testing.assert_allclose(errors, errors[0], rtol=1e-9)


def test_a_renumbered_weighted_graph_has_the_same_error() -> None:
    # Degrees are added up in another order, so entries differ in their last digits.
    graph = nx.les_miserables_graph()
    names = list(graph)
    expected = wm.factorize(graph, core=12, k=4).error()
    for seed in range(3):
        other = nx.Graph()
        other.add_nodes_from(np.random.default_rng(seed).permutation(names).tolist())
        other.add_weighted_edges_from(graph.edges.data("weight"))
        assert wm.factorize(other, core=12, k=4).error() == pytest.approx(expected, rel=1e-6)


def test_rows_that_refinement_cannot_tell_apart_may_be_told_apart_by_number() -> None:
    # All rows of a regular graph look alike, though no symmetry exchanges them: the case in
    # which the numbering still decides.
    graph = nx.random_regular_graph(3, 20, seed=1)
    matrix = laplacian(graph)
    errors = [wm.factorize(mixed(matrix, s), core=4, k=4).relative_error() for s in range(4)]
    assert max(errors) < 2 * min(errors)


# -- multiples of the identity ------------------------------------------------------------------

ADJACENCIES = {
    "path": (nx.path_graph(8), 0, 8, 0.095),
    "matching": (nx.disjoint_union_all([nx.path_graph(2)] * 4), 4, 2, 1e-12),
    "cayley": (nx.balanced_tree(2, 4), 3, 4, 0.2),
    "grid": (nx.grid_2d_graph(10, 10), 10, 4, 0.54),
    "karate": (nx.karate_club_graph(), 8, 8, 0.15),
}


@pytest.mark.parametrize("name", ADJACENCIES)
def test_adjacency_matrices_of_bipartite_graphs(name: str) -> None:
    graph, core, k, largest = ADJACENCIES[name]
    a = nx.to_numpy_array(graph, weight=None)
    assert wm.factorize(a, core=core, k=k).relative_error() <= largest


@pytest.mark.parametrize("name", ADJACENCIES)
@pytest.mark.parametrize("shift", [1.0, -1.0, 2.5, 1000.0])
@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_a_multiple_of_the_identity_changes_no_error(name: str, shift: float, engine: str) -> None:
    graph, core, k, _ = ADJACENCIES[name]
    a = nx.to_numpy_array(graph, weight=None)
    plain = wm.factorize(a, core=core, k=k, engine=engine).error()
    moved = wm.factorize(a + shift * np.eye(len(a)), core=core, k=k, engine=engine).error()
    assert moved == pytest.approx(plain, rel=0.01, abs=1e-6)


@pytest.mark.parametrize("select", ["greedy", "diffusion", "random", "neighbors", "regular"])
@pytest.mark.parametrize("k", [2, 4])
def test_no_selector_notices_a_shift(select: str, k: int) -> None:
    x = np.linspace(0.0, 1.0, 40)
    kernel = np.exp(-((x[:, None] - x) ** 2) / 0.02)
    plain = wm.factorize(kernel, core=6, k=k, select=select, seed=1).error()
    moved = wm.factorize(kernel + 3.0 * np.eye(40), core=6, k=k, select=select, seed=1).error()
    assert moved == pytest.approx(plain, rel=0.01)


# -- machines -----------------------------------------------------------------------------------

SCRIPT = """
import hashlib, json, sys
import numpy as np
import wavemmf as wm

def digest(*arrays):
    joined = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    return hashlib.sha256(joined).hexdigest()

karate, x = wm.graphs.karate(), np.linspace(0.0, 1.0, 60)
found = {
    "dense": wm.factorize(karate, core=8, k=8),
    "pairs": wm.factorize(karate, core=8, k=2),
    "kernel": wm.factorize(np.exp(-((x[:, None] - x) ** 2) / 0.02), core=6, k=4, drop=2),
    "sparse": wm.factorize(wm.graphs.grid(12, 12), core=20, k=4, engine="sparse"),
    "lbfgs": wm.factorize(karate, core=8, k=4, optimize="lbfgs", steps=30),
    "diffusion": wm.factorize(karate, core=4, k=2, select="diffusion"),
    "diffusion, sparse": wm.factorize(wm.graphs.grid(34, 34), core=900, k=2, select="diffusion"),
    "evolution": wm.factorize(karate, core=8, k=4, select="evolution", restarts=20),
    "restarts": wm.factorize(karate, core=8, k=4, restarts=6, optimize="lbfgs", steps=20),
}
print(json.dumps({name: [digest(f.rotations.groups, f.rotations.wavelets),
                         digest(f.rotations.blocks, f.frequencies), f.error()]
                  for name, f in found.items()}))
"""


# The reduced-variance agent cannot tell rows apart, so most of its decisions are ties.
POLICIES = """
import json
import torch
import wavemmf as wm

karate = wm.graphs.karate()
found = {}
for preset in ("reduced-variance", "guided"):
    policy = wm.rl.train_policy(karate, k=4, core=8, episodes=32, preset=preset, seed=0)
    weights = torch.cat([each.detach().flatten() for each in policy.parameters()]).tolist()
    chosen = [wm.factorize(karate, core=8, k=4, select=policy, restarts=r) for r in (0, 6)]
    indices = [f.rotations.groups.tolist() + f.rotations.wavelets.tolist() for f in chosen]
    found[preset] = weights, indices, [f.error() for f in chosen]
print(json.dumps(found))
"""

# The instructions every x86-64 has, another BLAS, and one thread instead of two.
PLAIN = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Prescott",
    "ATEN_CPU_CAPABILITY": "default",  # of torch, as are the next two
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "WAVEMMF_NUM_THREADS": "1",
    "PYTHONHASHSEED": "7",
}


def run_with(environment: dict[str, str], script: str = SCRIPT) -> dict[str, Any]:
    """Factorize in a process of its own, with kernels compiled for another processor."""
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=settings, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.longest
def test_other_processors_give_the_same_bits() -> None:
    assert run_with({"WAVEMMF_NUM_THREADS": "2"}) == run_with(PLAIN)


@pytest.mark.longest
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_policies_choose_the_same_on_other_processors() -> None:
    """Weights agree to single precision only: products of matrices are left to torch."""
    here, there = run_with({"WAVEMMF_NUM_THREADS": "2"}, POLICIES), run_with(PLAIN, POLICIES)
    for preset, (weights, indices, errors) in here.items():
        np.testing.assert_allclose(there[preset][0], weights, rtol=0, atol=5e-3)
        assert there[preset][1] == indices
        assert there[preset][2] == errors
