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

from wavemmf.graphs import graph_from_edges  # noqa: E402
from wavemmf.nn import (  # noqa: E402
    GRAPH_PRESETS,
    AddGraphWavelets,
    GraphNetSettings,
    GraphProblem,
    GraphTraining,
    GraphWaveletNet,
    equivariance,
)
from wavemmf.nn.graphs.blocks import (  # noqa: E402
    BASIS_KEYS,
    BlockBasis,
    basis_arrays,
    compute_bases,
    hop_matrix,
)
from wavemmf.nn.graphs.packed import PackedGraphs  # noqa: E402
from wavemmf.nn.graphs.pooling import hat_functions  # noqa: E402
from wavemmf.nn.graphs.settings import POOLINGS  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def random_graph(rng, n, labels=3):
    """Return a random tree with a few more edges and labels on its nodes."""
    tails = [int(rng.integers(0, i)) for i in range(1, n)]
    pairs = {(tail, head) for tail, head in zip(tails, range(1, n), strict=True)}
    for _ in range(n // 3):
        a, b = sorted(rng.choice(n, 2, replace=False).tolist())
        pairs.add((a, b))
    edges = np.array(sorted(pairs)).reshape(-1, 2)
    return graph_from_edges(n, edges[:, 0], edges[:, 1], labels=rng.integers(0, labels, n))


def small_problem(rng, count=12, sizes=(5, 25)):
    graphs = [random_graph(rng, int(rng.integers(*sizes))) for _ in range(count)]
    return GraphProblem("random", graphs, np.arange(count) % 2)


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
    found = BlockBasis(batch).analysis(torch.eye(30)).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    np.testing.assert_allclose(batch.wavelet_frequency, h, atol=1e-6)
    np.testing.assert_allclose(found.T @ np.diag(h) @ found, f.to_dense(), atol=1e-5)
    level = f.rotations.level_of
    assert (arrays["wavelet_level"][level == 0] == 1.0).all()
    assert ((arrays["wavelet_level"] > 0) & (arrays["wavelet_level"] <= 1)).all()


def test_another_numbering_gives_another_basis_of_the_same_graph(rng):
    graph = random_graph(rng, 30)
    laplacian = wm.graphs.normalized_laplacian(graph).toarray()
    bases = [compute_bases([graph], numbering=r, k=8, core=30)[0] for r in (0, 1, 2)]
    for arrays in bases:
        batch = Data(**{key: torch.from_numpy(value) for key, value in arrays.items()})
        basis = BlockBasis(batch)
        # With a core of everything the factorization is exact, whatever the order.
        found = basis.filter(torch.eye(30), basis.frequencies[:, None].expand(-1, 30)).numpy()
        np.testing.assert_allclose(found, laplacian, atol=1e-5)
    assert not np.array_equal(bases[1]["wavelet_value"], bases[2]["wavelet_value"])


def test_a_threshold_leaves_out_small_entries_only(rng):
    (f,) = wm.factorize_many([random_graph(rng, 30)], k=8)
    kept = basis_arrays(f, threshold=0.05)["wavelet_value"]
    assert 0 < kept.size < basis_arrays(f, 0.0)["wavelet_value"].size
    assert np.abs(kept).min() > 0.05


@pytest.mark.parametrize("indices", [[0], [3, 1, 4, 1], [5, 4, 3, 2, 1, 0]])
def test_packed_graphs_make_the_batches_of_pytorch_geometric(rng, indices):
    data = small_problem(rng).data({"k": 4})
    packed = PackedGraphs(data).batch(indices)
    wanted = Batch.from_data_list([data[i] for i in indices])
    assert set(packed.keys()) == set(wanted.keys())
    assert packed.num_graphs == wanted.num_graphs
    for key, value in wanted.to_dict().items():
        assert packed[key].dtype == value.dtype, key
        assert torch.equal(packed[key], value), key


def test_a_batch_of_the_loader_is_the_block_diagonal_of_its_graphs(rng):
    problem = small_problem(rng)
    data = problem.data({"k": 4})
    (batch,) = DataLoader(data, batch_size=len(data))
    together, x = BlockBasis(batch), torch.randn(batch.num_nodes, 3, dtype=torch.float32)
    start = 0
    for each in data:
        rows = slice(start, start := start + each.num_nodes)
        alone = BlockBasis(each)
        assert torch.equal(together.frequencies[rows], alone.frequencies)
        assert torch.equal(together.levels[rows], alone.levels)
        assert torch.allclose(together.analysis(x)[rows], alone.analysis(x[rows]), atol=1e-5)
        assert torch.allclose(together.synthesis(x)[rows], alone.synthesis(x[rows]), atol=1e-5)
    assert torch.allclose(together.synthesis(together.analysis(x)), x, atol=1e-2)


def test_the_transform_attaches_what_the_problem_computes(rng):
    problem = small_problem(rng, 3)
    settings = {"k": 4, "optimize": "lbfgs", "steps": 20}
    transform = AddGraphWavelets(**settings)
    assert "k=4" in repr(transform)
    for wanted, bare in zip(problem.data(settings), problem.data(), strict=True):
        found = transform(bare)
        for key in BASIS_KEYS:
            assert torch.allclose(found[key], wanted[key])


def test_products_are_differentiable(rng):
    (batch,) = DataLoader(small_problem(rng, 3, (4, 7)).data({"k": 2}), batch_size=3)
    basis = BlockBasis(batch)
    x = torch.randn(batch.num_nodes, 2, requires_grad=True)
    weight = torch.randn(batch.num_nodes, 2)
    (basis.analysis(x) * weight).sum().backward()
    assert torch.allclose(x.grad, basis.synthesis(weight), atol=1e-5)


def test_hops_are_the_adjacency_matrix_whatever_the_order_of_edges(rng):
    graph = random_graph(rng, 12)
    edges = torch.from_numpy(np.stack(graph.adjacency.tocoo().coords).astype(np.int64))
    turned = edges[:, torch.randperm(edges.shape[1])]
    for each in (edges, turned):
        found = hop_matrix(each, 12) @ torch.eye(12)
        np.testing.assert_array_equal(found.numpy(), graph.adjacency.toarray())
    assert (hop_matrix(edges[:, :0], 3) @ torch.ones(3, 1)).abs().sum() == 0


def test_graphs_without_a_basis_are_refused_with_advice(rng):
    (batch,) = DataLoader(small_problem(rng, 2).data(), batch_size=2)
    with pytest.raises(InvalidInputError, match="AddGraphWavelets"):
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
    problem = GraphProblem("one", [graph], [0])
    (f,) = wm.factorize_many([graph], k=8)
    net = GraphWaveletNet(
        problem.num_features,
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
    (data,) = problem.data({"k": 8})
    x, (basis, h) = problem.features[0].astype(np.float64), dense_basis(f)
    state = data.x
    for layer in net.layers:
        x = dense_layer(layer, x, basis, h, graph.adjacency.toarray())
        hops = hop_matrix(data.edge_index, 20) if hop else None
        state = layer(state, BlockBasis(data), hops)
        np.testing.assert_allclose(state.detach().numpy(), x, rtol=1e-2, atol=5e-3)


def test_all_poolings_against_sums_over_each_graph(rng):
    problem = small_problem(rng, 5)
    settings = {"k": 8}
    net = GraphWaveletNet(3, 2, layers=1, pooling=POOLINGS, bands=3)
    (batch,) = DataLoader(problem.data(settings), batch_size=5)
    found = net.pooling(batch.x, batch, BlockBasis(batch))
    rows = []
    for f, x in zip(wm.factorize_many(problem.graphs, **settings), problem.features, strict=True):
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
    data = small_problem(rng).data({"k": 4})
    (batch,) = DataLoader(data, batch_size=len(data))
    alone = torch.cat([net(Batch.from_data_list([each])) for each in data])
    assert torch.allclose(net(batch), alone, rtol=1e-3, atol=1e-4)
    assert torch.allclose(net(data[0]), alone[:1], rtol=1e-3, atol=1e-4)


def test_without_filter_and_hop_nodes_do_not_see_each_other(rng):
    net = GraphWaveletNet(3, 2, filter="ones", hop=False).eval()
    assert not net.needs_basis
    data = small_problem(rng, 1).data()[0]
    cut = Data(x=data.x, edge_index=data.edge_index[:, :0])
    assert torch.allclose(net(data), net(cut))
    with_filter = GraphWaveletNet(3, 2, hop=False).eval()
    add = AddGraphWavelets(k=4)
    assert not torch.allclose(with_filter(add(data)), with_filter(add(cut)))


def test_the_paper_preset_has_the_papers_shape():
    preset = GRAPH_PRESETS["paper"]
    assert (preset.net.layers, preset.net.hidden, preset.basis["k"]) == (6, 32, 2)
    assert (preset.training.learning_rate, preset.training.epochs) == (1e-3, 256)
    assert not preset.net.hop


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 0}, "layers"),
        ({"pooling": ()}, "pooling"),
        ({"pooling": ("max",)}, "pooling must be one of"),
        ({"filter": "free"}, "filter must be one of"),
        ({"dropout": 1.0}, "dropout"),
        ({"width": 3}, "there is no setting width"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        GraphWaveletNet(3, 2, **settings)


def test_training_settings_out_of_range_are_refused():
    with pytest.raises(InvalidInputError, match="schedule"):
        GraphTraining(schedule="step")
    with pytest.raises(InvalidInputError, match="weight_decay"):
        GraphTraining(weight_decay=-1.0)
    assert GraphNetSettings(pooling=["sum", "mean"]).pooling == ("sum", "mean")


# -- the order of nodes -------------------------------------------------------------------------


def symmetric_problem(rng, count=20):
    """Return rings and combs with labels: their Laplacians have ties that labels do not."""
    graphs = []
    for _ in range(count):
        n = int(rng.integers(6, 13))
        ring = wm.graphs.cycle(n)
        tails, heads = (side[side_mask] for side, side_mask in _upper(ring))
        tails = np.concatenate([tails, np.arange(n)])
        heads = np.concatenate([heads, np.arange(n, 2 * n)])
        labels = rng.integers(0, 3, 2 * n)
        graphs.append(graph_from_edges(2 * n, tails, heads, labels=labels))
    return GraphProblem("rings with teeth", graphs, np.arange(count) % 2)


def _upper(graph):
    rows, columns = graph.adjacency.tocoo().coords
    return (rows, rows < columns), (columns, rows < columns)


def test_accurate_factorizations_make_scores_depend_less_on_node_order(rng):
    problem = symmetric_problem(rng)
    torch.manual_seed(0)
    net = GraphWaveletNet(3, 2, hop=False)

    def change(**basis):  # one renumbering says little
        return np.mean([equivariance(net, problem, basis, seed=i)["difference"] for i in range(4)])

    accurate = change(k=8, optimize="lbfgs", steps=100)
    assert 0 < accurate < 0.75 * change(k=2)
    exact = equivariance(net, problem, {"core": 30, "k": 2})
    assert exact["difference"] < 1e-3
    assert exact["agreement"] == 1.0
    assert exact["accuracy"] == exact["accuracy_permuted"]


def test_a_committee_depends_less_on_node_order_than_its_members(rng):
    problem = symmetric_problem(rng)
    torch.manual_seed(0)
    net = GraphWaveletNet(3, 2, hop=False)
    change = [
        np.mean([equivariance(nets, problem, {"k": 2}, seed=i)["difference"] for i in range(4)])
        for nets in (net, [net], [net] * 4)
    ]
    assert change[0] == change[1]
    assert change[2] < 0.75 * change[0]  # each of the four numbers the nodes otherwise


def test_exact_hops_do_not_depend_on_node_order(rng):
    net = GraphWaveletNet(3, 2, filter="ones")
    assert equivariance(net, small_problem(rng), {"k": 2}, indices=[1, 3])["difference"] < 1e-4
