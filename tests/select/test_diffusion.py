"""Rotations chosen for squared diffusions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InvalidInputError
from wavemmf.factorization._estimate import estimated_error
from wavemmf.kernels.merge import _rotation
from wavemmf.kernels.square import row_energies, square_rows
from wavemmf.select import Diffusion, Task
from wavemmf.select import _diffusion as diffusion
from wavemmf.select import _operator as operators
from wavemmf.select._dense import inverse, multiplied
from wavemmf.select._merge import merge_rows
from wavemmf.select._operator import first_walk, spectral_range, squared

SETTINGS = [
    ({"time": 0.0}, "time must be a finite number above 0"),
    ({"time": 1e30}, "time must be at most"),
    ({"ratio": 1.0}, "ratio must be between 0 and 1"),
    ({"ratio": np.nan}, "ratio must be a finite number"),
    ({"tolerance": -0.1}, "tolerance must be at least 0 and below 1"),
    ({"survivors": "all"}, "survivors must be one of"),
    ({"balanced": 1}, "balanced must be True or False"),
]


@pytest.fixture
def laplacian() -> sp.csr_array:
    return wm.graphs.normalized_laplacian(wm.graphs.grid(9, 11))


@pytest.mark.parametrize(("wrong", "message"), SETTINGS)
def test_settings_that_are_not_allowed(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        Diffusion(**wrong)


# -- operators --


@pytest.mark.parametrize("n", [0, 1, 5, 32, 33, 65, 200])
def test_inverses_and_products(rng, n):
    left, right = rng.normal(size=(n, 7)), rng.normal(size=(7, 140))
    np.testing.assert_allclose(multiplied(left, right), left @ right, atol=1e-12)
    matrix = rng.normal(size=(n, n))
    matrix = matrix @ matrix.T + np.eye(n)
    found = inverse(matrix)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found @ matrix, np.eye(n), atol=1e-10)


@pytest.mark.parametrize("doublings", [0, 1, 2, 4])
def test_a_diffusion_is_close_to_the_heat_kernel(laplacian, doublings):
    walk = first_walk(laplacian, balanced=False)
    for _ in range(doublings):
        walk = walk.doubled(0.0)
    values, vectors = np.linalg.eigh(laplacian.toarray())
    heat = (vectors * np.exp(-walk.time * values)) @ vectors.T
    step = walk.step.toarray()
    scaled = step / np.linalg.eigvalsh(step)[-1]
    assert walk.time == 0.5 * 2**doublings
    assert walk.pruned == 0.0
    assert np.linalg.norm(scaled - heat) < 0.35 * np.linalg.norm(heat)
    assert np.linalg.eigvalsh(scaled)[0] > -1e-12


def test_rows_grow_until_they_are_long_or_the_time_is_over(laplacian, monkeypatch):
    walk = first_walk(laplacian, balanced=True)
    monkeypatch.setattr(operators, "_SHORT_ROWS", 99)
    assert walk.grown(8.0, 0.0).time == 8.0
    assert walk.grown(9.0, 0.0).time == 16.0
    monkeypatch.setattr(operators, "_SHORT_ROWS", 12)
    longest = walk.grown(1e4, 0.0)
    assert longest.step.nnz > 12 * 99 >= walk.doubled(0.0).step.nnz


@pytest.mark.parametrize("balanced", [False, True])
def test_dense_and_sparse_operators_agree(laplacian, balanced):
    dense, sparse = (first_walk(m, balanced) for m in (laplacian.toarray(), laplacian))
    np.testing.assert_allclose(sparse.step.toarray(), dense.step, atol=1e-14)
    np.testing.assert_allclose(sparse.up_to(100.0), dense.up_to(100.0), atol=1e-12)


@pytest.mark.parametrize("balanced", [False, True])
def test_all_times_together_are_a_resolvent(laplacian, balanced):
    walk = first_walk(laplacian, balanced)
    step = walk.step.toarray()
    step /= np.linalg.eigvalsh(step)[-1]
    expected = 0.005 * np.linalg.inv(1.005 * np.eye(99) - step)
    found = walk.up_to(100.0)
    np.testing.assert_array_equal(found, found.T)
    # The largest eigenvalue is rounded outwards.
    np.testing.assert_allclose(found, expected, rtol=0.05, atol=1e-4)


def test_pruning_is_relative_to_rows_and_accounted_for(rng):
    scales = 10.0 ** -np.arange(40.0)
    matrix = rng.normal(size=(40, 40))
    matrix = np.outer(scales, scales) * (matrix + matrix.T)
    exact = matrix @ matrix
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
    for balanced in (False, True):
        step = first_walk(value * np.eye(4), balanced).step
        np.testing.assert_allclose(step / step[0, 0], np.eye(4), atol=1e-14)


def test_a_balanced_walk_is_symmetric_and_leaves_constants_as_they_are(rng):
    weights = sp.random_array((40, 40), density=0.1, rng=rng)
    weights = sp.csr_array(weights + weights.T)
    weights.setdiag(0.0)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    combinatorial = sp.csr_array(sp.diags_array(sums) - weights)
    walk = first_walk(combinatorial, balanced=True)
    step = walk.step.toarray()
    np.testing.assert_allclose(step, step.T, atol=1e-15)
    np.testing.assert_allclose(step.sum(axis=1), 1.0, atol=1e-8)
    assert np.linalg.eigvalsh(step)[0] > -1e-12
    same = first_walk(wm.graphs.normalized_laplacian(weights), balanced=True)
    np.testing.assert_allclose(same.step.toarray(), step, atol=1e-8)


def test_positive_entries_beside_the_diagonal_are_no_walk(rng):
    matrix = rng.normal(size=(9, 9))
    matrix = matrix @ matrix.T
    balanced, plain = (first_walk(matrix, b).step for b in (True, False))
    np.testing.assert_array_equal(balanced, plain)


def test_the_total_is_near_the_inverse(laplacian):
    """Of -log T, but for the times before the first step, whose weights add up to one."""
    values, vectors = np.linalg.eigh(laplacian.toarray())
    walk = first_walk(laplacian, balanced=False)
    while walk.time < 2.0**12:
        walk = walk.doubled(0.0)
    slow = slice(1, 16)
    found = np.diag(vectors.T @ walk.total @ vectors)[slow] * 2.0 * walk.time + 1.0
    rate = -np.log(1.0 - values[slow] / 2.0)
    np.testing.assert_allclose(found * rate * np.log(2.0), 1.0, atol=0.02)


# -- pairs --


def merged_by_brute_force(operator, core):
    """Return wavelets as rows, and what is left: the same levels with full matrices."""
    n = operator.shape[0]
    basis, rows = np.eye(n), list(range(n))
    wavelets = []
    while len(rows) > core:
        matrix = basis @ operator @ basis.T
        pairs = [(a, b) for a in rows for b in rows if a < b]
        blocks = [np.linalg.eigh(matrix[np.ix_(pair, pair)]) for pair in pairs]
        best = int(np.argmin([values[0] for values, _ in blocks]))
        a, b = pairs[best]
        keep, leave = (a, b) if matrix[a, a] >= matrix[b, b] else (b, a)
        small, large = (blocks[best][1].T @ basis[[a, b]])[:2]
        basis[keep], basis[leave] = large, small
        wavelets.append(small)
        rows.remove(leave)
    return np.array(wavelets), (basis @ operator @ basis.T)[np.ix_(rows, rows)]


def test_merging_pairs_does_what_brute_force_does(rng):
    factor = rng.normal(size=(14, 14))
    operator = factor @ factor.T
    reduced = merge_rows(sp.csr_array(operator), Task(3, 2, 1), 0.0)
    wavelets, left = merged_by_brute_force(operator, 3)
    basis = wm.factorization.Factorization.from_rotations(operator, reduced.rotations).basis()
    found = basis.toarray()[reduced.rotations.wavelets]
    np.testing.assert_allclose(np.abs(found @ wavelets.T), np.eye(11), atol=1e-9)
    np.testing.assert_allclose(np.abs(reduced.matrix.toarray()), np.abs(left), atol=1e-9)


def test_what_merging_discards_is_accounted_for(laplacian):
    walk = first_walk(laplacian, balanced=True).grown(4.0, 0.0)
    exact = merge_rows(walk.total, Task(70, 2, 1), 0.0)
    pruned = merge_rows(walk.total, Task(70, 2, 1), 0.02)
    assert exact.discarded == 0.0 < pruned.discarded
    assert pruned.matrix.nnz < exact.matrix.nnz
    np.testing.assert_array_equal(pruned.matrix.toarray(), pruned.matrix.toarray().T)


def test_rows_without_entries_are_dropped_alone():
    reduced = merge_rows(sp.csr_array(np.diag([3.0, 1.0, 2.0])), Task(1, 2, 1), 0.0)
    assert reduced.rotations.wavelets.tolist() == [1, 2]
    assert reduced.rotations.sizes.tolist() == [1, 1]
    assert reduced.matrix.toarray().tolist() == [[3.0]]


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
    monkeypatch.setattr(diffusion, "_ALL_TIMES_UP_TO", 16)
    weights = sp.random_array((60, 60), density=0.06, rng=rng)
    matrix = wm.graphs.normalized_laplacian(weights + weights.T)
    order = rng.permutation(60)
    first = wm.factorize(matrix, core=5, k=3, select="diffusion", engine=engine)
    mixed = sp.csr_array(matrix[order][:, order])
    second = wm.factorize(mixed, core=5, k=3, select="diffusion", engine=engine)
    np.testing.assert_array_equal(order[second.rotations.groups], first.rotations.groups)
    np.testing.assert_array_equal(second.rotations.blocks, first.rotations.blocks)


def test_what_every_stage_did_is_told(laplacian, monkeypatch):
    monkeypatch.setattr(diffusion, "_ALL_TIMES_UP_TO", 12)
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


def test_few_rows_take_all_times_at_once(laplacian):
    f = wm.factorize(laplacian, core=8, k=2, select="diffusion", engine="sparse")
    assert [(stage["rows"], stage["left"]) for stage in f.history.details["stages"]] == [(99, 8)]


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
def large(monkeypatch) -> sp.csr_array:
    monkeypatch.setattr(diffusion, "_ALL_TIMES_UP_TO", 500)
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


@pytest.mark.parametrize("between", [1e-15, -1e-15, 1e-200, 0.3, -0.3])
@pytest.mark.parametrize("apart", [0.0, 1e-12, -1e-12, 0.5])
def test_rotations_of_rows_that_are_nearly_equal(between, apart):
    c, s = _rotation(1.0 + apart, between, 1.0)
    assert c * c + s * s == pytest.approx(1.0, abs=1e-14)
    block = np.array([[1.0 + apart, between], [between, 1.0]])
    largest = np.linalg.eigvalsh(block)[-1]
    assert np.array([c, s]) @ block @ [c, s] == pytest.approx(largest, abs=1e-15)
