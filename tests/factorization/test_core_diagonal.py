"""H as an object, against dense algebra."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InvalidFactorizationError, InvalidInputError, SingularError


@pytest.fixture(params=["dense", "sparse"])
def h(request: pytest.FixtureRequest) -> wm.CoreDiagonal:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(3, 3))
    block = block @ block.T + np.eye(3)
    diagonal = rng.uniform(1.0, 2.0, size=7)
    where = np.array([1, 4, 5])
    diagonal[where] = block.diagonal()
    core = sp.csr_array(block) if request.param == "sparse" else block
    return wm.CoreDiagonal(diagonal, core, where)


def test_it_is_the_matrix_it_says(h: wm.CoreDiagonal) -> None:
    dense = h.to_dense()
    np.testing.assert_array_equal(h.to_sparse().toarray(), dense)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(dense.diagonal(), h.diagonal)
    assert np.count_nonzero(dense) == 7 + 6
    assert h.norm() == pytest.approx(np.linalg.norm(dense))
    assert h.trace() == pytest.approx(dense.trace())
    assert h.shape == (7, 7)
    assert h.stored_numbers == 4 + 6
    assert h.multiplications == 4 + 9
    assert "n=7, core=3" in repr(h)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7,), (7, 2)])
def test_products(h: wm.CoreDiagonal, dtype: Any, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    product = h @ x
    assert product.dtype == dtype
    np.testing.assert_allclose(product, h.to_dense() @ x, rtol=1e-5)


def test_functions_are_those_of_the_matrix(h: wm.CoreDiagonal) -> None:
    dense = h.to_dense()
    for ours, theirs in (
        (h.apply(np.exp), scipy.linalg.expm(dense)),
        (h.inv(), np.linalg.inv(dense)),
        (h.pinv(), np.linalg.pinv(dense)),
        (h.power(0.5), scipy.linalg.sqrtm(dense)),
        (h.power(-2), np.linalg.inv(dense @ dense)),
        (h.shifted(0.3), dense + 0.3 * np.eye(7)),
        (h.scaled(-2.0), -2.0 * dense),
        (h.with_dense_core(), dense),
    ):
        np.testing.assert_allclose(ours.to_dense(), theirs, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.sort(h.spectrum.values), np.linalg.eigvalsh(dense))
    np.testing.assert_allclose(h.slogdet(), np.linalg.slogdet(dense))


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_systems(h: wm.CoreDiagonal, shift: float) -> None:
    c = np.random.default_rng(2).normal(size=(7, 2))
    y = h.solve(c, shift)
    np.testing.assert_allclose(h @ y + shift * y, c, atol=1e-12)
    with pytest.raises(SingularError, match="frequency 0 with shift"):
        h.solve(c, -h.diagonal[0])


def test_a_core_with_zeros_on_its_diagonal_can_be_regular() -> None:
    h = wm.CoreDiagonal([0.0, 0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], [0, 1])
    np.testing.assert_allclose(h.solve(np.array([[1.0], [2.0], [3.0]])).ravel(), [2.0, 1.0, 3.0])


def test_the_core_is_decomposed_once(h: wm.CoreDiagonal, monkeypatch: pytest.MonkeyPatch) -> None:
    values = h.spectrum.values
    monkeypatch.setattr(np.linalg, "eigh", None)
    h.apply(np.exp)
    h.slogdet()
    assert h.spectrum.values is values


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))]
)
def test_copies_are_whole_and_frozen(h: wm.CoreDiagonal, again: Any) -> None:
    assert h.spectrum is not None
    other = again(h)
    np.testing.assert_array_equal(other.to_dense(), h.to_dense())
    assert "spectrum" not in vars(other)
    for array in (other.diagonal, other.core_indices):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("diagonal", "core", "where", "message"),
    [
        (np.zeros((5, 1)), np.zeros((3, 3)), [0, 1, 2], "shape"),
        (np.zeros(5), np.zeros((2, 2)), [0, 1, 2], "shape"),
        (np.zeros(5), np.full((3, 3), np.inf), [0, 1, 2], "NaN or infinite"),
        (np.full(5, np.nan), np.zeros((3, 3)), [0, 1, 2], "NaN or infinite"),
        (np.zeros(5), np.triu(np.ones((3, 3)), 1), [0, 1, 2], "not symmetric"),
        (np.zeros(5), np.eye(3), [0, 1, 2], "diagonal differs"),
        (np.zeros(5), np.zeros((3, 3)), [0, 1, 5], "ascend within 0..4"),
        (np.zeros(5), np.zeros((3, 3)), [-1, 1, 2], "ascend within 0..4"),
        (np.zeros(5), np.zeros((3, 3)), [1, 1, 2], "ascend within 0..4"),
    ],
)
def test_what_is_no_core_diagonal_matrix_is_refused(
    diagonal: Any, core: Any, where: list[int], message: str
) -> None:
    with pytest.raises(InvalidFactorizationError, match=message):
        wm.CoreDiagonal(diagonal, core, where)


def test_bad_arguments_are_explained(h: wm.CoreDiagonal) -> None:
    with pytest.raises(InvalidInputError, match="rcond"):
        h.pinv(1.5)
    with pytest.raises(InvalidInputError, match="range of numbers"):
        h.shifted(1.7e308).shifted(1.7e308)
    with pytest.raises(InvalidInputError, match="a function of eigenvalues, got int"):
        h.apply(3)  # type: ignore[arg-type]
