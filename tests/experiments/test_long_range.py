"""Eccentricities, the task on roads, networks to compare with, influence, and the command."""

from __future__ import annotations

import json
import tarfile

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InvalidInputError

torch = pytest.importorskip("torch")
geometric = pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from wavemmf.experiments import long_range  # noqa: E402
from wavemmf.experiments.long_range import (  # noqa: E402
    Depth,
    city_problem,
    deciles,
    eccentricities,
    influence_by_hop,
    make_model,
    parse_models,
    road_problem,
)
from wavemmf.experiments.long_range._memory import megabytes_kept  # noqa: E402
from wavemmf.experiments.long_range._operators import Operators  # noqa: E402
from wavemmf.experiments.long_range._rivals import Decoupled, Layered  # noqa: E402
from wavemmf.experiments.nodes import NodeProblem  # noqa: E402


def weighted(rng, n=30, share=0.08):
    """Return a random graph and lengths of its entries, the same in both directions."""
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    lengths = sp.csr_array(upper + upper.T)
    return sp.csr_array(lengths != 0, dtype=np.float64), lengths


@pytest.mark.parametrize("hops", [0, 1, 2, 5])
def test_eccentricities_are_the_longest_ways_inside_of_the_balls(rng, hops):
    adjacency, lengths = weighted(rng)
    apart = sp.csgraph.dijkstra(adjacency, unweighted=True)
    expected = []
    for node in range(30):
        ball = np.flatnonzero(apart[node] <= hops)
        ways = sp.csgraph.dijkstra(lengths[ball][:, ball], indices=int((ball < node).sum()))
        expected.append(ways.max())
    np.testing.assert_allclose(eccentricities(adjacency, lengths.data, hops), expected, rtol=1e-14)


def test_lengths_must_fit():
    with pytest.raises(InvalidInputError, match="2 numbers that are not negative"):
        eccentricities(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0]))


