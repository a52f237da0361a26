"""The wavelet basis of a network: the transform it states, in every form it takes."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck  # noqa: E402

from wavemmf.nn import WaveletBasis  # noqa: E402

FORMS = ("sparse", "rotations")


@pytest.fixture(scope="module")
def f():
    return wm.factorize(wm.graphs.karate(), core=8, k=4)


def dense(f):
    """Return W' and its frequencies, as defined."""
    w, h = f.basis().toarray(), f.frequencies.copy()
    core = f.core_indices
    h[core], v = np.linalg.eigh(f.core)
    w[core] = v.T @ w[core]
    return w, h


def exact(f, method, **settings):
    return WaveletBasis(f, method, threshold=0.0, dtype=torch.float64, **settings)


@pytest.mark.parametrize("method", FORMS)
def test_the_transform_is_the_dense_one(f, method, rng):
    basis, (w, h) = exact(f, method), dense(f)
    x = rng.standard_normal((34, 5))
    signals = torch.from_numpy(x)
    assert basis.method == method
    np.testing.assert_allclose(basis.analyze(signals).abs().numpy(), np.abs(w @ x), atol=1e-9)
    np.testing.assert_allclose(basis.synthesize(basis.analyze(signals)), x, atol=1e-9)
    np.testing.assert_allclose(basis.filter(signals, basis.frequencies), f @ x, atol=1e-9)
    np.testing.assert_allclose(basis.frequencies, h)
    level = f.rotations.level_of
    np.testing.assert_allclose(basis.levels, np.where(level > 0, level / level.max(), 1.0))
    assert basis.num_levels == f.num_levels


@pytest.mark.parametrize("core", [0, 34])
def test_no_core_and_nothing_but_core(core, rng):
    f = wm.factorize(wm.graphs.karate(), core=core, k=4)
    x = rng.standard_normal((34, 2))
    for method in FORMS:
        basis = exact(f, method)
        got = basis.filter(torch.from_numpy(x), basis.frequencies)
        np.testing.assert_allclose(got, f @ x, atol=1e-9)


@pytest.mark.parametrize("method", FORMS)
def test_derivatives(f, method):
    basis = exact(f, method)
    x = torch.randn(34, 2, dtype=torch.float64, requires_grad=True)
    gains = torch.randn(34, dtype=torch.float64, requires_grad=True)
    assert gradcheck(basis.filter, (x, gains))


def test_a_threshold_is_stated(f):
    basis = WaveletBasis(f, "sparse", threshold=0.1)
    matrix, discarded = f.basis(threshold=0.1, return_discarded=True)
    assert basis.nnz == matrix.nnz + 64
    assert basis.nnz_share == basis.nnz / 34**2
    assert basis.discarded.item() == discarded > 0


def test_auto_takes_what_needs_fewer_operations(f):
    assert WaveletBasis(f, threshold=0.9).method == "sparse"
    grid = wm.factorize(wm.graphs.grid(40, 40), core=8, k=2)
    assert WaveletBasis(grid, threshold=0.0).method == "rotations"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("method", FORMS)
def test_saved_as_plain_tensors(f, method, dtype, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    basis = WaveletBasis(f, method, dtype=dtype)
    state = {name: value.contiguous() for name, value in basis.state_dict().items()}
    safetensors.save_file(state, tmp_path / "basis.safetensors")
    again = WaveletBasis.from_state_dict(safetensors.load_file(tmp_path / "basis.safetensors"))
    x = torch.randn(34, 3, dtype=dtype)
    assert torch.equal(again.analyze(x), basis.analyze(x))
    assert repr(again) == repr(basis)
    assert again.discarded == basis.discarded


def test_states_with_levels_as_integers_are_taken(f):
    """Earlier versions saved them so."""
    basis = WaveletBasis(f)
    state = {**basis.state_dict(), "levels": torch.from_numpy(f.rotations.level_of.copy())}
    again = WaveletBasis.from_state_dict(state)
    assert torch.equal(again.levels, basis.levels)
    assert repr(again) == repr(basis)


def test_the_dtype_follows_the_module(f):
    basis = WaveletBasis(f, "sparse").double()
    assert basis.analyze(torch.ones(34, 1, dtype=torch.float64)).dtype == torch.float64


def test_a_learned_basis_stays_orthonormal(f):
    basis = WaveletBasis(f, learn=True, dtype=torch.float64)
    assert basis.method == "rotations"
    x = torch.randn(34, 4, dtype=torch.float64)
    optimizer = torch.optim.Adam(basis.parameters(), lr=0.01)
    before = basis.analyze(x).abs().sum().item()
    for _ in range(20):
        optimizer.zero_grad()
        loss = basis.analyze(x).abs().sum()
        loss.backward()
        optimizer.step()
    assert loss.item() < before
    torch.testing.assert_close(basis.synthesize(basis.analyze(x)), x)
    again = WaveletBasis.from_state_dict(basis.state_dict(), learn=True)
    torch.testing.assert_close(again.analyze(x), basis.analyze(x))


def test_what_is_not_allowed_is_named(f):
    with pytest.raises(InputTypeError, match="expected a Factorization, got Graph"):
        WaveletBasis(wm.graphs.karate())
    with pytest.raises(InvalidInputError, match="method must be one of"):
        WaveletBasis(f, "dense")
    with pytest.raises(InvalidInputError, match="learn=True"):
        WaveletBasis(f, "sparse", learn=True)
    with pytest.raises(InvalidInputError, match=r"\(34, channels\), got \(5, 2\)"):
        WaveletBasis(f).analyze(torch.ones(5, 2))
    with pytest.raises(InvalidInputError, match="must hold frequencies"):
        WaveletBasis.from_state_dict({})
