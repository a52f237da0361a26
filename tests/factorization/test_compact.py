"""Compact levels: a wavelet in place of a block, and everything else as before."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidFactorizationError, InvalidInputError
from wavemmf.factorization import _compress as compress
from wavemmf.factorization._collection import load_collection, save_collection
from wavemmf.factorization._project import project
from wavemmf.select import Greedy


def plane_rotation(w: np.ndarray) -> np.ndarray:
    """Return the rotation in the plane of w and the first axis, as it is defined."""
    e = np.eye(len(w))[0]
    return np.eye(len(w)) - np.outer(e + w, e + w) / (1 + w[0]) + 2 * np.outer(e, w)


def random_levels(n: int, sizes: list[int], seed: int = 0) -> wm.Rotations:
    """Make compact levels with random groups and wavelets."""
    rng = np.random.default_rng(seed)
    active = rng.permutation(n)
    groups, vectors = [], []
    for size in sizes:
        others = rng.permutation(active[1:])[: size - 1]
        groups.append([active[0], *others])
        w = rng.normal(size=size)
        w[0] = abs(w[0])
        vectors.append(w / np.linalg.norm(w))
        active = active[1:]
    return wm.Rotations(
        n, np.cumsum([0, *sizes]), np.concatenate(groups), np.concatenate(vectors),
        np.arange(len(sizes) + 1), [group[0] for group in groups], kind="compact",
    )  # fmt: skip


def karate(**settings) -> wm.Factorization:
    return wm.factorize(wm.graphs.karate(), core=8, k=8, rotations="compact", **settings)


@given(st.lists(st.floats(-3, 3), max_size=9))
def test_a_block_is_the_rotation_that_takes_the_wavelet_to_its_axis(coordinates) -> None:
    z = np.array(coordinates)
    head = 2.0 / (1.0 + z @ z)
    w = np.array([head - 1.0, *(head * z)])
    size = w.size
    r = wm.Rotations(size, [0, size], range(size), w, [0, 1], [0], kind="compact")
    block = r.block(1)
    np.testing.assert_allclose(block, plane_rotation(w), atol=1e-12)
    np.testing.assert_allclose(block @ w, np.eye(size)[0], atol=1e-12)
    np.testing.assert_allclose(block @ block.T, np.eye(size), atol=1e-12)
    assert np.linalg.det(block) == pytest.approx(1.0)


@pytest.mark.parametrize("columns", [1, 3, 8, 17, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_against_full_blocks(columns: int, dtype: type) -> None:
    r = random_levels(40, [1, 2, 3, 4, 5, 8, 9, 16, 17, 29, 5])
    a = oracle.random_symmetric(40, seed=1)
    f, g = (wm.Factorization.from_rotations(a, each) for each in (r, r.to_full()))
    x = np.random.default_rng(2).normal(size=(40, columns)).astype(dtype)
    atol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(f.analyze(x), g.analyze(x), atol=atol)
    np.testing.assert_allclose(f.synthesize(x), g.synthesize(x), atol=atol)
    np.testing.assert_allclose(f.analyze(x), oracle.basis(g) @ x, atol=atol)
    assert f.analyze(x).dtype == dtype


def test_h_error_and_basis_against_full_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    r = random_levels(30, [4, 7, 12, 2, 1, 9])
    a = oracle.random_symmetric(30, seed=3, density=0.2)
    f, g = (wm.Factorization.from_rotations(a, each) for each in (r, r.to_full()))
    assert f.error() == pytest.approx(g.error(), rel=1e-12)
    np.testing.assert_allclose(f.to_dense(), g.to_dense(), atol=1e-11)
    np.testing.assert_allclose(f.basis().toarray(), g.basis().toarray(), atol=1e-13)
    monkeypatch.setattr(compress, "_DENSE_UP_TO", 0)
    h, error = project(sp.csr_array(a), r)
    assert error == pytest.approx(g.error(), rel=1e-10)
    np.testing.assert_allclose(h.to_dense(), g.h.to_dense(), atol=1e-11)


def test_functions_of_the_matrix_against_dense_algebra() -> None:
    f = karate()
    dense = f.to_dense() + 0.1 * np.eye(f.n)
    b = np.random.default_rng(0).normal(size=f.n)
    np.testing.assert_allclose(f.solve(b, shift=0.1), np.linalg.solve(dense, b), atol=1e-9)
    np.testing.assert_allclose(f.eigvalsh(), np.linalg.eigvalsh(f.to_dense()), atol=1e-11)
    np.testing.assert_allclose(f.diagonal(), np.diag(f.to_dense()), atol=1e-12)
    exponential = f.apply(np.exp).to_dense()
    values, vectors = np.linalg.eigh(f.to_dense())
    np.testing.assert_allclose(exponential, vectors @ np.diag(np.exp(values)) @ vectors.T)


def test_both_kinds_become_each_other() -> None:
    r = random_levels(20, [5, 3, 8, 1, 2])
    back = r.to_full().to_compact()
    np.testing.assert_array_equal(back.groups, r.groups)
    np.testing.assert_array_equal(back.blocks, r.blocks)
    assert r.to_compact() is r
    assert r.to_full().to_full().kind == "full"
    assert r.multiplications == 2 * r.blocks.size == 2 * 19


def test_counts_are_those_of_wavelets() -> None:
    f = karate()
    assert f.stored_numbers == f.rotations.groups.size + f.h.stored_numbers
    assert f.transform_multiplications == 2 * f.rotations.groups.size


def test_the_same_error_as_full_blocks_with_the_nearest_survivors() -> None:
    full = wm.factorize(wm.graphs.karate(), core=8, k=8, select=Greedy(survivors="nearest"))
    assert karate().error() == pytest.approx(full.error(), rel=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": [0.6, 0.9, 1.0, 0.0]}, "level 1 of 2: the wavelet is not of unit length"),
        ({"blocks": [0.6, 0.8, -1.0, 0.0]}, "level 2 of 2: .*opposite to its axis"),
        ({"blocks": [np.nan, 0.8, 1.0, 0.0]}, "level 1 of 2"),
        ({"groups": [0, 1, 0, 2]}, "lists its wavelet first in its group, but 0 is first"),
        ({"blocks": [0.6, 0.8, 1.0]}, "blocks holds 3 numbers, the groups ask for 4"),
        ({"kind": "small"}, "kind must be one of 'full', 'compact'"),
    ],
)
def test_what_is_no_compact_level_is_refused(change, message) -> None:
    good = wm.Rotations(
        3, [0, 2, 4], [1, 0, 0, 2], [0.6, 0.8, 1.0, 0.0], [0, 1, 2], [1, 0], kind="compact"
    )
    with pytest.raises(ValueError, match=message):
        replace(good, **change)


def test_levels_that_drop_two_wavelets_are_not_compact() -> None:
    two = wm.Rotations.from_levels(3, [[0, 1, 2]], [np.eye(3)], [[0, 1]])
    with pytest.raises(InvalidFactorizationError, match="level 1 drops 2 wavelets"):
        two.to_compact()


def test_other_survivors_are_not_compact() -> None:
    f = wm.factorize(wm.graphs.karate(), core=8, k=8, select=Greedy(survivors="eigenvectors"))
    with pytest.raises(InvalidFactorizationError, match="is no compact level"):
        f.rotations.to_compact()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drop": 2}, "got drop=2; take drop=1"),
        ({"select": Greedy(survivors="eigenvectors")}, "got survivors='eigenvectors'"),
        ({"rotations": "small"}, "rotations must be one of"),
    ],
)
def test_settings_that_contradict_each_other(settings, message) -> None:
    settings = {"rotations": "compact", **settings}
    for function, a in ((wm.factorize, np.eye(5)), (wm.factorize_many, [np.eye(5)])):
        with pytest.raises(InvalidInputError, match=message):
            function(a, core=2, k=4, **settings)


def test_files_keep_the_kind(tmp_path: Path) -> None:
    f = karate()
    f.save(tmp_path / "compact.mmf")
    g = wm.load(tmp_path / "compact.mmf")
    assert g.rotations.kind == "compact"
    np.testing.assert_array_equal(g.rotations.blocks, f.rotations.blocks)
    save_collection([f, replace(f, rotations=f.rotations.to_full())], tmp_path / "two.mmfs")
    kinds = [each.rotations.kind for each in load_collection(tmp_path / "two.mmfs")]
    assert kinds == ["compact", "full"]
    copied = pickle.loads(pickle.dumps(f))
    assert copied.rotations.kind == "compact"


def test_files_with_another_kind_are_refused(tmp_path: Path) -> None:
    import zipfile

    karate().save(tmp_path / "good.mmf")
    with zipfile.ZipFile(tmp_path / "good.mmf") as good:
        members = {name: good.read(name) for name in good.namelist()}
    for kind in ("full", "small", 3):
        header = {**json.loads(members["header.json"]), "rotations": kind}
        with zipfile.ZipFile(tmp_path / "bad.mmf", "w") as bad:
            for name, content in {**members, "header.json": json.dumps(header)}.items():
                bad.writestr(name, content)
        with pytest.raises(FileFormatError):
            wm.load(tmp_path / "bad.mmf")


def test_a_data_set_gives_what_each_graph_gives_alone() -> None:
    graphs = [wm.graphs.cycle(12), wm.graphs.karate(), wm.graphs.grid(4, 5)]
    many = wm.factorize_many(graphs, core=4, k=6, rotations="compact")
    for f, graph in zip(many, graphs, strict=True):
        alone = wm.factorize(graph, core=4, k=6, rotations="compact")
        assert f.rotations.kind == "compact"
        assert f.error() == alone.error()
        assert f.parameters == alone.parameters


def test_levels_of_both_kinds_are_joined_as_full_ones() -> None:
    r = random_levels(6, [3, 2])
    rest = wm.Rotations.from_levels(2, [[0, 1]], [np.eye(2)], [[0]])
    joined = wm.Rotations.one_after_another(6, [(r, np.arange(6)), (rest, r.core[:2])])
    assert joined.kind == "full"
    same = wm.Rotations.one_after_another(6, [(r, np.arange(6))])
    assert same.kind == "compact"


def test_large_sparse_matrices_in_parts() -> None:
    a = wm.graphs.normalized_laplacian(wm.graphs.grid(24, 24))
    settings = {"core": 60, "k": 6, "rotations": "compact", "engine": "sparse"}
    f = wm.factorize(a, **settings)
    learned = wm.factorize(a, optimize="lbfgs", steps=10, **settings)
    for each in (f, learned):
        assert each.rotations.kind == "compact"
        assert abs(each.error() - np.linalg.norm(a.toarray() - each.to_dense())) <= 1e-9
