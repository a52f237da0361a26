"""The result object: invariants, transforms, views, copies."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import oracle
import wavemmf as wm
from wavemmf.errors import (
    InputTypeError,
    InvalidFactorizationError,
    InvalidInputError,
    TooLargeError,
)
from wavemmf.factorization._norms import frobenius_norm


@pytest.fixture(scope="module")
def a() -> np.ndarray:
    return oracle.laplacian(nx.grid_2d_graph(7, 6))


@pytest.fixture(scope="module")
def f(a: np.ndarray) -> wm.Factorization:
    return wm.factorize(a, core=6, k=5, drop=2)


# -- constraints ----------------------------------------------------------------------------------


def levels(count: int = 2) -> dict[str, list]:
    return {
        "groups": [[0, 1, 2], [1, 3, 4]][:count],
        "blocks": [np.eye(3), np.eye(3)][:count],
        "wavelets": [[0], [4]][:count],
    }


@pytest.mark.parametrize(
    ("change", "message", "level"),
    [
        ({"groups": [[0, 1, 2], [0, 3, 4]]}, "level 2 .*index 0 .* dropped", 2),
        ({"groups": [[0, 1, 2], [1, 3, 9]]}, "level 2 .*index 9 is outside 0..4", 2),
        ({"groups": [[0, 1, -2], [1, 3, 4]]}, "level 1 .*index -2", 1),
        ({"groups": [[0, 1, 1], [1, 3, 4]]}, "level 1 .*index 1 appears twice", 1),
        ({"wavelets": [[3], [4]]}, "level 1 .*wavelet 3 is not in the group", 1),
        ({"wavelets": [[0, 0], [4]]}, "level 1 .*index 0 is dropped twice", 1),
        ({"blocks": [np.eye(3), 2 * np.eye(3)]}, "level 2 .*not orthogonal.* 3", 2),
        ({"blocks": [np.full((3, 3), np.nan), np.eye(3)]}, "level 1 .*not orthogonal", 1),
        ({"blocks": [np.eye(2), np.eye(3)]}, r"level 1.*shape \(2, 2\)", 1),
        ({"groups": [[0, 1, 2], []], "blocks": [np.eye(3), np.eye(0)]}, "level 2.*empty", 2),
        ({"wavelets": [[0]]}, "2 groups, 2 blocks and 1 wavelet sets", None),
    ],
)
def test_broken_constraints_name_the_level(change: dict, message: str, level: int | None) -> None:
    with pytest.raises(InvalidFactorizationError, match=message) as caught:
        wm.Rotations.from_levels(5, **{**levels(), **change})
    assert caught.value.level == level
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_packed_arrays_must_fit_together() -> None:
    good = wm.Rotations.from_levels(5, **levels())
    fields = {name: getattr(good, name) for name in good.__dataclass_fields__}
    for change, message in (
        ({"offsets": np.array([0, 3])}, "run from 0 to 6"),
        ({"offsets": np.array([0, 7, 6])}, "not decrease"),
        ({"blocks": np.zeros(5)}, "5 numbers"),
        ({"drop_offsets": np.array([0, 1, 1, 2])}, "2 groups but 3"),
        ({"groups": good.groups + 0.5}, "integers"),
        ({"wavelets": good.wavelets[None]}, "one-dimensional"),
    ):
        with pytest.raises(InvalidFactorizationError, match=message):
            wm.Rotations(**{**fields, **change})


def test_h_must_fit_the_rotations() -> None:
    rotations = wm.Rotations.from_levels(5, **levels())
    core = rotations.core
    h = wm.CoreDiagonal(np.zeros(5), np.zeros((3, 3)), core)
    good = {"rotations": rotations, "h": h, "matrix_norm": 1.0, "residual_norm": 0.5}
    wm.Factorization(**good)
    for change, message in (
        ({"h": wm.CoreDiagonal(np.zeros(6), np.zeros((3, 3)), core)}, "H has 6 rows"),
        ({"h": wm.CoreDiagonal(np.zeros(5), np.zeros((2, 2)), core[:2])}, "core of 2.* core of 3"),
        ({"h": wm.CoreDiagonal(np.zeros(5), np.zeros((3, 3)), [2, 3, 4])}, "does not fit"),
        ({"matrix_norm": -1.0}, "matrix_norm"),
        ({"residual_norm": np.nan}, "residual_norm"),
    ):
        with pytest.raises(InvalidFactorizationError, match=message):
            wm.Factorization(**{**good, **change})


def test_it_cannot_be_changed(f: wm.Factorization) -> None:
    with pytest.raises(AttributeError):
        f.matrix_norm = 3.0  # type: ignore[misc]
    for array in (f.core, f.frequencies, f.rotations.blocks, f.rotations.groups):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_arrays_given_are_copied() -> None:
    groups = np.array([0, 1])
    r = wm.Rotations(
        2, np.array([0, 2]), groups, np.eye(2).ravel(), np.array([0, 1]), np.array([0])
    )
    groups[0] = 7
    assert r.groups.tolist() == [0, 1]


# -- transforms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [None, 0, 1, 2, 7, 8, 9, 16, 17, 32, 33, 64, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_transforms_match_the_dense_basis(
    f: wm.Factorization, columns: int | None, dtype: type, order: str
) -> None:
    shape = (f.n,) if columns is None else (f.n, columns)
    x = np.asarray(np.random.default_rng(0).normal(size=shape), dtype=dtype, order=order)
    w = oracle.basis(f)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    c = f.analyze(x)
    assert c.dtype == dtype
    assert c.shape == x.shape
    assert c.flags.f_contiguous == x.flags.f_contiguous
    np.testing.assert_allclose(c, w @ x, atol=tolerance)
    np.testing.assert_allclose(f.synthesize(x), w.T @ x, atol=tolerance)
    np.testing.assert_allclose(f.synthesize(c), x, atol=tolerance)
    product = f @ x
    assert product.dtype == dtype
    np.testing.assert_allclose(product, f.to_dense() @ x, atol=10 * tolerance)


@pytest.mark.parametrize("transform", ["analyze", "synthesize"])
def test_out(f: wm.Factorization, transform: str) -> None:
    apply = getattr(f, transform)
    x = np.random.default_rng(1).normal(size=(f.n, 5))
    expected = apply(x)
    for out in (np.empty((f.n, 5)), np.empty((f.n, 5), order="F"), np.empty((f.n, 10))[:, ::2]):
        assert apply(x, out=out) is out
        np.testing.assert_array_equal(out, expected)
    inplace = x.copy()
    assert apply(inplace, out=inplace) is inplace
    np.testing.assert_array_equal(inplace, expected)
    overlapping = np.zeros((f.n + 1, 5))
    overlapping[:-1] = x
    apply(overlapping[:-1], out=overlapping[1:])
    np.testing.assert_array_equal(overlapping[1:], expected)
    vector = np.empty(f.n)
    assert apply(x[:, 0], out=vector) is vector
    np.testing.assert_allclose(vector, expected[:, 0], atol=1e-13)


def test_bad_signals(f: wm.Factorization) -> None:
    with pytest.raises(InvalidInputError, match=rf"\({f.n},\) or \({f.n}, m\), got \(3,\)"):
        f.analyze(np.zeros(3))
    with pytest.raises(InvalidInputError, match="shape"):
        f.analyze(np.zeros((f.n, 2, 2)))
    with pytest.raises(InputTypeError, match="complex"):
        f.analyze(np.zeros(f.n, complex))
    with pytest.raises(InputTypeError, match="real numbers"):
        f.analyze(np.array(["a"] * f.n))
    x = np.zeros(f.n)
    with pytest.raises(InvalidInputError, match="out must have shape"):
        f.analyze(x, out=np.zeros(f.n + 1))
    with pytest.raises(InvalidInputError, match="float32"):
        f.analyze(x, out=np.zeros(f.n, np.float32))
    with pytest.raises(InputTypeError, match="list"):
        f.analyze(x, out=[0.0] * f.n)  # type: ignore[arg-type]
    locked = np.zeros(f.n)
    locked.setflags(write=False)
    with pytest.raises(InvalidInputError, match="read-only"):
        f.analyze(x, out=locked)


def test_integers_and_lists_are_signals(f: wm.Factorization) -> None:
    np.testing.assert_allclose(f.analyze(range(f.n)), f.analyze(np.arange(float(f.n))))
    assert f.analyze(np.ones(f.n, np.int8)).dtype == np.float64


def test_one_thread_or_two_the_same_bits(
    f: wm.Factorization, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(2).normal(size=(f.n, 4000))
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        results.append(f.analyze(x))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


# -- operator and basis ---------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["matrix", "transform"])
def test_linear_operator_has_a_true_adjoint(f: wm.Factorization, part: str) -> None:
    operator = f.as_linear_operator(part)
    dense = f.to_dense() if part == "matrix" else oracle.basis(f)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=f.n), rng.normal(size=f.n)
    assert (operator @ x) @ y == pytest.approx(x @ (operator.H @ y), rel=1e-12)
    np.testing.assert_allclose(operator @ np.eye(f.n), dense, atol=1e-12)
    np.testing.assert_allclose(operator.H @ np.eye(f.n), dense.T, atol=1e-12)
    np.testing.assert_allclose(operator.matmat(x[:, None])[:, 0], dense @ x, atol=1e-12)


def test_linear_operator_works_in_a_solver(f: wm.Factorization) -> None:
    shifted = f.as_linear_operator() + 3.0 * spla.aslinearoperator(np.eye(f.n))
    b = np.ones(f.n)
    x, info = spla.cg(shifted, b, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(f.to_dense() @ x + 3 * x, b, atol=1e-8)
    with pytest.raises(InvalidInputError, match="'matrix', 'transform'"):
        f.as_linear_operator("basis")


def test_basis_threshold_reports_what_it_discards(f: wm.Factorization) -> None:
    exact = oracle.basis(f)
    for threshold in (0.0, 1e-3, 0.1, 0.5):
        sparse, lost = f.basis(threshold, return_discarded=True)
        assert lost == pytest.approx(np.linalg.norm(exact - sparse.toarray()), abs=1e-10)
        assert (np.abs(sparse.data) > threshold).all()
    for bad in (-1, np.nan):
        with pytest.raises(InvalidInputError, match="threshold"):
            f.basis(bad)


def test_wavelets_and_scaling_functions_are_rows_of_the_basis(f: wm.Factorization) -> None:
    w = oracle.basis(f)
    for level in range(1, f.num_levels + 1):
        np.testing.assert_allclose(
            np.atleast_2d(f.wavelet(level)), w[f.rotations.dropped(level)], atol=1e-12
        )
    assert f.wavelet(1).shape == (2, f.n)
    assert wm.factorize(f.to_dense(), core=40, k=2).wavelet(1).shape == (f.n,)
    np.testing.assert_allclose(f.scaling_functions(), w[f.core_indices], atol=1e-12)
    for bad in (0, f.num_levels + 1):
        with pytest.raises(InvalidInputError, match="level"):
            f.wavelet(bad)


def test_frequencies_are_rayleigh_quotients(f: wm.Factorization, a: np.ndarray) -> None:
    w = oracle.basis(f)
    np.testing.assert_allclose(f.frequencies, np.einsum("ij,jk,ik->i", w, a, w), atol=1e-12)


def test_counts(f: wm.Factorization) -> None:
    squares = sum(len(f.rotations.group(level)) ** 2 for level in range(1, f.num_levels + 1))
    assert f.transform_multiplications == squares
    assert f.stored_numbers == squares + (f.n - 6) + 21
    assert f.multiplications == 2 * squares + (f.n - 6) + 36
    assert f.basis_nonzeros == np.count_nonzero(np.abs(oracle.basis(f)) > 1e-14)


def with_core(f: wm.Factorization, core: object) -> wm.CoreDiagonal:
    return wm.CoreDiagonal(f.frequencies, core, f.core_indices)


def test_sparse_cores_count_and_multiply_as_dense_ones(f: wm.Factorization) -> None:
    small = np.abs(f.core) < np.median(np.abs(f.core))
    core = np.where(small & ~np.eye(6, dtype=bool), 0.0, f.core)
    dense, sparse = (
        wm.Factorization(f.rotations, with_core(f, c), 2.0, 0.5) for c in (core, sp.csr_array(core))
    )
    blocks = f.rotations.blocks.size
    assert sparse.stored_numbers == blocks + (f.n - 6) + np.count_nonzero(np.triu(core))
    assert sparse.multiplications == 2 * blocks + (f.n - 6) + np.count_nonzero(core)
    np.testing.assert_allclose(sparse.to_dense(), dense.to_dense(), atol=1e-12)
    np.testing.assert_array_equal(sparse.h.to_sparse().toarray(), dense.h.to_sparse().toarray())
    with pytest.raises(ValueError, match="read-only"):
        sparse.core.data[0] = 1
    with pytest.raises(InvalidFactorizationError, match="NaN or infinite"):
        with_core(f, sp.csr_array(core * np.nan))


def test_the_matrix_is_what_the_definition_says(f: wm.Factorization, a: np.ndarray) -> None:
    w = oracle.basis(f)
    h = oracle.core_diagonal(w @ a @ w.T, f.core_indices)
    np.testing.assert_allclose(f.h.to_sparse().toarray(), h, atol=1e-12)
    dense = f.to_dense()
    np.testing.assert_allclose(dense, w.T @ h @ w, atol=1e-12)
    np.testing.assert_array_equal(dense, dense.T)
    assert f.relative_error() == pytest.approx(np.linalg.norm(a - dense) / np.linalg.norm(a))
    assert wm.factorize(np.zeros((3, 3)), core=1, k=2).relative_error() == 0.0


def test_a_dense_copy_needs_three_times_its_size(
    f: wm.Factorization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(24 * f.n**2))
    f.to_dense()
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(24 * f.n**2 - 1))
    with pytest.raises(TooLargeError, match="dense 42 by 42 matrix"):
        f.to_dense()


def test_the_error_is_estimated_for_the_same_matrix_only(
    f: wm.Factorization, a: np.ndarray
) -> None:
    estimate, spread = f.estimate_error(a, samples=200)
    assert abs(estimate - f.error()) < 4 * spread
    with pytest.raises(InvalidInputError, match="must have shape"):
        f.estimate_error(a[1:, 1:])


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-20, 1e20, 1e160, 1e304])
def test_the_error_is_estimated_in_any_units(scale: float) -> None:
    graph = wm.graphs.grid(6, 7)
    a = wm.graphs.normalized_laplacian(graph).toarray() * scale
    f = wm.factorize(a, core=6, k=4)
    estimate, spread = (x / scale for x in f.estimate_error(a, samples=200))
    assert 0.0 < spread < 0.2
    assert abs(estimate - f.error() / scale) < 4 * spread


def test_the_error_is_estimated_for_all_that_can_be_factorized() -> None:
    graph = wm.graphs.karate()
    f = wm.factorize(graph, core=8)
    a = wm.graphs.normalized_laplacian(graph)
    expected = f.estimate_error(a)
    for given in (graph, a.toarray(), a.toarray().tolist()):
        assert f.estimate_error(given) == pytest.approx(expected)
    g = wm.factorize(graph, core=8, matrix="laplacian")
    assert g.estimate_error(graph, matrix="laplacian")[0] == pytest.approx(g.error(), rel=0.5)
    for given, message in (("no.mtx", "does not exist"), (np.zeros((34, 33)), "square")):
        with pytest.raises(InvalidInputError, match=message):
            f.estimate_error(given)
    with pytest.raises(InvalidInputError, match="seed"):
        f.estimate_error(a, seed=-1)


def test_repr_tells_the_story(f: wm.Factorization) -> None:
    text = repr(f)
    assert "\n" not in text
    for fact in ("n=42", "levels=18", "k=5", "core=6", "relative_error="):
        assert fact in text


def test_left_multiplication(f: wm.Factorization) -> None:
    x = np.random.default_rng(4).normal(size=(3, f.n))
    np.testing.assert_allclose(x @ f, x @ f.to_dense(), atol=1e-12)
    np.testing.assert_allclose(x[0] @ f, x[0] @ f.to_dense(), atol=1e-12)


def test_level_bookkeeping(f: wm.Factorization) -> None:
    r = f.rotations
    assert sorted(r.elimination_order.tolist()) == list(range(f.n))
    assert (r.level_of[f.core_indices] == 0).all()
    for level in range(1, f.num_levels + 1):
        assert (r.level_of[r.dropped(level)] == level).all()


# -- copies ---------------------------------------------------------------------------------------


def analyze_ones(f: wm.Factorization) -> np.ndarray:
    return f.analyze(np.ones((f.n, 40)))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))]
)
def test_copies_are_equal_and_frozen(f: wm.Factorization, duplicate: object) -> None:
    g = duplicate(f)  # type: ignore[operator]
    assert g.error() == f.error()
    assert g.history == f.history
    np.testing.assert_array_equal(analyze_ones(g), analyze_ones(f))
    with pytest.raises(ValueError, match="read-only"):
        g.core[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        g.rotations.blocks[0] = 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(f: wm.Factorization, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this platform has no {method}")
    expected = analyze_ones(f)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for result in pool.map(analyze_ones, [f, f]):
            np.testing.assert_array_equal(result, expected)


def test_norm_helper_survives_extreme_scales() -> None:
    assert frobenius_norm(np.array([3e300, 4e300])) == pytest.approx(5e300)
    assert frobenius_norm(np.array([3e-300, 4e-300])) == pytest.approx(5e-300)
    assert frobenius_norm(np.zeros((2, 2))) == 0.0


def test_history_says_why_it_stopped(f: wm.Factorization) -> None:
    assert f.history.method == "greedy"
    assert f.history.errors == (f.error(),)
    assert "core size 6" in f.history.stopped
    assert wm.History.from_json(f.history.to_json()).errors == f.history.errors
