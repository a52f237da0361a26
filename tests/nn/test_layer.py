"""Layers of wavelets and one hop, and the filters they have."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError

torch = pytest.importorskip("torch")

from wavemmf.nn import (  # noqa: E402
    HeatFilter,
    SpectralFilter,
    WaveletConv,
    WaveletLayer,
    WaveletNet,
    hop_operator,
    wavelet_basis,
)


@pytest.fixture(scope="module")
def basis():
    return wavelet_basis(wm.graphs.karate(), core=8, k=4).double()


@pytest.fixture(scope="module")
def hop():
    return hop_operator(wm.graphs.karate(), torch.float64)


def dense(basis):
    return basis.synthesize(torch.eye(basis.n, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["heat", "spectral", "free", "none"])
def test_a_layer_is_its_formula(basis, hop, kind):
    layer = WaveletLayer(3, 5, kind, num_wavelets=34).double().eval()
    x = torch.randn(34, 3, dtype=torch.float64)
    own, near, *far = layer.maps.weight.split(5)
    bias = layer.maps.bias.split(5)
    near_hops = hop(torch.eye(34, dtype=torch.float64))
    out = x @ own.T + bias[0] + near_hops @ (x @ near.T + bias[1])
    if kind != "none":
        with torch.no_grad():
            layer.filter.weight.add_(0.1 * torch.randn_like(layer.filter.weight))
        wavelets = dense(basis)  # their transpose analyses
        out = out + wavelets @ (layer.filter.gains(basis) * (wavelets.T @ (x @ far[0].T + bias[2])))
    expected = (out / np.sqrt(1.0 + layer.norm.eps)).clamp_min(0.0)
    torch.testing.assert_close(layer(x, basis, hop), expected)


def test_a_layer_passes_its_gradient_on(basis, hop):
    layer = WaveletLayer(2, 3).double()
    x = torch.randn(34, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: layer(x, basis, hop), (x,))


def test_heat_is_a_diffusion_for_the_time_of_each_channel(basis):
    filter_ = HeatFilter((4,)).double()
    times = filter_.weight.exp()
    expected = torch.exp(-basis.frequencies[:, None].clamp_min(0.0) * times)
    torch.testing.assert_close(filter_.gains(basis), expected)
    assert times.min() < 1.0, "less than a hop"
    assert times.max() > 100.0, "most of a graph"
    with pytest.raises(InputTypeError, match="takes no degree"):
        WaveletConv(3, 4, "heat", degree=3)
    with pytest.raises(InvalidInputError, match='filter="heat" takes gains="all"'):
        WaveletConv(3, 4, "heat", "pair")


def test_gains_may_depend_on_the_scale(basis):
    plain = SpectralFilter((2,), degree=3, level_degree=1).double()
    scaled = SpectralFilter((2,), degree=3, level_degree=1, scale_degree=2).double()
    torch.testing.assert_close(scaled.gains(basis), plain.gains(basis))  # they start alike
    halvings = -torch.log2((1.0 - basis.levels).clamp_min(2.0**-16)) / 16.0
    terms = scaled.terms(basis).view(34, 3, 2, 4)
    cosines = [torch.cos(q * torch.arccos(2.0 * halvings - 1.0)) for q in range(3)]
    torch.testing.assert_close(terms[:, :, 0, 0], torch.stack(cosines, dim=1))


def test_layered_networks_need_their_hop(basis):
    net = WaveletNet(3, 2, "layers", layers=2, hidden=4).double()
    with pytest.raises(InvalidInputError, match=r"has no nn.hop_operator\(data\)"):
        net(torch.ones(34, 3, dtype=torch.float64), basis)
    with pytest.raises(InvalidInputError, match="layered=True takes decoupled=False"):
        WaveletNet(3, 2, layered=True)
