"""Networks for nodes: presets, propagation, precision, sparse features, files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidInputError

torch = pytest.importorskip("torch")

from wavemmf.nn import (  # noqa: E402
    NetSettings,
    SparseOperator,
    WaveletNet,
    WaveletPropagation,
    hop_operator,
    load_net,
    save_net,
    wavelet_basis,
)
from wavemmf.nn._settings import NODE_PRESETS  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")

X = torch.eye(34)
SPARSE = SparseOperator(sp.eye_array(34, format="csr"))
Y = torch.arange(34) % 2


@pytest.fixture(scope="module")
def hop():
    return hop_operator(wm.graphs.karate())


@pytest.fixture(scope="module")
def similar():
    """Return hops between nodes that are alike in some way."""
    return hop_operator(wm.graphs.cycle(34))


@pytest.fixture(scope="module")
def basis():
    return wavelet_basis(wm.graphs.karate(), core=8, k=4)


def test_propagation_starts_as_pagerank(hop):
    basis = wavelet_basis(wm.graphs.karate(), core=34, k=2)  # the eigenbasis: nothing is left out
    z = torch.randn(34, 3)
    hat = hop(torch.eye(34)).numpy()
    exact = 0.1 * np.linalg.solve(np.eye(34) - 0.9 * hat, z.numpy())
    for settings in ({}, {"filter": "free", "num_wavelets": 34}, {"gains": "channel"}):
        propagation = WaveletPropagation(3, hops=3, degree=30, **settings)
        np.testing.assert_allclose(propagation(z, basis, hop).detach().numpy(), exact, atol=2e-3)


def test_the_paper_preset_is_the_equation_of_the_paper(basis):
    """Six layers, each with one gain for every wavelet and pair of channels, and no bias."""
    net = WaveletNet(34, 2, "paper", num_wavelets=34)
    assert (net.settings.layers, net.settings.hidden) == (6, 100)
    x = X
    for number, layer in enumerate(net.layers):
        with torch.no_grad():
            layer.filter.weight.normal_(std=0.1)
        assert layer.bias is None
        start = layer.response(basis.frequencies)
        gains = start[:, None, None] * layer.weight + layer.filter.weight
        assert gains.shape == (34, layer.in_channels, layer.out_channels)
        x = basis.synthesize(torch.einsum("nio,ni->no", gains, basis.analyze(x)))
        x = x if number == 5 else x.clamp(min=0.0)
    torch.testing.assert_close(net(X, basis), x)


def test_weights_can_be_drawn_anew(basis, hop, similar):
    for preset in NODE_PRESETS:
        net = WaveletNet(34, 2, preset, num_wavelets=34).eval()
        first = net(X, basis, hop, similar)
        net.reset_parameters()
        assert not torch.equal(net(X, basis, hop, similar), first)


def test_networks_change_their_precision(hop, similar):
    net, basis = WaveletNet(34, 2).double(), wavelet_basis(wm.graphs.karate(), core=8, k=4).double()
    scores = net(X.double(), basis, hop, similar)
    assert scores.dtype == torch.float64


@pytest.mark.parametrize("decoupled", [True, False])
def test_sparse_features_change_nothing(basis, hop, similar, decoupled):
    net = WaveletNet(34, 2, decoupled=decoupled).eval()
    operators = (basis, hop, similar)
    torch.testing.assert_close(net(SPARSE, *operators), net(X, *operators))


def test_exact_hops_alone_start_as_appnp(hop):
    geometric = pytest.importorskip("torch_geometric.nn", reason="the extra pyg is not installed")
    z = torch.randn(34, 3)
    edges = np.stack(wm.graphs.karate().adjacency.tocoo().coords).astype(np.int64)
    expected = geometric.APPNP(K=5, alpha=0.1)(z, torch.from_numpy(edges))
    propagation = WaveletPropagation(3, hops=5, filter="none")
    torch.testing.assert_close(propagation(z, None, hop), expected)


def test_settings_that_are_not_allowed_are_named(basis, hop):
    with pytest.raises(InvalidInputError, match="no setting 'depth'"):
        WaveletNet(3, 2, depth=5)
    with pytest.raises(InvalidInputError, match="dropout must be at least 0 and below 1"):
        NetSettings(dropout=1.0)
    with pytest.raises(InvalidInputError, match=r"has no nn.hop_operator\(data\)"):
        WaveletNet(34, 2)(X, basis)
    net = WaveletNet(34, 2, decoupled=False, gains="pair")
    with pytest.raises(InvalidInputError, match="take dense features"):
        net(SPARSE, basis)
    with pytest.raises(InvalidInputError, match="see no neighbours"):
        NetSettings(decoupled=False, filter="none")
    with pytest.raises(InvalidInputError, match=r"has no nn.hop_operator.*similarity_graph"):
        WaveletNet(34, 2)(X, basis, hop)
    with pytest.raises(InvalidInputError, match=r"call net\(data.x, wm.nn.wavelet_basis\(data\), "):
        WaveletNet(34, 2)(X, None, hop)


def test_a_learned_basis_trains_with_the_network(hop):
    basis = wavelet_basis(wm.graphs.karate(), core=8, k=4, learn=True)
    net = WaveletNet(34, 2, input_dropout=0.0, dropout=0.0, similar_hops=0)
    optimizer = torch.optim.Adam([*net.parameters(), *basis.parameters()], lr=0.01)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        scores = net(X, basis, hop)
        loss = torch.nn.functional.cross_entropy(scores, Y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert basis.layer.theta.detach().abs().max() > 0


@pytest.mark.parametrize("preset", NODE_PRESETS)
@pytest.mark.parametrize("method", ["sparse", "rotations"])
def test_networks_are_saved_with_their_basis(hop, similar, preset, method, tmp_path):
    pytest.importorskip("safetensors")
    basis = wavelet_basis(wm.graphs.karate(), core=8, k=4, method=method)
    net = WaveletNet(34, 2, preset, num_wavelets=34).eval()
    save_net(net, basis, tmp_path / "net.safetensors", hop, similar)
    again, *operators = load_net(tmp_path / "net.safetensors")
    expected = net(X, basis, hop, similar)
    assert torch.equal(again.eval()(X, *operators), expected)
    assert again.settings == net.settings


def test_files_of_another_kind_are_refused(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    with pytest.raises(InvalidInputError, match="no such file"):
        load_net(tmp_path / "none")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(FileFormatError, match="not a whole safetensors file"):
        load_net(tmp_path / "text")
    safetensors.save_file({"x": torch.ones(1)}, tmp_path / "other")
    with pytest.raises(FileFormatError, match="not a network of wavemmf"):
        load_net(tmp_path / "other")
