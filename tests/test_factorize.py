"""The front door: what it accepts, what it refuses, what it chooses."""

from __future__ import annotations

import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import oracle
import wavemmf as wm
from wavemmf.errors import (
    InputTypeError,
    InvalidFactorizationError,
    InvalidInputError,
    TooLargeError,
    WavemmfError,
)
from wavemmf.select import Greedy

A = oracle.MATRICES["grid"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 1}, r"k.*1"),
        ({"k": 2.5}, "k"),
        ({"k": True}, "k"),
        ({"drop": 0}, "drop"),
        ({"drop": 4}, "drop.*4"),
        ({"core": -1}, "core.*-1"),
        ({"core": 31}, "core.*31"),
        ({"select": "best"}, "greedy.*random.*neighbors.*best"),
        ({"engine": "gpu"}, "auto.*dense.*sparse.*gpu"),
        ({"matrix": "shift"}, "normalized_laplacian.*shift"),
        ({"seed": -1}, "seed"),
        ({"optimize": "magic"}, "optimize.*magic"),
    ],
)
def test_settings_that_are_not_allowed(arguments: dict, message: str) -> None:
    with pytest.raises((InvalidInputError, InputTypeError), match=message):
        wm.factorize(A, **arguments)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.array([[1.0, 2.0], [0.0, 1.0]]), InvalidInputError, "symmetr.*2.*symmetric_part"),
        (np.array([[np.nan, 0], [0, 1.0]]), InvalidInputError, "row 0, column 0"),
        (np.array([[1.0, np.inf], [np.inf, 1.0]]), InvalidInputError, "row 0, column 1"),
        (np.zeros((2, 3)), InvalidInputError, r"\(2, 3\)"),
        (np.zeros((2, 2), complex), WavemmfError, "complex"),
        (np.zeros((0, 0)), InvalidInputError, "empty"),
        (np.zeros(3), InvalidInputError, "3"),
        (sp.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]])), InvalidInputError, "symmetric_part"),
        (sp.csr_array(np.array([[np.nan, 0], [0, 1.0]])), InvalidInputError, "NaN"),
        (None, InputTypeError, "NoneType"),
        ("missing.mtx", InvalidInputError, "missing.mtx"),
    ],
)
def test_matrices_that_are_not_allowed(matrix: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        wm.factorize(matrix, core=0, k=2)
    assert isinstance(caught.value, (ValueError, TypeError))


def test_the_symmetric_part_of_a_matrix_can_be_factorized() -> None:
    a = np.random.default_rng(0).normal(size=(10, 10))
    f = wm.factorize(wm.graphs.symmetric_part(a), core=2, k=3)
    assert f.error() == pytest.approx(np.linalg.norm(0.5 * (a + a.T) - f.to_dense()))


def test_too_large_for_the_dense_engine_is_refused_before_allocating(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(50 * 2**20))
    for arguments in ({"engine": "dense"}, {"select": "random"}):
        with pytest.raises(TooLargeError, match="dense engine on 3600 rows"):
            wm.factorize(wm.graphs.grid(60, 60), core=10, **arguments)


def test_graphs_mean_their_normalized_laplacian() -> None:
    graph = nx.karate_club_graph()
    laplacian = wm.graphs.normalized_laplacian(graph)
    f = wm.factorize(graph, core=8)
    assert f.matrix_norm == pytest.approx(sp.linalg.norm(laplacian))
    adjacency = nx.to_numpy_array(graph)
    g = wm.factorize(adjacency, core=8, matrix="normalized_laplacian")
    assert g.error() == pytest.approx(f.error())
    laplacian = np.diag(adjacency.sum(0)) - adjacency
    for name, expected in (("adjacency", adjacency), ("laplacian", laplacian)):
        h = wm.factorize(graph, core=8, matrix=name)
        assert h.matrix_norm == pytest.approx(np.linalg.norm(expected))


def test_paths(tmp_path: Path) -> None:
    expected = wm.factorize(A, core=5)
    np.save(tmp_path / "a.npy", A)
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(A))
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(A), precision=17)
    for name in ("a.npy", "a.npz", "a.mtx"):
        assert wm.factorize(tmp_path / name, core=5).error() == pytest.approx(expected.error())
    nx.write_edgelist(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6)),
                      tmp_path / "a.edges", data=False)  # fmt: skip
    f = wm.factorize(str(tmp_path / "a.edges"), core=5)
    assert f.matrix_norm == pytest.approx(expected.matrix_norm)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    expected = wm.factorize(A, core=5).error()
    tensor = torch.tensor(A)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR layout a beta feature
        forms = (tensor, tensor.to_sparse_coo(), tensor.to_sparse_csr())
    for given in forms:
        assert wm.factorize(given, core=5).error() == pytest.approx(expected)


