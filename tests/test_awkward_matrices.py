"""Awkward numbers: repeated rows, blocks, ill-conditioned and renumbered matrices, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import oracle
import wavemmf as wm
from wavemmf.select import Greedy


@pytest.mark.parametrize("k", [2, 4])
def test_ill_conditioned_matrices_keep_an_exact_error(k):
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    a = (vectors * np.logspace(-15, 15, 20)) @ vectors.T
    a = 0.5 * (a + a.T)
    f = wm.factorize(a, core=4, k=k)
    assert abs(f.error() - np.linalg.norm(a - f.to_dense())) <= 1e-12 * np.linalg.norm(a)


def test_float32_is_factorized_as_the_same_numbers_in_float64():
    a = oracle.random_symmetric(20, seed=1).astype(np.float32)
    a = np.maximum(a, a.T)
    f, g = (wm.factorize(m, core=4, k=4) for m in (a, a.astype(np.float64)))
    np.testing.assert_array_equal(f.rotations.blocks, g.rotations.blocks)


@pytest.mark.parametrize("k", [2, 3])
def test_repeated_rows_cost_nothing(k):
    """Equal rows rotate into one row and zeros."""
    small = oracle.random_symmetric(4, seed=2)
    a = np.kron(small, np.ones((3, 3)))
    f = wm.factorize(a, core=4, k=k)
    assert f.relative_error() < 1e-12


def test_block_diagonal_matrices_keep_their_blocks():
    """Groups never join rows of different blocks while a block has rows to offer."""
    blocks = [oracle.random_symmetric(6, seed=s) + 6.0 * np.eye(6) for s in range(3)]
    f = wm.factorize(scipy.linalg.block_diag(*blocks), core=9, k=3)
    dense = f.to_dense()
    for i in range(3):
        dense[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = 0.0
    assert np.abs(dense).max() < 1e-12


@pytest.mark.parametrize("survivors", ["eigenvectors", "nearest"])
@pytest.mark.parametrize("k", [2, 4])
def test_renumbered_rows_give_renumbered_wavelets(k, survivors):
    """True without ties; with ties (grids, unweighted graphs) the lower number wins."""
    a = oracle.random_symmetric(25, seed=11)
    order = np.random.default_rng(12).permutation(25)
    f = wm.factorize(a, core=6, k=k, select=Greedy(survivors=survivors))
    g = wm.factorize(a[np.ix_(order, order)], core=6, k=k, select=Greedy(survivors=survivors))
    assert g.error() == pytest.approx(f.error(), rel=1e-9)
    back = np.argsort(order)
    for level in range(1, f.num_levels + 1):
        one, other = f.wavelet(level), g.wavelet(level)[back]
        np.testing.assert_allclose(np.abs(one @ other), 1.0, atol=1e-7)


def test_ties_keep_renumbered_errors_close():
    graph = wm.graphs.grid(8, 8)
    a = wm.graphs.normalized_laplacian(graph).toarray()
    errors = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(64)
        errors.append(wm.factorize(a[np.ix_(order, order)], core=8, k=4).relative_error())
    assert max(errors) < 1.25 * min(errors)


@pytest.fixture
def handed_out(monkeypatch):
    """Return a list that grows by the name of every function that is given to a thread."""
    names = []
    submit = ThreadPoolExecutor.submit

    def spy(self, function, *arguments):
        names.append(getattr(function, "__name__", str(function)))
        return submit(self, function, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", spy)
    return names


def bits(f):
    core = f.core.toarray() if sp.issparse(f.core) else f.core
    arrays = (f.rotations.groups, f.rotations.blocks, f.frequencies, core)
    return [array.tobytes() for array in arrays], f.error()


# Large enough that work is handed to threads, which each case proves.
THREADED = {
    "learned": lambda: wm.factorize(
        wm.graphs.grid(20, 20), core=40, k=8, optimize="lbfgs", steps=5
    ),
    "adam": lambda: wm.factorize(wm.graphs.grid(16, 16), core=40, k=4, optimize="adam", steps=3),
    "projected": lambda: wm.factorize(wm.graphs.grid(56, 56), core=320, k=4),
    "in parts": lambda: wm.factorize(
        wm.graphs.grid(32, 32), core=100, k=4, engine="sparse", optimize="lbfgs", steps=3
    ),
    "restarts": lambda: wm.factorize(
        wm.graphs.grid(8, 8), core=8, k=4, restarts=6, optimize="lbfgs", steps=5
    ),
}


@pytest.mark.parametrize("case", THREADED)
def test_threads_do_not_change_a_bit(case, monkeypatch, handed_out):
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", "1")
    alone = bits(THREADED[case]())
    assert not handed_out
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", "2")
    assert bits(THREADED[case]()) == alone
    assert handed_out


def test_threads_do_not_change_a_bit_of_a_transform(monkeypatch, handed_out, rng):
    f = wm.factorize(wm.graphs.grid(20, 20), core=40, k=8)
    x = rng.standard_normal((400, 96))
    handed_out.clear()
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        found.append((f.analyze(x).tobytes(), f.synthesize(x).tobytes(), (f @ x).tobytes()))
        assert bool(handed_out) == (threads != "1")
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_threads_do_not_matter_to_what_is_too_small_for_them(engine, monkeypatch):
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        found.append(bits(wm.factorize(wm.graphs.grid(12, 12), core=14, k=4, engine=engine)))
    assert found[0] == found[1]
