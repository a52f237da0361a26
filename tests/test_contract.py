"""What every factorization must satisfy, for every selector, k, drop and kind of matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import wavemmf as wm
from wavemmf.factorization import _compress as compress
from wavemmf.select import Greedy

SELECTORS = {
    "greedy": {"select": "greedy"},
    "greedy-eigenvectors": {"select": Greedy(survivors="eigenvectors")},
    "greedy-nearest": {"select": Greedy(survivors="nearest")},
    "greedy-correlated": {"select": Greedy(pairs="correlated")},
    "greedy-sparse": {"select": "greedy", "engine": "sparse"},
    "diffusion": {"select": "diffusion"},
    "diffusion-sparse": {"select": "diffusion", "engine": "sparse"},
    "random": {"select": "random"},
    "neighbors": {"select": "neighbors"},
    "regular": {"select": "regular"},
    "evolution": {"select": "evolution", "restarts": 12},
}
SIZES = [(2, 1), (3, 1), (3, 2), (4, 1), (5, 3), (8, 1), (8, 7)]


COMPACT = [name for name in SELECTORS if name != "greedy-eigenvectors"]


def factorize(
    a: np.ndarray, selector: str, k: int, drop: int, core: int, rotations: str = "full"
) -> wm.Factorization:
    settings = {"rotations": rotations, **SELECTORS[selector]}
    return wm.factorize(a, core=core, k=k, drop=drop, seed=3, **settings)


def check_everything(f: wm.Factorization, a: np.ndarray) -> None:
    oracle.check_constraints(f)
    scale = max(np.linalg.norm(a), 1e-300)
    w = oracle.basis(f)
    dense = f.to_dense()
    np.testing.assert_allclose(w @ w.T, np.eye(f.n), atol=1e-12)
    np.testing.assert_allclose(dense, oracle.best_approximation(f, a), atol=1e-11 * scale)
    assert abs(f.error() - np.linalg.norm(a - dense)) <= 1e-9 * scale
    np.testing.assert_allclose(f.basis().toarray(), w, atol=1e-12)
    np.testing.assert_array_equal(dense, dense.T)
    squared = np.linalg.norm(f.h.to_sparse().toarray()) ** 2
    assert f.error() ** 2 == pytest.approx(scale**2 - squared, abs=1e-9 * scale**2)

    x = np.random.default_rng(0).normal(size=(f.n, 3))
    np.testing.assert_allclose(f.analyze(x), w @ x, atol=1e-12)
    np.testing.assert_allclose(f.synthesize(f.analyze(x)), x, atol=1e-12)
    np.testing.assert_allclose(f @ x, dense @ x, atol=1e-11 * scale)


@pytest.mark.parametrize("matrix", oracle.MATRICES)
@pytest.mark.parametrize(("k", "drop"), SIZES)
@pytest.mark.parametrize("selector", SELECTORS)
class TestContract:
    @pytest.fixture
    def a(self, matrix: str) -> np.ndarray:
        return oracle.MATRICES[matrix]

    @pytest.fixture
    def f(self, a: np.ndarray, selector: str, k: int, drop: int) -> wm.Factorization:
        return factorize(a, selector, k, drop, core=min(3, len(a)))

    def test_everything_against_the_dense_oracle(self, f: wm.Factorization, a: np.ndarray) -> None:
        check_everything(f, a)


@pytest.mark.parametrize("matrix", oracle.MATRICES)
@pytest.mark.parametrize("k", [2, 3, 8, 17])
@pytest.mark.parametrize("selector", COMPACT)
def test_compact_levels_against_the_dense_oracle(selector: str, k: int, matrix: str) -> None:
    a = oracle.MATRICES[matrix]
    f = factorize(a, selector, k, 1, core=min(3, len(a)), rotations="compact")
    assert f.rotations.kind == "compact"
    assert f.rotations.blocks.size == f.rotations.groups.size
    check_everything(f, a)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("matrix", ["path", "isolated", "dense", "zero", "single"])
@pytest.mark.parametrize("core", ["none", "all"])
def test_core_of_zero_and_of_everything(selector: str, matrix: str, core: str) -> None:
    a = oracle.MATRICES[matrix]
    f = factorize(a, selector, 4, 2, core=0 if core == "none" else len(a))
    oracle.check_constraints(f)
    assert abs(f.error() - np.linalg.norm(a - f.to_dense())) <= 1e-9 * max(np.linalg.norm(a), 1)
    if core == "all":
        assert f.num_levels == 0
        assert f.error() == 0.0


@pytest.mark.parametrize("selector", SELECTORS)
def test_same_seed_same_result(selector: str) -> None:
    a = oracle.MATRICES["grid"]
    first, second = (factorize(a, selector, 4, 1, core=5) for _ in range(2))
    np.testing.assert_array_equal(first.rotations.groups, second.rotations.groups)
    np.testing.assert_array_equal(first.rotations.blocks, second.rotations.blocks)
    assert first.error() == second.error()


@pytest.mark.parametrize("selector", ["random", "neighbors"])
def test_another_seed_another_result(selector: str) -> None:
    a = oracle.MATRICES["grid"]
    first, second = (
        wm.factorize(a, core=5, k=4, select=SELECTORS[selector]["select"], seed=seed)
        for seed in (0, 1)
    )
    assert first.rotations.groups.tolist() != second.rotations.groups.tolist()


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint8, bool])
def test_input_dtypes(selector: str, dtype: type) -> None:
    a = (oracle.random_symmetric(20, seed=4, density=0.4) > 0).astype(dtype)
    a = np.maximum(a, a.T)
    f = factorize(a, selector, 4, 1, core=4)
    assert f.error() == pytest.approx(np.linalg.norm(a.astype(float) - f.to_dense()), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("selector", SELECTORS)
def test_scale_does_not_matter(selector: str, scale: float) -> None:
    a = oracle.MATRICES["grid"]
    exact = 2.0 ** round(np.log2(scale))
    small, large = (factorize(m, selector, 4, 1, core=5) for m in (a, a * exact))
    np.testing.assert_array_equal(small.rotations.groups, large.rotations.groups)
    assert large.relative_error() == pytest.approx(small.relative_error(), rel=1e-9)


@pytest.mark.parametrize("selector", SELECTORS)
def test_matrices_that_are_already_compressed_have_no_error(selector: str) -> None:
    for name in ("diagonal", "zero", "identity"):
        a = oracle.MATRICES[name]
        assert factorize(a, selector, 3, 1, core=2).error() <= 1e-12 * max(np.linalg.norm(a), 1)


def test_sparse_and_dense_input_agree() -> None:
    a = oracle.MATRICES["grid"]
    dense = wm.factorize(a, core=5, k=4)
    for sparse in (sp.csr_array(a), sp.csc_matrix(a), sp.coo_array(a), sp.lil_matrix(a)):
        f = wm.factorize(sparse, core=5, k=4)
        np.testing.assert_array_equal(f.rotations.groups, dense.rotations.groups)
        assert f.error() == dense.error()


def test_the_matrix_given_is_left_alone() -> None:
    for name in SELECTORS:
        a = oracle.MATRICES["grid"].copy()
        before = a.copy()
        factorize(a, name, 4, 1, core=5)
        np.testing.assert_array_equal(a, before)
        s = sp.csr_array(a)
        wm.factorize(s, core=5, k=4, **SELECTORS[name])
        np.testing.assert_array_equal(s.toarray(), before)


def test_sparse_compression_matches_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to compute H and the error, for all selectors and matrices."""
    for name, a in oracle.MATRICES.items():
        for k, drop in SIZES:
            f = wm.factorize(a, core=min(3, len(a)), k=k, drop=drop)
            with monkeypatch.context() as patch:
                patch.setattr(compress, "_DENSE_UP_TO", 0)
                sparse = wm.Factorization.from_rotations(sp.csr_array(a), f.rotations)
            scale = max(np.linalg.norm(a), 1e-300)
            np.testing.assert_allclose(
                sparse.h.to_sparse().toarray(),
                f.h.to_sparse().toarray(),
                atol=1e-10 * scale,
                err_msg=name,
            )
            assert abs(sparse.error() - f.error()) <= 1e-10 * scale


def test_drop_never_leaves_fewer_than_the_core() -> None:
    a = oracle.random_symmetric(17, seed=5)
    f = wm.factorize(a, core=4, k=5, drop=4)
    assert f.core_size == 4
    assert [f.rotations.dropped(level).size for level in range(1, f.num_levels + 1)] == [4, 4, 4, 1]


def test_wavelets_dropped_together_do_not_interact() -> None:
    """Inside one level the wavelets diagonalise the matrix, which costs nothing."""
    a = oracle.random_symmetric(24, seed=6)
    f = wm.factorize(a, core=4, k=6, drop=3)
    w = oracle.basis(f)
    h = w @ a @ w.T
    for level in range(1, f.num_levels + 1):
        dropped = f.rotations.dropped(level)
        block = h[np.ix_(dropped, dropped)]
        np.testing.assert_allclose(block, np.diag(np.diag(block)), atol=1e-10)