def test_pyg_data() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    utils = pytest.importorskip("torch_geometric.utils", reason="torch_geometric is not installed")
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
    data = utils.from_networkx(graph)
    assert wm.factorize(data, core=5).error() == pytest.approx(wm.factorize(graph, core=5).error())


def test_default_core() -> None:
    assert wm.factorize(np.eye(5)).core_size == 5
    assert wm.factorize(np.eye(50)).core_size == 8
    assert wm.factorize(np.eye(200)).core_size == 20


def test_more_coordinates_per_rotation_than_rows() -> None:
    f = wm.factorize(oracle.random_symmetric(4), core=1, k=10)
    oracle.check_constraints(f)
    assert f.rotations.sizes.max() <= 4
    assert f.error() == pytest.approx(0.0, abs=1e-12)


# -- explicit indices -----------------------------------------------------------------------------


def test_explicit_indices_are_used_as_given() -> None:
    groups = [[0, 1, 2], [2, 3, 4, 5], [5, 6]]
    wavelets = [[1], [2, 4], [5]]
    f = wm.factorize(A, select=(groups, wavelets))
    oracle.check_constraints(f)
    for level in (1, 2, 3):
        assert f.rotations.group(level).tolist() == groups[level - 1]
        assert f.rotations.dropped(level).tolist() == wavelets[level - 1]
    assert f.core_size == len(A) - 4
    assert f.error() == pytest.approx(np.linalg.norm(A - f.to_dense()), abs=1e-10)


def test_explicit_arrays_and_matching_core() -> None:
    groups = np.array([[0, 1], [2, 3]])
    f = wm.factorize(A, select=(groups, np.array([0, 2])), core=len(A) - 2)
    assert f.num_levels == 2
    with pytest.raises(InvalidInputError, match="leave a core of 28, but core=5"):
        wm.factorize(A, select=(groups, [[0], [2]]), core=5)


def test_explicit_wavelets_have_the_smallest_residual_of_their_group() -> None:
    a = oracle.random_symmetric(9, seed=8)
    group = [1, 4, 7]
    f = wm.factorize(a, select=([group], [[4]]))
    gram, block = a[group] @ a[:, group], a[np.ix_(group, group)]

    def residual(w: np.ndarray) -> float:
        return float(w @ gram @ w - (w @ block @ w) ** 2)

    found = residual(f.rotations.block(1)[1])
    assert f.error() ** 2 == pytest.approx(2 * found)
    rng = np.random.default_rng(0)
    for w in rng.normal(size=(2000, 3)):
        assert found <= residual(w / np.linalg.norm(w)) + 1e-12


@pytest.mark.parametrize(
    ("indices", "message", "level"),
    [
        (([[0, 1], [0, 2]], [[0], [2]]), "level 2.*index 0", 2),
        (([[0, 1]], [[2]]), "level 1.*wavelet 2", 1),
        (([[0, 99]], [[0]]), "level 1.*99", 1),
        (([[0, 1]], [[]]), "level 1.*no wavelet", 1),
        (([[0, 1]], [[0], [1]]), "1 groups", None),
    ],
)
def test_explicit_indices_that_are_not_allowed(
    indices: tuple, message: str, level: int | None
) -> None:
    with pytest.raises(InvalidFactorizationError, match=message) as caught:
        wm.factorize(A, select=indices)
    assert caught.value.level == level


def test_explicit_indices_of_the_wrong_kind() -> None:
    for wrong in (3, [1, 2, 3], object()):
        with pytest.raises(InvalidInputError, match=r"pair \(I, T\)"):
            wm.factorize(A, select=wrong)


