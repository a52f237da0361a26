"""The baselines against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError


@pytest.mark.parametrize("matrix", oracle.MATRICES)
def test_nystrom_matches_its_formula(matrix: str) -> None:
    a = oracle.MATRICES[matrix]
    core = min(5, len(a))
    b = wm.baselines.nystrom(a, core, seed=2)
    chosen = np.sort(np.random.default_rng(2).choice(len(a), core, replace=False))
    c = a[:, chosen]
    expected = c @ np.linalg.pinv(a[np.ix_(chosen, chosen)], rcond=1e-13, hermitian=True) @ c.T
    scale = max(np.linalg.norm(a), 1)
    np.testing.assert_allclose(b.to_dense(), expected, atol=1e-5 * scale)
    assert b.error() == pytest.approx(np.linalg.norm(a - b.to_dense()), abs=1e-12 * scale)
    assert b.stored_numbers == len(a) * core


def test_nystrom_with_all_columns_is_exact() -> None:
    a = oracle.MATRICES["kernel"] + np.eye(21)
    assert wm.baselines.nystrom(a, 21).relative_error() < 1e-12


def test_nystrom_depends_on_the_seed_alone() -> None:
    graph = wm.graphs.karate()
    first, again, other = (wm.baselines.nystrom(graph, 8, seed=s).error() for s in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize("core", [0, 1, 7, 16])
def test_truncated_eigh_is_the_best_of_its_rank(core: int) -> None:
    a = oracle.MATRICES["dense"]
    b = wm.baselines.truncated_eigh(a, core)
    values = np.sort(np.abs(np.linalg.eigvalsh(a)))[::-1]
    assert b.error() == pytest.approx(np.linalg.norm(values[core:]), abs=1e-12)
    assert np.linalg.matrix_rank(b.to_dense()) <= core
    x = np.ones(16)
    np.testing.assert_allclose(b @ x, b.to_dense() @ x)


@pytest.mark.parametrize("baseline", [wm.baselines.nystrom, wm.baselines.truncated_eigh])
@pytest.mark.parametrize("core", [-1, 35, 2.5])
def test_bad_core(baseline: object, core: float) -> None:
    with pytest.raises((InvalidInputError, InputTypeError), match="core"):
        baseline(wm.graphs.karate(), core)  # type: ignore[operator]


def test_truncated_jacobi_at_the_multiplications_of_karate_k8() -> None:
    # pyfaust.fact.eigtj, which is the same iteration, has 0.0757.
    b = wm.baselines.truncated_jacobi(wm.graphs.karate(), 416)
    assert b.error() == pytest.approx(0.0757, abs=0.005)
    assert b.multiplications == 8 * 416 + 34
    assert b.stored_numbers == 2 * 416 + 34


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_truncated_jacobi_ends_at_the_eigenvalues(scale: float) -> None:
    rng = np.random.default_rng(0)
    matrix = scale * rng.normal(size=(9, 9))
    matrix = matrix + matrix.T
    b = wm.baselines.truncated_jacobi(matrix, 10_000)
    assert b.relative_error() < 1e-8
    assert b.multiplications < 8 * 1_000


def test_truncated_jacobi_loses_what_is_off_the_diagonal() -> None:
    matrix = wm.graphs.as_matrix(wm.graphs.karate()).toarray()
    errors = [wm.baselines.truncated_jacobi(matrix, count).error() for count in (1, 30, 90)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < np.linalg.norm(matrix - np.diag(matrix.diagonal()))


def test_all_results_share_one_interface() -> None:
    graph = wm.graphs.karate()
    for result in (
        wm.factorize(graph, core=8),
        wm.baselines.nystrom(graph, 8),
        wm.baselines.truncated_eigh(graph, 8),
    ):
        assert result.error() >= 0
        assert 0 <= result.relative_error() <= 2
        assert result.stored_numbers > 0
        assert result.multiplications > 0
        assert 0 < result.basis_nonzeros <= 34 * 34
        assert result.to_dense().shape == (34, 34)
