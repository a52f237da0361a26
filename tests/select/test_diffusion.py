"""Rotations chosen for squared diffusions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InvalidInputError
from wavemmf.factorization._estimate import estimated_error
from wavemmf.kernels.square import row_energies, square_rows
from wavemmf.select import Diffusion, Task
from wavemmf.select import _diffusion as diffusion
from wavemmf.select._operator import short_diffusion, spectral_range, squared

SETTINGS = [
    ({"time": 0.0}, "time must be a finite number above 0"),
    ({"time": 1e30}, "time must be at most"),
    ({"ratio": 1.0}, "ratio must be between 0 and 1"),
    ({"ratio": np.nan}, "ratio must be a finite number"),
    ({"tolerance": -0.1}, "tolerance must be at least 0 and below 1"),
    ({"survivors": "all"}, "survivors must be one of"),
]


@pytest.fixture
def laplacian() -> sp.csr_array:
    return wm.graphs.normalized_laplacian(wm.graphs.grid(9, 11))


@pytest.mark.parametrize(("wrong", "message"), SETTINGS)
def test_settings_that_are_not_allowed(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        Diffusion(**wrong)


# -- operators --


@pytest.mark.parametrize("time", [0.3, 1.0, 2.0, 3.0, 10.0])
def test_a_short_diffusion_is_close_to_the_heat_kernel(laplacian, time):
    dense = laplacian.toarray()
    values, vectors = np.linalg.eigh(dense)
    heat = (vectors * np.exp(-time * values)) @ vectors.T
    operator, pruned = short_diffusion(dense, time, 0.5)
    scaled = operator / np.linalg.eigvalsh(operator)[-1]
    assert pruned == 0.0
    assert np.linalg.norm(scaled - heat) < 0.35 * np.linalg.norm(heat)
    assert np.linalg.eigvalsh(scaled)[0] > -1e-12


def test_dense_and_sparse_operators_agree(laplacian):
    dense, _ = short_diffusion(laplacian.toarray(), 3.0, 0.0)
    sparse, pruned = short_diffusion(laplacian, 3.0, 0.0)
    np.testing.assert_allclose(sparse.toarray(), dense, atol=1e-14)
    assert pruned == 0.0


def test_pruning_is_relative_to_rows_and_accounted_for(rng):
    scales = 10.0 ** -np.arange(40.0)
    matrix = rng.normal(size=(40, 40))
    matrix = np.outer(scales, scales) * (matrix + matrix.T)
    exact = (matrix / 2.0) @ (matrix / 2.0)
    found, share = squared(sp.csr_array(matrix), 0.2)
    ratio = exact[0, 0] / found[0, 0]
    dense = found.toarray() * ratio
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    stays = (np.abs(exact) > 0.2 * size) | np.eye(40, dtype=bool)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_allclose(dense, np.where(stays, exact, 0.0), rtol=1e-9)
    left_out = np.linalg.norm(np.where(stays, 0.0, exact))
    assert share == pytest.approx(left_out / np.linalg.norm(exact))


def test_the_square_does_not_depend_on_the_pieces(laplacian):
    csr = (laplacian.indptr, laplacian.indices, laplacian.data)
    energies = row_energies(laplacian.indptr, laplacian.data)
    whole = square_rows(*csr, energies, 0.01, 0, 99)
    parts = [square_rows(*csr, energies, 0.01, i, min(99, i + 7)) for i in range(0, 99, 7)]
    for position in range(3):
        joined = np.concatenate([part[position] for part in parts])
        np.testing.assert_array_equal(joined, whole[position])
    assert sum(part[3] for part in parts) == pytest.approx(whole[3])


@pytest.mark.parametrize("shift", [0.0, -3.0, 100.0])
def test_the_range_of_a_spectrum(laplacian, shift):
    low, high = spectral_range(sp.csr_array(laplacian + shift * sp.eye_array(99)))
    assert shift - 0.05 < low <= shift + 1e-4
    assert 2.0 + shift - 1e-4 <= high < 2.05 + shift


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_multiple_of_the_identity_diffuses_into_one(value):
    operator, _ = short_diffusion(value * np.eye(4), 2.0, 0.0)
    np.testing.assert_allclose(operator / operator[0, 0], np.eye(4), atol=1e-14)


# -- what is chosen --


def test_smooth_signals_have_fewer_large_coefficients_than_in_the_laplacians_own_basis(laplacian):
    smooth = np.linalg.eigh(laplacian.toarray())[1][:, :12]

    def lost(select):
        f = wm.factorize(laplacian, core=6, k=2, select=select)
        energy = np.sort(f.analyze(smooth) ** 2, axis=0)[::-1]
        return energy[20:].sum()

    assert lost("diffusion") < 0.7 * lost("greedy")


@pytest.mark.parametrize("engine", ["dense", "sparse"])
def test_the_order_of_the_rows_does_not_matter(rng, engine, monkeypatch):
    monkeypatch.setattr(diffusion, "_DENSE_UP_TO", 16)
    weights = sp.random_array((60, 60), density=0.06, rng=rng)
    matrix = wm.graphs.normalized_laplacian(weights + weights.T)
    order = rng.permutation(60)
    first = wm.factorize(matrix, core=5, k=3, select="diffusion", engine=engine)
    mixed = sp.csr_array(matrix[order][:, order])
    second = wm.factorize(mixed, core=5, k=3, select="diffusion", engine=engine)
    np.testing.assert_array_equal(order[second.rotations.groups], first.rotations.groups)
    np.testing.assert_array_equal(second.rotations.blocks, first.rotations.blocks)


def test_what_every_stage_did_is_told(laplacian):
    f = wm.factorize(laplacian, core=8, k=2, select=Diffusion(ratio=0.5), engine="sparse")
    stages = f.history.details["stages"]
    assert [stage["rows"] for stage in stages] == [99, 50, 25, 12]
    assert [stage["left"] for stage in stages] == [50, 25, 12, 8]
    assert all(0.0 <= stage["pruned"] < 1.0 for stage in stages)
    assert f.history.method == "diffusion"
    assert f.error_is_exact


def test_restarts_are_refused(laplacian):
    with pytest.raises(InvalidInputError, match="knows one sequence only"):
        wm.factorize(laplacian, core=8, select="diffusion", restarts=3)


def test_many_graphs_are_refused(laplacian):
    with pytest.raises(InvalidInputError, match="chooses greedily"):
        wm.factorize_many([laplacian], select="diffusion")


def test_optimising_is_for_the_operator_of_each_stage(laplacian):
    plain, learned = (
        wm.factorize(laplacian, core=8, k=3, select="diffusion", optimize=optimize, engine="dense")
        for optimize in (None, "lbfgs")
    )
    before, after = (f.history.details["stages"][0]["residual"] for f in (plain, learned))
    assert after < before
    assert learned.history.method == "lbfgs in stages"


def test_a_checkpoint_is_for_one_optimisation(laplacian, tmp_path):
    optimizer = wm.optimize.LBFGS(checkpoint=tmp_path / "run")
    with pytest.raises(InvalidInputError, match="stage by stage"):
        wm.factorize(laplacian, core=8, select="diffusion", optimize=optimizer)


# -- large and sparse --


@pytest.fixture
def large() -> sp.csr_array:
    return wm.graphs.normalized_laplacian(wm.graphs.grid(150, 150))


def test_large_graphs_are_sparse_all_the_way(large, rng):
    f = wm.factorize(large, core=3000, k=2, select=Diffusion(time=1.0))
    x = rng.normal(size=(f.n, 2))
    np.testing.assert_allclose(f.synthesize(f.analyze(x)), x, atol=1e-10)
    assert f.basis(threshold=1e-3).nnz < 20 * f.n
    stages = f.history.details["stages"]
    assert max(stage["entries"] / stage["rows"] for stage in stages) < 100
    estimate = estimated_error(f, large, samples=16, seed=0)
    assert estimate[0] == pytest.approx(f.error(), rel=0.05)


def test_the_number_of_threads_does_not_matter(large, monkeypatch):
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        found.append(wm.factorize(large, core=9000, k=2, select=Diffusion(time=1.0)))
    np.testing.assert_array_equal(found[0].rotations.groups, found[1].rotations.groups)
    np.testing.assert_array_equal(found[0].rotations.blocks, found[1].rotations.blocks)
    assert found[0].error() == found[1].error()


def test_stages_of_parts_take_an_optimizer(laplacian):
    f = wm.factorize(laplacian, core=8, k=3, select="diffusion", optimize="lbfgs", engine="sparse")
    assert f.core_size == 8
    assert f.history.method == "lbfgs in stages"


def test_isolated_vertices_and_components_are_no_hindrance():
    blocks = [wm.graphs.path(7).adjacency, sp.csr_array((5, 5)), wm.graphs.cycle(9).adjacency]
    f = wm.factorize(
        sp.block_diag(blocks), matrix="normalized_laplacian", core=4, k=2, select="diffusion"
    )
    assert f.core_size == 4


def test_a_task_may_be_done_by_the_selector_alone(laplacian):
    rotations = Diffusion().select(laplacian, Task(core=8, k=2, drop=1))
    f = wm.factorize(laplacian, core=8, k=2, select="diffusion", engine="sparse")
    np.testing.assert_array_equal(rotations.groups, f.rotations.groups)
