"""Preconditioners: symmetric positive definite, and worth their iterations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import cg

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError


def shifted_laplacian(rows, columns, shift=0.01):
    laplacian = wm.graphs.laplacian(wm.graphs.grid(rows, columns))
    return sp.csr_array(laplacian + shift * sp.eye_array(rows * columns))


def as_dense(operator):
    return np.column_stack([operator @ column for column in np.eye(operator.shape[0])])


def iterations(a, preconditioner=None):
    steps = []
    b = np.random.default_rng(0).standard_normal(a.shape[0])
    x, failed = cg(a, b, rtol=1e-8, M=preconditioner, callback=steps.append)
    assert not failed
    assert np.linalg.norm(a @ x - b) <= 2e-8 * np.linalg.norm(b)
    return len(steps)


def assert_positive_definite(operator):
    dense = as_dense(operator)
    np.testing.assert_allclose(dense, dense.T, atol=1e-10 * np.abs(dense).max())
    assert np.linalg.eigvalsh(dense)[0] > 0.0


@pytest.mark.parametrize("smooth", [0, 1, 2])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_it_is_symmetric_and_positive_definite(smooth, kind):
    a = shifted_laplacian(6, 9)
    given_as = a if kind == "sparse" else a.toarray()
    assert_positive_definite(wm.precondition.preconditioner(given_as, smooth=smooth))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999), shift=st.floats(1e-6, 10.0), smooth=st.integers(1, 3))
def test_any_positive_definite_matrix(seed, shift, smooth):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((12, 12))
    operator = wm.precondition.preconditioner(
        factor @ factor.T, core=3, k=3, shift=shift, smooth=smooth
    )
    assert_positive_definite(operator)


@pytest.mark.parametrize("core", [1, 20])
def test_a_poor_factorization_still_gives_a_definite_one(core):
    a = shifted_laplacian(6, 9)
    f = wm.factorize(a, core=core, k=2, select="random")
    assert_positive_definite(wm.precondition.from_factorization(f, matrix=a, smooth=2))


def test_without_wavelets_it_is_the_inverse():
    a = shifted_laplacian(4, 5)
    operator = wm.precondition.preconditioner(a, core=20, k=2, smooth=0)
    np.testing.assert_allclose(as_dense(operator), np.linalg.inv(a.toarray()), atol=1e-9)


def test_a_third_of_the_iterations_of_cg_with_and_without_jacobi():
    a = shifted_laplacian(32, 32)
    preconditioned = iterations(a, wm.precondition.preconditioner(a))
    assert 3 * preconditioned <= iterations(a)
    assert 3 * preconditioned <= iterations(a, sp.diags_array(1.0 / a.diagonal()))


def test_steps_save_iterations_of_an_existing_factorization():
    a = shifted_laplacian(20, 20)
    f = wm.factorize(wm.graphs.grid(20, 20), matrix="laplacian", k=4)
    alone = iterations(a, wm.precondition.from_factorization(f, shift=0.01))
    assert (
        iterations(a, wm.precondition.from_factorization(f, shift=0.01, matrix=a, smooth=2))
        < 0.7 * alone
    )


def test_graphs_and_shifts():
    graph = wm.graphs.grid(6, 6)
    operator = wm.precondition.preconditioner(graph, matrix="laplacian", shift=0.01)
    expected = wm.precondition.preconditioner(shifted_laplacian(6, 6))
    np.testing.assert_allclose(as_dense(operator), as_dense(expected), atol=1e-12)


def test_dense_rows_stop_the_powers():
    star = wm.graphs.symmetric_part(np.eye(1, 600).T @ np.ones((1, 600)), as_graph=True)
    star = wm.graphs.laplacian(star)
    assert (
        iterations(
            star + 0.01 * sp.eye_array(600), wm.precondition.preconditioner(star, shift=0.01)
        )
        < 20
    )


@pytest.mark.parametrize(
    ("a", "settings", "message"),
    [
        (np.diag([1.0, 0.0, 2.0]), {}, "diagonal holds 0 at row 1; give a larger shift"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), {"core": 1, "k": 2}, "not positive definite"),
        (np.eye(3), {"smooth": -1}, "smooth must be an integer at least 0"),
        (np.eye(3), {"power": 0}, "power must be an integer at least 1"),
        (np.eye(3), {"shift": np.nan}, "shift must be a finite number"),
    ],
)
def test_what_is_refused(a, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        wm.precondition.preconditioner(a, **settings)


def test_what_a_factorization_refuses():
    f = wm.factorize(np.eye(4), core=2, k=2)
    with pytest.raises(InvalidInputError, match=r"matrix must have shape \(4, 4\), got \(3, 3\)"):
        wm.precondition.from_factorization(f, matrix=np.eye(3))
    with pytest.raises(InvalidInputError, match="smooth must be an integer at least 1, got 0"):
        wm.precondition.from_factorization(f, matrix=np.eye(4), smooth=0)
    with pytest.raises(InputTypeError, match="shift must be a finite number, got 'a'"):
        wm.precondition.from_factorization(f, shift="a")
