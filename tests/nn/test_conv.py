"""Wavelet convolution: the formula, its derivatives, and that it is not an MLP in disguise."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError, TooLargeError

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck  # noqa: E402

from wavemmf.nn import SpectralFilter, WaveletBasis, WaveletConv  # noqa: E402
from wavemmf.nn._responses import RESPONSES, pagerank_tail  # noqa: E402

KINDS = [(kind, gains) for kind in ("free", "spectral") for gains in ("all", "channel", "pair")]


@pytest.fixture(scope="module")
def f():
    return wm.factorize(wm.graphs.karate(), core=8, k=4)


@pytest.fixture(scope="module")
def basis(f):
    return WaveletBasis(f, "sparse", threshold=0.0, dtype=torch.float64)


def conv(kind, gains, **settings):
    torch.manual_seed(0)
    size = {"num_wavelets": 34} if kind == "free" else {}
    layer = WaveletConv(3, 4, kind, gains, **size, **settings).double()
    with torch.no_grad():  # away from where it starts, so that every part shows
        for parameter in layer.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return layer


def gains_of(layer, basis):
    """Return the gains of every pair of channels, shape (n, in, out), as defined."""
    weight = layer.weight.detach().numpy()
    s = basis.frequencies.numpy().clip(0, 2) / 2
    t = basis.levels.numpy()
    theta = layer.filter.weight.detach().numpy()
    start = layer.response(basis.frequencies).numpy()
    if layer.kind == "free":
        deviation = theta
        g = deviation if layer.gains == "pair" else start[:, None] + deviation
    else:
        frequency = np.polynomial.chebyshev.chebvander(2 * s - 1, 10)
        position = np.polynomial.chebyshev.chebvander(2 * t - 1, 1)
        terms = np.einsum("nq,nm->nqm", position, frequency).reshape(len(s), -1)
        g = np.tensordot(terms, theta, axes=1)
    if layer.gains == "pair":
        return start[:, None, None] * weight + g
    return g[:, None, :] * weight


@pytest.mark.parametrize(("kind", "gains"), KINDS)
def test_the_layer_is_its_formula(kind, gains, f, basis, rng):
    layer = conv(kind, gains)
    x = rng.standard_normal((34, 3))
    w = basis.analyze(torch.eye(34, dtype=torch.float64)).numpy()
    g = gains_of(layer, basis)
    expected = w.T @ np.einsum("ni,nio->no", w @ x, g) + layer.bias.detach().numpy()
    got = layer(torch.from_numpy(x), basis).detach().numpy()
    np.testing.assert_allclose(got, expected, atol=1e-9)


@pytest.mark.parametrize(("kind", "gains"), KINDS)
def test_derivatives(kind, gains, basis):
    layer = conv(kind, gains)
    names = [name for name, _ in layer.named_parameters()]
    values = [value.detach().clone().requires_grad_() for value in layer.parameters()]
    x = torch.randn(34, 3, dtype=torch.float64, requires_grad=True)

    def run(x, *values):
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(layer, given, (x, basis))

    assert gradcheck(run, (x, *values), fast_mode=True)


@pytest.mark.parametrize(("kind", "gains"), KINDS)
def test_nodes_see_each_other(kind, gains, basis):
    layer = WaveletConv(3, 4, kind, gains, num_wavelets=34).double()
    x = torch.randn(34, 3, dtype=torch.float64)
    moved = x.clone()
    moved[0] += 1.0
    change = (layer(moved, basis) - layer(x, basis)).abs().sum(dim=1)
    assert (change[1:] > 1e-6).sum() > 10


def test_without_gains_it_would_be_an_mlp(basis):
    layer = WaveletConv(3, 4, response="ones").double()
    x = torch.randn(34, 3, dtype=torch.float64)
    torch.testing.assert_close(layer(x, basis), x @ layer.weight + layer.bias)


@pytest.mark.parametrize("name", RESPONSES)
def test_a_spectral_filter_starts_at_its_response(name, basis):
    gains = SpectralFilter((2,), degree=24, response=name).double().gains(basis)
    expected = RESPONSES[name](basis.frequencies)
    torch.testing.assert_close(gains[:, 1], expected, atol=1e-3, rtol=0)


def test_hops_and_tail_are_pagerank():
    frequencies = torch.linspace(0, 2, 20, dtype=torch.float64)
    whole = pagerank_tail(-1, 0.2)(frequencies)
    hops = sum(0.2 * 0.8**k * (1 - frequencies) ** k for k in range(4))
    torch.testing.assert_close(hops + pagerank_tail(3, 0.2)(frequencies), whole)


def test_spectral_filters_fit_any_graph():
    layer = WaveletConv(2, 2)
    for graph in (wm.graphs.karate(), wm.graphs.cycle(9)):
        basis = WaveletBasis(wm.factorize(graph, core=3, k=3))
        assert layer(torch.ones(graph.n, 2), basis).shape == (graph.n, 2)


def test_what_is_not_allowed_is_named(basis, monkeypatch):
    with pytest.raises(InvalidInputError, match="needs num_wavelets"):
        WaveletConv(3, 4, "free")
    with pytest.raises(InputTypeError, match="takes no degree"):
        WaveletConv(3, 4, "free", num_wavelets=34, degree=3)
    with pytest.raises(InvalidInputError, match="filter must be one of"):
        WaveletConv(3, 4, "fourier")
    with pytest.raises(InvalidInputError, match="gains for 5 wavelets, the basis has 34"):
        WaveletConv(3, 4, "free", num_wavelets=5).double()(torch.ones(34, 3).double(), basis)
    with pytest.raises(InvalidInputError, match="3 channels, got shape"):
        WaveletConv(3, 4)(torch.ones(34, 2), basis)
    with pytest.raises(InvalidInputError, match="the lower first"):
        SpectralFilter(frequency_range=(2, 0))
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "1000000")
    with pytest.raises(TooLargeError, match="2708 x 1433 x 16 numbers"):
        WaveletConv(1433, 16, "free", "pair", num_wavelets=2708)


def test_it_introduces_itself():
    assert repr(WaveletConv(3, 4, gains="pair")) == (
        "WaveletConv(3, 4, filter='spectral', gains='pair')"
    )
