"""Graph classification: batches of bases, the network against dense algebra, node order."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

from small_graphs import as_data, random_graph, random_graphs  # noqa: E402
from wavemmf.nn import (  # noqa: E402
    AddWaveletBasis,
    BatchBasis,
    GraphNetSettings,
    GraphWaveletNet,
    WaveletConv,
)
from wavemmf.nn._batch import BASIS_KEYS, basis_arrays, hop_matrix  # noqa: E402
from wavemmf.nn._pooling import POOLINGS, hat_functions  # noqa: E402
from wavemmf.nn._settings import GRAPH_PRESETS  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def with_bases(graphs, **settings):
    transform = AddWaveletBasis(**settings)
    return [transform(as_data(graph)) for graph in graphs]


def dense_basis(f):
    """Return the basis with a diagonal core, and its frequencies, by dense algebra."""
    basis, h = f.basis().toarray(), f.frequencies.copy()
    values, vectors = np.linalg.eigh(np.asarray(f.core))
    basis[f.core_indices] = vectors.T @ basis[f.core_indices]
    h[f.core_indices] = values
    return basis, h


# -- bases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("core", "k"), [(None, 8), (2, 2), (0, 3), (40, 2)])
def test_arrays_of_a_basis_are_its_matrix_with_a_diagonal_core(rng, core, k):
    graph = random_graph(rng, 30)
    (f,) = wm.factorize_many([graph], core=core, k=k)
    arrays = basis_arrays(f, threshold=0.0)
    assert set(arrays) == set(BASIS_KEYS)
    batch = Data(**{key: torch.from_numpy(value) for key, value in arrays.items()})
    wanted, h = dense_basis(f)
    found = BatchBasis(batch).analyze(torch.eye(30)).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    np.testing.assert_allclose(batch.wavelet_frequency, h, atol=1e-6)
    np.testing.assert_allclose(found.T @ np.diag(h) @ found, f.to_dense(), atol=1e-5)
    level = f.rotations.level_of
    assert (arrays["wavelet_level"][level == 0] == 1.0).all()
    assert ((arrays["wavelet_level"] > 0) & (arrays["wavelet_level"] <= 1)).all()


def test_a_threshold_leaves_out_small_entries_only(rng):
    (f,) = wm.factorize_many([random_graph(rng, 30)], k=8)
    kept = basis_arrays(f, threshold=0.05)["wavelet_value"]
    assert 0 < kept.size < basis_arrays(f, 0.0)["wavelet_value"].size
    assert np.abs(kept).min() > 0.05


def test_a_batch_of_the_loader_is_the_block_diagonal_of_its_graphs(rng):
    data = with_bases(random_graphs(rng), k=4)
    (batch,) = DataLoader(data, batch_size=len(data))
    together, x = BatchBasis(batch), torch.randn(batch.num_nodes, 3, dtype=torch.float32)
    start = 0
    for each in data:
        rows = slice(start, start := start + each.num_nodes)
        alone = BatchBasis(each)
        assert torch.equal(together.frequencies[rows], alone.frequencies)
        assert torch.equal(together.levels[rows], alone.levels)
        assert torch.allclose(together.analyze(x)[rows], alone.analyze(x[rows]), atol=1e-5)
        assert torch.allclose(together.synthesize(x)[rows], alone.synthesize(x[rows]), atol=1e-5)
    assert torch.allclose(together.synthesize(together.analyze(x)), x, atol=1e-2)


def test_products_are_differentiable(rng):
    (batch,) = DataLoader(with_bases(random_graphs(rng, 3, (4, 7)), k=2), batch_size=3)
    basis = BatchBasis(batch)
    x = torch.randn(batch.num_nodes, 2, requires_grad=True)
    weight = torch.randn(batch.num_nodes, 2)
    (basis.analyze(x) * weight).sum().backward()
    assert torch.allclose(x.grad, basis.synthesize(weight), atol=1e-5)


def test_hops_are_the_adjacency_matrix_whatever_the_order_of_edges(rng):
    graph = random_graph(rng, 12)
    edges = torch.from_numpy(np.stack(graph.adjacency.tocoo().coords).astype(np.int64))
    turned = edges[:, torch.randperm(edges.shape[1])]
    for each in (edges, turned):
        found = hop_matrix(each, 12) @ torch.eye(12)
        np.testing.assert_array_equal(found.numpy(), graph.adjacency.toarray())
    assert (hop_matrix(edges[:, :0], 3) @ torch.ones(3, 1)).abs().sum() == 0


def test_graphs_without_a_basis_are_refused_with_advice(rng):
    (batch,) = DataLoader([as_data(graph) for graph in random_graphs(rng, 2)], batch_size=2)
    with pytest.raises(InvalidInputError, match="AddWaveletBasis"):
        GraphWaveletNet(3, 2)(batch)


# -- the network --------------------------------------------------------------------------------


def dense_layer(layer, x, basis, h, adjacency):
    """Return what the layer computes in evaluation mode, with dense matrices."""
    weight = {name: p.detach().double().numpy() for name, p in layer.named_parameters()}
    of_waves, of_hop = weight["of_waves.weight"].T, weight.get("of_hop.weight", np.empty(0)).T
    gains = 1.0
    if layer.filter is not None:
        s = np.clip(h / 2.0, 0, 1)
        orders = np.arange(layer.filter.degree + 1)
        chebyshev = np.cos(np.arccos(2 * s - 1)[:, None] * orders)
        gains = chebyshev @ layer.filter.weight.detach().double().numpy()
    if x.shape[1] > 2 * of_waves.shape[1]:  # then the map comes first
        first = basis.T @ (gains * (basis @ (x @ of_waves + weight["of_waves.bias"])))
    else:
        first = basis.T @ (gains * (basis @ x)) @ of_waves + weight["of_waves.bias"]
    if layer.of_hop is not None:
        first += (weight["own_weight"] * x + adjacency @ x) @ of_hop
    h1 = np.maximum(dense_norm(layer.norms[0], first), 0)
    second = h1 @ weight["second.weight"].T + weight["second.bias"]
    return np.maximum(dense_norm(layer.norms[1], second), 0)


def dense_norm(norm, x):
    if isinstance(norm, torch.nn.Identity):
        return x
    mean, var, weight, bias = (
        t.detach().double().numpy()
        for t in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    return (x - mean) / np.sqrt(var + norm.eps) * weight + bias


@pytest.mark.parametrize("hop", [True, False])
@pytest.mark.parametrize("filter", ["spectral", "ones"])
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("hidden", [32, 1])
def test_a_layer_is_what_dense_algebra_says(rng, hop, filter, batch_norm, hidden):
    graph = random_graph(rng, 20)
    (f,) = wm.factorize_many([graph], k=8)
    net = GraphWaveletNet(
        3,
        2,
        layers=2,
        hidden=hidden,
        hop=hop,
        filter=filter,
        batch_norm=batch_norm,
    )
    assert net.layers[0].maps_first == (hidden == 1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    net.eval()
    (data,) = with_bases([graph], k=8)
    x, (basis, h) = data.x.double().numpy(), dense_basis(f)
    state = data.x
    for layer in net.layers:
        x = dense_layer(layer, x, basis, h, graph.adjacency.toarray())
        hops = hop_matrix(data.edge_index, 20) if hop else None
        state = layer(state, BatchBasis(data), hops)
        np.testing.assert_allclose(state.detach().numpy(), x, rtol=1e-2, atol=5e-3)


def test_all_poolings_against_sums_over_each_graph(rng):
    graphs = random_graphs(rng, 5)
    net = GraphWaveletNet(3, 2, layers=1, pooling=POOLINGS, bands=3)
    data = with_bases(graphs, k=8)
    (batch,) = DataLoader(data, batch_size=5)
    found = net.pooling(batch.x, batch, BatchBasis(batch))
    rows = []
    for f, each in zip(wm.factorize_many(graphs, k=8), data, strict=True):
        x = each.x.numpy()
        basis, h = dense_basis(f)
        level = f.rotations.level_of / max(1, f.rotations.level_of.max())
        level[f.rotations.level_of == 0] = 1.0
        energy = (basis @ x) ** 2
        bands = [
            np.sqrt(hat_functions(torch.from_numpy(place), 3).numpy().T @ energy + 1e-6).ravel()
            for place in (h / 2, level)
        ]
        total = x.sum(axis=0)
        rows.append(np.concatenate([total, x.mean(axis=0), np.arcsinh(total), *bands]))
    np.testing.assert_allclose(found.numpy(), rows, rtol=1e-3, atol=1e-3)


def test_hat_functions_add_up_to_one(rng):
    weights = hat_functions(torch.from_numpy(rng.uniform(-0.2, 1.2, 50)), 5)
    assert torch.allclose(weights.sum(dim=1), torch.ones(50, dtype=torch.float64))
    assert (weights >= 0).all()


@pytest.mark.parametrize("preset", list(GRAPH_PRESETS))
def test_scores_do_not_depend_on_the_rest_of_the_batch(rng, preset):
    net = GraphWaveletNet(3, 4, preset).eval()
    data = with_bases(random_graphs(rng), k=4)
    (batch,) = DataLoader(data, batch_size=len(data))
    alone = torch.cat([net(Batch.from_data_list([each])) for each in data])
    assert torch.allclose(net(batch), alone, rtol=1e-3, atol=1e-4)
    assert torch.allclose(net(data[0]), alone[:1], rtol=1e-3, atol=1e-4)


def test_without_filter_and_hop_nodes_do_not_see_each_other(rng):
    net = GraphWaveletNet(3, 2, filter="ones", hop=False).eval()
    assert not net.needs_basis
    data = as_data(random_graph(rng, 15))
    cut = Data(x=data.x, edge_index=data.edge_index[:, :0])
    assert torch.allclose(net(data), net(cut))
    with_filter = GraphWaveletNet(3, 2, hop=False).eval()
    add = AddWaveletBasis(k=4)
    assert not torch.allclose(with_filter(add(data)), with_filter(add(cut)))


def test_the_paper_preset_is_the_papers(rng):
    """Six convolutions with a filter for every pair of channels, and nothing else."""
    net = GraphWaveletNet(3, 2, "paper")
    assert (net.settings.layers, net.settings.hidden) == (6, 32)
    assert all(isinstance(layer, WaveletConv) for layer in net.layers)
    assert {(layer.gains, layer.bias) for layer in net.layers} == {("pair", None)}
    (data,) = with_bases([random_graph(rng, 12)], k=2)
    state, basis = data.x, BatchBasis(data)
    for layer in net.layers:
        c = basis.analyze(state)
        terms = layer.filter.terms(basis)
        start = layer.response(basis.frequencies)
        gains = torch.einsum("nt,tio->nio", terms, layer.filter.weight)
        gains = gains + start[:, None, None] * layer.weight
        state = basis.synthesize(torch.einsum("nio,ni->no", gains, c)).clamp(min=0.0)
    torch.testing.assert_close(net(data), net.classifier(state.sum(dim=0, keepdim=True)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 0}, "layers"),
        ({"pooling": ()}, "pooling"),
        ({"pooling": ("max",)}, "pooling must be one of"),
        ({"filter": "free"}, "filter must be one of"),
        ({"dropout": 1.0}, "dropout"),
        ({"width": 3}, "there is no setting 'width'"),
        ({"convolutions": True}, "convolutions=True takes"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        GraphWaveletNet(3, 2, **settings)


def test_settings_may_name_poolings_in_a_list():
    assert GraphNetSettings(pooling=["sum", "mean"]).pooling == ("sum", "mean")