@pytest.mark.parametrize("n", [10, 95, 101])
def test_deciles_are_of_equal_size_and_in_order(rng, n):
    values = rng.standard_normal(n)
    classes = deciles(values)
    assert np.bincount(classes, minlength=10).max() <= -(-n // 10)
    assert (np.diff(classes[np.argsort(values)]) >= 0).all()
    assert classes.max() == 9


def test_the_task_knows_no_coordinates(rng):
    graph = wm.graphs.grid(9, 9)
    moved = wm.graphs.Graph(graph.adjacency, coordinates=graph.coordinates @ [[0, 1], [-1, 0]] + 7)
    problem, other = road_problem(graph), road_problem(moved)
    torch.testing.assert_close(problem.x, other.x)
    assert torch.equal(problem.y, other.y)
    assert problem.x.mean(dim=0).abs().max() < 1e-6
    with pytest.raises(InvalidInputError, match="need coordinates"):
        road_problem(wm.graphs.Graph(graph.adjacency))


def test_the_largest_component_is_taken():
    parts = sp.block_diag([wm.graphs.cycle(4).adjacency, wm.graphs.cycle(20).adjacency])
    angles = np.arange(24)[:, None] + np.array([0.0, np.pi / 2])
    graph = wm.graphs.Graph(parts, coordinates=np.cos(angles))
    assert road_problem(graph).graph.n == 20


# -- networks to compare with --


@pytest.fixture(scope="module")
def roads():
    return road_problem(wm.graphs.grid(8, 9))


@pytest.mark.parametrize("name", ["gcn", "sage", "chebnet", "chebnet-8"])
def test_layers_are_those_of_pytorch_geometric(roads, name):
    layer, edges = Layered(name, 4, 8, 10, layers=1).layers[0], roads.edge_index
    x = torch.randn(roads.graph.n, 8)
    if name == "gcn":
        theirs = geometric.nn.GCNConv(8, 8, bias=False)
        theirs.lin.weight = layer.near.weight
    elif name == "sage":
        theirs = geometric.nn.SAGEConv(8, 8)
        theirs.lin_l.weight, theirs.lin_r.weight = layer.near.weight, layer.own.weight
        theirs.lin_l.bias = layer.own.bias
    else:
        theirs = geometric.nn.ChebConv(8, 8, K=len(layer.maps))
        for ours, their in zip(layer.maps, theirs.lins, strict=True):
            their.weight = ours.weight
        theirs.bias = layer.maps[0].bias
    expected = theirs(x, edges)
    torch.testing.assert_close(layer(x, Operators(roads)), expected, rtol=1e-4, atol=1e-5)


def test_appnp_is_that_of_pytorch_geometric(roads):
    net = Decoupled("appnp", 4, 8, 10, layers=5).eval()
    z = net.second(net.first(roads.x).clamp_min(0.0))
    expected = geometric.nn.APPNP(K=5, alpha=0.1)(z, roads.edge_index)
    torch.testing.assert_close(net(roads.x, Operators(roads)), expected, rtol=1e-4, atol=1e-5)
    assert not net.weights.requires_grad
    assert Decoupled("gprgnn", 4, 8, 10, layers=5).weights.requires_grad


def test_without_wavelets_our_network_is_gcn_with_ways_past_it(roads):
    rival = Layered("gcn", 4, 8, 10, layers=2).eval()
    settings = {"preset": "layers", "layers": 2, "hidden": 8, "filter": "none"}
    ours = wm.nn.WaveletNet(4, 10, **settings).eval()
    first, *layers, last = ours.layers
    first.load_state_dict(rival.first.state_dict())
    last.load_state_dict(rival.last.state_dict())
    for layer, near, past in zip(layers, rival.layers, rival.past, strict=True):
        layer.maps.weight.data = torch.cat([past.weight, near.near.weight])
        layer.maps.bias.data = torch.cat([past.bias, torch.zeros(8)])
    expected = rival(roads.x, Operators(roads))
    torch.testing.assert_close(ours(roads.x, None, roads.hops), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", long_range.LONG_RANGE_MODELS)
def test_every_network_runs_and_learns(roads, name):
    net, scores = make_model(Depth(name, 2), roads)
    out = scores(roads.x)
    assert out.shape == (roads.graph.n, 10)
    out.sum().backward()
    learned = [p for p in net.parameters() if p.requires_grad]
    assert all(p.grad is not None for p in learned)
    assert megabytes_kept(lambda: scores(roads.x)) > 0.0


def test_names_of_networks_are_read():
    assert parse_models("gcn:16") == [Depth("gcn", 16)]
    assert len(parse_models("sage,wavelet:2")) == 5
    for text, reason in (("gcn:x", "NAME:LAYERS"), ("gnc:2", "model"), ("mlp:2,mlp", "once each")):
        with pytest.raises(InvalidInputError, match=reason):
            parse_models(text)


# -- influence --


def test_influence_is_that_of_the_jacobian():
    """On a path, one hop of which is known: x_i + x_(i+1) / 2 + x_(i+2) / 4."""
    n = 12
    path = NodeProblem("path", wm.graphs.grid(1, n), torch.randn(n, 3), torch.arange(n) % 2)
    ahead = torch.eye(n) + torch.diag(torch.full((n - 1,), 0.5), 1)
    ahead = ahead + torch.diag(torch.full((n - 2,), 0.25), 2)
    found = influence_by_hop(torch.nn.Identity(), lambda x: ahead @ x, path, samples=n)
    sums = np.array([n, (n - 1) * 0.5, (n - 2) * 0.25]) / n
    np.testing.assert_allclose(found.by_hop[:3], sums, rtol=1e-5)
    assert not any(found.by_hop[3:])
    totals = ahead.sum(dim=1)
    reach = (ahead @ torch.ones(n) - 1.0 + 0.25 * (torch.arange(n) < n - 2)) / totals
    assert found.reach == pytest.approx(reach.mean().item(), abs=1e-5)


# -- City-Networks as they are published --


def test_city_networks_are_read_by_pytorch_geometric(tmp_path, monkeypatch, roads):
    """A file in their layout: tensors of torch in a folder of a tar, indices in place of masks."""
    folder = tmp_path / "made" / "paris"
    folder.mkdir(parents=True)
    n, nodes = roads.graph.n, torch.arange(roads.graph.n)
    tensors = {
        "node_features_augmented": 5.0 * roads.x + 3.0,
        "edge_indices": roads.edge_index,
        "10-chunk_16-hop_node_labels": roads.y,
        "train_mask": nodes[: n // 3],
        "valid_mask": nodes[n // 3 : n // 2],
        "test_mask": nodes >= n // 2,
    }
    for name, tensor in tensors.items():
        torch.save(tensor, folder / f"{name}.pt")
    packed = tmp_path / "paris.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder, "paris")
    monkeypatch.setattr(geometric.datasets.city, "download_url", lambda *_: str(packed))
    problem = city_problem("paris", tmp_path / "root")
    assert (problem.graph.adjacency != roads.graph.adjacency).nnz == 0
    torch.testing.assert_close(problem.x, roads.x, rtol=1e-4, atol=1e-5)
    assert [part.size for part in problem.splits[0]] == [n // 3, n // 2 - n // 3, n - n // 2]
    assert problem.split("public", seed=3).train.tolist() == list(range(n // 3))


def test_a_city_that_cannot_be_downloaded_is_named(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError("no network")

    monkeypatch.setattr(geometric.datasets.city, "download_url", fails)
    with pytest.raises(InvalidInputError, match=r"london is not in .* cannot be downloaded"):
        city_problem("london", tmp_path)


# -- the command --


@pytest.fixture
def small_roads(monkeypatch, roads):
    """Let the command find a small grid under the name of Minnesota."""
    monkeypatch.setattr(long_range._run, "_problem", lambda name: roads)
    monkeypatch.setattr(long_range._run, "load_long_range_problem", None)


COMMAND = (
    "reproduce",
    "long-range",
    "--datasets",
    "minnesota",
    "--epochs",
    5,
    "--runs",
    2,
    "--dropouts",
    0.2,
)


def test_runs_are_kept_and_told_of(run, small_roads, tmp_path, monkeypatch):
    models = ("--models", "wavelet:2,gcn:2", "--results", tmp_path / "runs", "--influence", 2)
    record = tmp_path / "record.json"
    told = run(*COMMAND, *models, "--record", record, "--json")
    ours, gcn = json.loads(told.stdout)["rows"]
    assert ours["ours_better_by"] is None
    difference = ours["accuracy_mean"] - gcn["accuracy_mean"]
    assert gcn["ours_better_by"] == pytest.approx(difference)
    assert ours["reach"] > 0.0
    assert len(list((tmp_path / "runs").iterdir())) == 4
    values = json.loads(record.read_text())["values"]
    assert [row["model"] for row in values] == ["wavelet", "gcn"]
    monkeypatch.setattr(long_range._run, "train_nodes", None)  # nothing is trained again
    assert json.loads(run(*COMMAND, *models, "--json").stdout) == json.loads(told.stdout)
    more = (*COMMAND, "--models", "wavelet:2,sage:2", *models[2:], "--kept-only")
    table = run(*more).stdout
    assert "wavelet" in table
    assert "sage" not in table


def test_the_validation_nodes_choose_the_dropout(small_roads, tmp_path):
    found = long_range.run_long_range(
        tmp_path, ["minnesota"], [Depth("gcn", 2)], runs=2, epochs=5, dropouts=(0.0, 0.9)
    )
    best = max(found.values(), key=lambda runs: sum(o.validation_accuracy for o in runs.values()))
    (row,) = long_range.long_range_rows(found)
    accuracies = [outcome.test_accuracy for outcome in best.values()]
    assert row["accuracy_mean"] == pytest.approx(np.mean(accuracies))
    assert len(list(tmp_path.iterdir())) == 4


def test_what_cannot_be_run_is_named(refused, small_roads, tmp_path):
    refused(*COMMAND[:3], "rome", reason="--datasets")
    results = ("--results", tmp_path)
    refused(*COMMAND, "--models", "gcn:0", *results, reason="layers")
    refused(*COMMAND[:-1], "half", *results, reason="--dropouts must be numbers")
    refused(*COMMAND, "--models", "gcn:2", *results, "--kept-only", reason="has no run of these")
