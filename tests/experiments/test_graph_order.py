"""Graphs in batches and in other orders: bases, packed batches, what a network makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from small_graphs import random_graph, random_graphs

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from torch_geometric.data import Batch, Data  # noqa: E402

from wavemmf.experiments.graphs import GraphProblem, equivariance  # noqa: E402
from wavemmf.experiments.graphs._bases import compute_bases  # noqa: E402
from wavemmf.experiments.graphs._packed import PackedGraphs  # noqa: E402
from wavemmf.graphs import graph_from_edges  # noqa: E402
from wavemmf.nn import AddWaveletBasis, BatchBasis  # noqa: E402
from wavemmf.nn._batch import BASIS_KEYS  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def small_problem(rng, count=12):
    return GraphProblem("random", random_graphs(rng, count), np.arange(count) % 2)


def test_another_numbering_gives_another_basis_of_the_same_graph(rng):
    graph = random_graph(rng, 30)
    laplacian = wm.graphs.normalized_laplacian(graph).toarray()
    bases = [compute_bases([graph], numbering=r, k=8, core=30)[0] for r in (0, 1, 2)]
    for arrays in bases:
        batch = Data(**{key: torch.from_numpy(value) for key, value in arrays.items()})
        basis = BatchBasis(batch)
        # With a core of everything the factorization is exact, whatever the order.
        found = basis.filter(torch.eye(30), basis.frequencies[:, None].expand(-1, 30)).numpy()
        np.testing.assert_allclose(found, laplacian, atol=1e-5)
    assert not np.array_equal(bases[1]["wavelet_value"], bases[2]["wavelet_value"])


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


def test_the_transform_attaches_what_the_problem_computes(rng):
    problem = small_problem(rng, 3)
    settings = {"k": 4, "optimize": "lbfgs", "steps": 20}
    transform = AddWaveletBasis(**settings)
    assert "k=4" in repr(transform)
    for wanted, bare in zip(problem.data(settings), problem.data(), strict=True):
        found = transform(bare)
        for key in BASIS_KEYS:
            assert torch.allclose(found[key], wanted[key])


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
    net = wm.nn.GraphWaveletNet(3, 2, hop=False)

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
    net = wm.nn.GraphWaveletNet(3, 2, hop=False)
    change = [
        np.mean([equivariance(nets, problem, {"k": 2}, seed=i)["difference"] for i in range(4)])
        for nets in (net, [net], [net] * 4)
    ]
    assert change[0] == change[1]
    assert change[2] < 0.75 * change[0]  # each of the four numbers the nodes otherwise


def test_exact_hops_do_not_depend_on_node_order(rng):
    net = wm.nn.GraphWaveletNet(3, 2, filter="ones")
    assert equivariance(net, small_problem(rng), {"k": 2}, indices=[1, 3])["difference"] < 1e-4