# -- greedy ---------------------------------------------------------------------------------------


def test_exhaustive_pairs_find_the_best_first_pair() -> None:
    a = oracle.random_symmetric(14, seed=9)
    f = wm.factorize(a, core=13, k=2)
    best = min(
        wm.factorize(a, select=([[i, j]], [[t]])).error()
        for i in range(14)
        for j in range(i)
        for t in (i, j)
    )
    assert f.error() == pytest.approx(best)


def test_exhaustive_pairs_beat_correlated_pairs_on_karate() -> None:
    exhaustive, correlated = (
        wm.factorize(wm.graphs.karate(), core=8, k=2, select=Greedy(pairs=pairs)).error()
        for pairs in ("exhaustive", "correlated")
    )
    assert exhaustive < correlated


@pytest.mark.parametrize("k", [2, 3, 6])
def test_auto_survivors_are_the_better_of_both(k: int) -> None:
    errors = {
        survivors: wm.factorize(A, core=6, k=k, select=Greedy(survivors=survivors)).error()
        for survivors in ("auto", "eigenvectors", "nearest")
    }
    assert errors["auto"] == min(errors.values())


def test_both_engines_agree_on_a_graph_without_ties() -> None:
    rng = np.random.default_rng(10)
    graph = nx.random_geometric_graph(60, 0.25, seed=1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.random()
    for k in (2, 4):
        dense, sparse = (
            wm.factorize(graph, core=12, k=k, engine=engine).error()
            for engine in ("dense", "sparse")
        )
        assert sparse == pytest.approx(dense, rel=0.1)


def test_engine_is_chosen_by_size_and_sparsity() -> None:
    small, large = wm.graphs.grid(10, 10), wm.graphs.grid(40, 40)
    assert wm.factorize(small, core=20).parameters["engine"] == "dense"
    assert wm.factorize(large, core=1500).parameters["engine"] == "sparse"
    assert wm.factorize(large, core=1590, engine="dense").parameters["engine"] == "dense"


def test_large_sparse_graph_never_densified(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = wm.graphs.grid(120, 100)
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(200 * 2**20))  # dense would be 1.1 GB
    f = wm.factorize(graph, core=3000, k=3)
    assert f.core_size == 3000
    x = np.random.default_rng(0).normal(size=f.n)
    np.testing.assert_allclose(f.synthesize(f.analyze(x)), x, atol=1e-12)
    a = wm.graphs.normalized_laplacian(graph)
    # Hutchinson-free check of the exact error on random vectors: E|Rx|^2 = |R|_F^2
    probes = np.random.default_rng(1).choice([-1.0, 1.0], size=(f.n, 200))
    sampled = np.sqrt((np.linalg.norm(a @ probes - f @ probes, axis=0) ** 2).mean())
    assert f.error() == pytest.approx(sampled, rel=0.02)


def test_small_groups_in_small_components() -> None:
    graph = nx.disjoint_union_all([nx.complete_graph(3)] * 4 + [nx.empty_graph(2)])
    f = wm.factorize(graph, core=0, k=8)
    assert f.rotations.sizes.max() <= 3
    assert f.error() == pytest.approx(0.0, abs=1e-12)


def test_progress_is_reported() -> None:
    seen: list[tuple[int, int]] = []
    wm.factorize(
        A,
        core=5,
        select=Greedy(survivors="nearest"),
        progress=lambda d, t, note: seen.append((d, t)),
    )
    assert seen[-1] == (25, 25)


def test_permuted_input_gives_a_permuted_result() -> None:
    """Without ties the deterministic selector does not care how rows are numbered."""
    a = oracle.random_symmetric(25, seed=11)
    order = np.random.default_rng(12).permutation(25)
    f = wm.factorize(a, core=6, k=4)
    g = wm.factorize(a[np.ix_(order, order)], core=6, k=4)
    assert g.error() == pytest.approx(f.error(), rel=1e-9)
    assert [set(order[g.rotations.group(level)]) for level in range(1, 20)] == [
        set(f.rotations.group(level)) for level in range(1, 20)
    ]
