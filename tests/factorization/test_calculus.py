"""Functions of the approximation, each against dense linear algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import cg

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError, SingularError

CASES = {
    "karate": lambda: wm.factorize(wm.graphs.karate(), core=8, k=4),
    "whole core": lambda: wm.factorize(wm.graphs.cycle(9), core=9, k=2),
    "no core to speak of": lambda: wm.factorize(wm.graphs.grid(5, 6), core=1, k=3),
    "indefinite": lambda: wm.factorize(wm.graphs.cayley_tree(3, 2).adjacency, core=5, k=3),
}


@pytest.fixture(params=CASES)
def f(request):
    return CASES[request.param]()


@pytest.fixture
def positive(f):
    """Shift the same so that all eigenvalues are at least a half."""
    return f.shifted(0.5 - f.eigvalsh()[0])


def test_shift(f):
    shifted = f.shifted(0.7)
    np.testing.assert_allclose(shifted.to_dense(), f.to_dense() + 0.7 * np.eye(f.n), atol=1e-12)
    assert shifted.error() == f.error()
    assert f.shifted(0.7).shifted(-0.7).matrix_norm == pytest.approx(f.matrix_norm)


def test_shifted_norm_is_that_of_the_shifted_matrix():
    a = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    shifted = wm.factorize(a, core=8, k=4).shifted(0.3)
    assert shifted.matrix_norm == pytest.approx(np.linalg.norm(a + 0.3 * np.eye(34)))


def test_eigenvalues_trace_and_diagonal(f):
    dense = f.to_dense()
    np.testing.assert_allclose(f.eigvalsh(), np.linalg.eigvalsh(dense), atol=1e-10)
    assert f.trace() == pytest.approx(np.trace(dense), abs=1e-10)
    np.testing.assert_allclose(f.diagonal(), np.diag(dense), atol=1e-10)


@pytest.mark.parametrize("function", [np.exp, np.cos, np.abs, lambda x: 1.0 / (x**2 + 1.0)])
def test_any_function(f, function):
    values, vectors = np.linalg.eigh(f.to_dense())
    expected = (vectors * function(values)) @ vectors.T
    result = f.apply(function)
    np.testing.assert_allclose(result.to_dense(), expected, atol=1e-9)
    assert result.error() == 0.0
    assert result.matrix_norm == pytest.approx(np.linalg.norm(expected))


def test_heat_kernel(f):
    heat = f.apply(lambda x: np.exp(-0.5 * x))
    np.testing.assert_allclose(heat.to_dense(), scipy.linalg.expm(-0.5 * f.to_dense()), atol=1e-10)


def test_inverse_powers_and_logarithms(positive):
    dense = positive.to_dense()
    np.testing.assert_allclose(positive.inv().to_dense(), np.linalg.inv(dense), atol=1e-9)
    np.testing.assert_allclose(
        positive.apply(np.log).to_dense(), scipy.linalg.logm(dense), atol=1e-8
    )
    root = positive.power(0.5)
    np.testing.assert_allclose(root @ root.to_dense(), dense, atol=1e-9)
    np.testing.assert_allclose(
        positive.power(-2).to_dense(), np.linalg.matrix_power(np.linalg.inv(dense), 2), atol=1e-8
    )
    x = np.arange(positive.n, dtype=float)
    np.testing.assert_allclose(positive.inv() @ x, positive.solve(x), atol=1e-9)


def test_determinants(f, positive):
    assert positive.logdet() == pytest.approx(np.linalg.slogdet(positive.to_dense())[1])
    moved = f.shifted(-0.31)
    sign, magnitude = np.linalg.slogdet(moved.to_dense())
    assert moved.slogdet() == pytest.approx((sign, magnitude))


def test_pseudo_inverse():
    a = np.zeros((6, 6))
    a[:3, :3] = 1.0
    f = wm.factorize(a, core=2, k=3)
    np.testing.assert_allclose(f.pinv().to_dense(), np.linalg.pinv(f.to_dense()), atol=1e-10)


def test_singular_matrices_are_named():
    f = wm.factorize(np.diag([1.0, 2.0, 0.0, 4.0]), core=2, k=2)
    for run in (f.inv, lambda: f.power(-1), f.logdet, lambda: f.apply(np.log)):
        with pytest.raises(SingularError, match="shift"):
            run()
    assert f.slogdet() == (0.0, -np.inf)
    with pytest.raises(SingularError, match="eigenvalues, such as -1"):
        f.shifted(-1.0).apply(np.sqrt)
    with pytest.raises(SingularError, match="negative eigenvalues"):
        f.shifted(-1.0).sample(0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("core_is_singular", [False, True])
def test_singular_systems_say_what_to_do(sparse, core_is_singular):
    diagonal = np.array([1.0, 2.0, 3.0, 4.0])
    f = wm.factorize(np.diag(diagonal), core=2, k=2)
    where = f.core_indices[0] if core_is_singular else np.setdiff1d(range(4), f.core_indices)[0]
    diagonal[where] = 0.0
    core = np.diag(diagonal[f.core_indices])
    core = sp.csr_array(core) if sparse else core
    f = replace(f, h=wm.CoreDiagonal(diagonal, core, f.core_indices))
    what = "core is singular" if core_is_singular else "a wavelet has frequency 0"
    with pytest.raises(SingularError, match=rf"{what} with shift=0: give another shift.*pinv"):
        f.solve(np.ones(4))
    b = f @ np.ones(4)
    np.testing.assert_allclose(f @ (f.pinv() @ b), b, atol=1e-12)
    x = f.solve(b, shift=0.5)
    np.testing.assert_allclose(f.shifted(0.5) @ x, b, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_shifts_of_tiny_and_huge_matrices_keep_their_norm(scale):
    a = np.diag([1.0, 2.0, 3.0, 4.0]) * scale
    f = wm.factorize(a, core=2, k=2).shifted(scale)
    assert f.matrix_norm / scale == pytest.approx(np.linalg.norm([2.0, 3.0, 4.0, 5.0]))
    assert f.power(1.0).matrix_norm / scale == pytest.approx(np.linalg.norm([2.0, 3.0, 4.0, 5.0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.shifted(np.nan), "shift must be a finite number"),
        (lambda f: f.power(np.inf), "p must be a finite number"),
        (lambda f: f.pinv(rcond=2.0), "rcond must be at least 0"),
        (lambda f: f.apply(2.0), "takes a function"),
        (lambda f: f.apply(lambda x: x[:2]), "one value for each of 34"),
        (lambda f: wm.precondition.from_factorization(f, shift=-1.0), "shift must be >= 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(CASES["karate"]())


def test_samples_have_the_covariance(positive):
    drawn = positive.sample(np.random.default_rng(0), size=40_000)
    assert drawn.shape == (40_000, positive.n)
    covariance = drawn.T @ drawn / len(drawn)
    spread = np.abs(positive.to_dense()).max() / np.sqrt(len(drawn))
    assert np.abs(covariance - positive.to_dense()).max() < 8 * spread
    assert np.array_equal(positive.sample(3), positive.sample(3))
    assert positive.sample(3).shape == (positive.n,)


def test_a_preconditioner_saves_steps():
    graph = wm.graphs.grid(30, 30)
    a = sp.csr_array(wm.graphs.normalized_laplacian(graph) + 0.01 * sp.eye_array(900))
    b = np.random.default_rng(0).standard_normal(900)
    f = wm.factorize(graph, core=90, k=4)

    def steps(operator):
        points = []
        x, info = cg(a, b, M=operator, rtol=1e-8, callback=points.append)
        assert info == 0
        np.testing.assert_allclose(a @ x, b, atol=1e-6)
        return len(points)

    assert steps(wm.precondition.from_factorization(f, shift=0.01)) < steps(None)


def test_a_large_sparse_core():
    f = wm.factorize(wm.graphs.grid(40, 40), core=400, k=3)
    h = wm.CoreDiagonal(f.frequencies, sp.csr_array(f.core), f.core_indices)
    sparse = replace(f, h=h)
    shifted = sparse.shifted(0.1)
    assert sp.issparse(shifted.core)
    np.testing.assert_allclose(sparse.diagonal(), f.diagonal(), atol=1e-12)
    np.testing.assert_allclose(shifted.inv().to_dense(), f.shifted(0.1).inv().to_dense(), atol=1e-8)


@given(st.integers(2, 9), st.integers(0, 5), st.floats(-2, 2))
def test_functions_compose(n, seed, time):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n))
    f = wm.factorize(a + a.T, core=max(1, n // 2), k=2)
    there, back = (f.apply(lambda x, s=s: np.exp(s * time * x)) for s in (1, -1))
    np.testing.assert_allclose(
        there @ back.to_dense(), np.eye(n), atol=1e-12 * np.exp(2 * abs(time) * f.matrix_norm)
    )


def test_results_are_saved_like_any_other(tmp_path):
    f = CASES["karate"]().apply(np.exp)
    f.save(tmp_path / "f.mmf")
    again = wm.load(tmp_path / "f.mmf")
    np.testing.assert_array_equal(again.to_dense(), f.to_dense())


# -- norms that are nearly nothing --


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("small", [1e-12, 1e-10, 1e-3])
def test_a_shift_that_cancels_the_matrix_tells_the_true_error(small, scale, rng):
    noise = rng.normal(size=(30, 30))
    a = scale * (np.eye(30) + small * (noise + noise.T))
    shifted = wm.factorize(a, core=4, k=3).shifted(-scale)
    left = (a - scale * np.eye(30)) / scale
    norm = np.linalg.norm(left)
    error = np.linalg.norm(left - shifted.to_dense() / scale)
    assert shifted.matrix_norm / scale == pytest.approx(norm, rel=1e-3)
    assert shifted.relative_error() == pytest.approx(error / norm, rel=1e-3)
    assert shifted.error_is_exact


def test_a_shift_that_cancels_a_bound_stays_a_bound(rng):
    noise = rng.normal(size=(30, 30))
    a = np.eye(30) + 1e-12 * (noise + noise.T)
    exact = wm.factorize(a, core=4, k=3)
    for factor in (1.0, 1.1, 5.0):
        bound = replace(exact, residual_norm=factor * exact.error(), error_is_exact=False)
        shifted = bound.shifted(-1.0)
        true = exact.error() / np.linalg.norm(a - np.eye(30))
        assert not shifted.error_is_exact
        assert shifted.relative_error() >= true * (1 - 1e-3)


def test_a_relative_error_of_nothing_is_infinite():
    f = wm.factorize(np.eye(3), core=1, k=2)
    assert replace(f, matrix_norm=0.0, residual_norm=1.0).relative_error() == np.inf
    assert replace(f, matrix_norm=0.0, residual_norm=0.0).relative_error() == 0.0


def test_a_shift_out_of_range_is_refused():
    f = wm.factorize(np.diag([1e308, -1e308]), core=1, k=2)
    with pytest.raises(InvalidInputError, match="leaves the range of numbers"):
        f.shifted(1.7e308)


# -- one tolerance for what is negative by rounding alone --


def test_functions_agree_on_what_is_singular(rng):
    """An eigenvalue of -1e-16 is zero to all of them, one of -1e-6 is negative to all."""
    vectors = rng.normal(size=(12, 3))
    f = wm.factorize(vectors @ vectors.T, core=4, k=3)
    assert abs(f.eigvalsh()[0]) < 1e-12
    root = f.power(0.5)
    np.testing.assert_allclose(root @ root.to_dense(), f.to_dense(), atol=1e-7)
    assert f.sample(0).shape == (12,)
    for function in (lambda: f.inv(), lambda: f.power(-0.5), lambda: f.solve(np.ones(12))):
        with pytest.raises(SingularError):
            function()
    negative = f.shifted(-1e-6)
    for function in (lambda: negative.power(0.5), lambda: negative.sample(0)):
        with pytest.raises(SingularError, match=r"without negative eigenvalues.*-1e-06: shift it"):
            function()
    np.testing.assert_allclose(
        negative.power(2.0).to_dense(), negative.to_dense() @ negative.to_dense(), atol=1e-9
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": -1}, "size must be an integer at least 0, got -1"),
        ({"size": 2.0}, "size must be an integer at least 0, got 2.0"),
        ({"rng": "dice"}, "rng must be a numpy Generator or a seed >= 0, got 'dice'"),
        ({"rng": -3}, "rng must be .* got -3"),
    ],
)
def test_samples_that_cannot_be_drawn(arguments, message):
    f = wm.factorize(np.eye(3), core=1, k=2)
    with pytest.raises((InputTypeError, InvalidInputError), match=message):
        f.sample(**arguments)
    assert f.sample(size=0).shape == (0, 3)
