"""Node classification: splits, networks to compare with, training, resumption, the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from wavemmf.experiments.nodes import (  # noqa: E402
    NODE_BASELINES,
    NODE_MODELS,
    NODE_RECIPES,
    SPLITS,
    NodeProblem,
    classify_nodes,
    load_node_problem,
    make_split,
    train_nodes,
)
from wavemmf.experiments.nodes._baselines import LAYERED, Baseline  # noqa: E402
from wavemmf.experiments.nodes._models import make_node_model  # noqa: E402
from wavemmf.nn import NodeTraining, WaveletNet  # noqa: E402
from wavemmf.nn._parameters import parameter_groups  # noqa: E402
from wavemmf.nn._train import _loss as nodes_loss  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture(scope="module")
def karate():
    return load_node_problem("karate")


def cora(data_dir):
    if not (data_dir / "LINQS" / "cora").is_dir():
        pytest.skip(f"{data_dir} has no folder LINQS/cora")
    return load_node_problem("cora")


# -- splits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SPLITS if name != "public"])
def test_splits_are_disjoint_complete_and_repeatable(name, rng):
    labels = rng.choice(3, size=200, p=[0.8, 0.15, 0.05])
    split, same, other = (make_split(name, labels, seed) for seed in (1, 1, 2))
    together = np.concatenate([split.train, split.validation, split.test])
    assert np.array_equal(np.sort(together), np.arange(200))
    assert np.array_equal(split.train, same.train)
    assert not np.array_equal(split.train, other.train)
    if "class" not in name:
        shares = [int(part) for part in name.split("/")]
        sizes = [split.train.size, split.validation.size, split.test.size]
        assert sizes == [2 * share for share in shares]


def test_the_split_per_class_uses_up_small_classes_and_says_so(rng):
    labels = rng.choice(3, size=200, p=[0.8, 0.15, 0.05])
    split = make_split("60/20/20-per-class", labels)
    assert np.bincount(labels[split.train]).tolist() == [40, *np.bincount(labels)[1:]]
    assert "not comparable" in split.protocol
    assert set(labels[split.test]) == {0}


def test_a_public_split_comes_with_the_data():
    with pytest.raises(InvalidInputError, match="came with no split"):
        make_split("public", np.zeros(3, int))
    parts = tuple(np.array([i]) for i in range(3))
    assert make_split("public", np.zeros(3, int), 5, parts).test.tolist() == [2]


# -- networks ---------------------------------------------------------------------------------


def test_the_networks_see_other_nodes(karate):
    for model in ("wavelet", "wavelet-paper"):
        candidate = make_node_model(model, karate)
        candidate.net.eval()
        basis = karate.basis(**NODE_RECIPES[model].basis)
        moved = karate.x.clone()
        moved[0] += 1.0
        operators = (basis, karate.hops, karate.similar(5))
        before = candidate.net(karate.x, *operators)
        change = (candidate.net(moved, *operators) - before).abs().sum(dim=1)
        assert (change[1:] > 0).sum() > 10


@pytest.mark.parametrize("name", LAYERED)
def test_sparse_features_change_nothing_for_others(karate, name):
    net = Baseline(name, 34, 8, 2).eval()
    torch.testing.assert_close(
        net(karate.features, karate.edge_index), net(karate.x, karate.edge_index)
    )


def test_filters_move_at_a_rate_of_their_own():
    settings = NodeTraining(learning_rate=0.1, weight_decay=0.5, filter_rate=0.01)
    groups = parameter_groups(WaveletNet(34, 2), settings)
    assert [group["lr"] for group in groups] == pytest.approx([0.1, 0.1, 0.001])
    assert [group["weight_decay"] for group in groups] == [0.5, 0.0, 0.0]
    assert [len(group["params"]) for group in groups] == [2, 2, 3]
    stacked = parameter_groups(WaveletNet(34, 2, decoupled=False), settings)
    assert [len(group["params"]) for group in stacked] == [2, 2, 2]


def test_heat_wavelets(karate):
    wavelets = karate.heat_wavelets
    values, vectors = np.linalg.eigh(wm.graphs.normalized_laplacian(karate.graph).toarray())
    x = torch.randn(34, 2)
    expected = vectors @ (np.exp(values)[:, None] * (vectors.T @ x.numpy()))
    np.testing.assert_allclose(wavelets.analyze(x).numpy(), expected, atol=5e-3)
    torch.testing.assert_close(wavelets.filter(x, torch.ones(34, 1)), x, atol=1e-2, rtol=0)
    assert wavelets.nnz_share <= 1.0


def test_a_problem_is_checked(karate):
    with pytest.raises(InvalidInputError, match="one row for each of 34 nodes"):
        type(karate)("karate", karate.graph, karate.x[:5], karate.y)


# -- training ---------------------------------------------------------------------------------


def test_the_recipe_of_the_paper_is_the_papers():
    paper = NODE_RECIPES["wavelet-paper"]
    assert (paper.net.layers, paper.net.hidden, paper.training.epochs) == (6, 100, 256)
    assert (paper.training.learning_rate, paper.basis["k"]) == (1e-3, 16)
    assert (paper.net.gains, paper.net.filter, paper.net.bias) == ("pair", "free", False)
    assert paper.basis["optimize"] is not None


def test_training_settings_that_are_not_allowed_are_named():
    with pytest.raises(InvalidInputError, match="weight_decay must be >= 0"):
        NodeTraining(weight_decay=-1.0)


def test_a_basis_that_was_learned_is_not_that_of_the_next_network(karate):
    kept = karate.basis(**NODE_RECIPES["wavelet-end-to-end"].basis)
    model = make_node_model("wavelet-end-to-end", karate, epochs=3)
    split = make_split("60/20/20", karate.y.numpy())
    learned = model.net[1].layer.theta
    train_nodes(model.net, model.scores, karate.y, split, model.training)
    assert learned.detach().abs().max() > 0
    assert kept.layer.theta.detach().abs().max() == 0


def test_every_baseline_is_a_model():
    assert set(LAYERED) == set(NODE_BASELINES) - {"gwnn", "spectral-cnn"}


@pytest.mark.parametrize("model", NODE_MODELS)
def test_every_model_learns_the_two_clubs(model, karate):
    result = classify_nodes(karate, model, "40/20/40", runs=2, epochs=120)
    assert result.model == model
    if model not in ("mlp", "spectral-cnn"):  # which cannot tell nodes they have not seen
        assert result.accuracy_mean > 0.7
    brief, again = (classify_nodes(karate, model=model, runs=1, epochs=15) for _ in range(2))
    assert np.array_equal(again.accuracies, brief.accuracies)


def test_training_leaves_the_random_numbers_alone(karate):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    classify_nodes(karate, runs=1, epochs=2)
    assert torch.equal(torch.rand(1), expected)


def test_the_test_nodes_do_not_matter(karate):
    """Whatever the labels of the test nodes are, the same network is chosen."""
    split = make_split("60/20/20", karate.y.numpy(), 0)
    wrong = karate.y.clone()
    wrong[torch.from_numpy(split.test)] = 1 - wrong[torch.from_numpy(split.test)]
    results = []
    for y in (karate.y, wrong):
        problem = type(karate)("karate", karate.graph, karate.x, y)
        results.append(classify_nodes(problem, runs=1, epochs=40).outcomes[0])
    assert results[0].best_epoch == results[1].best_epoch
    assert results[0].validation_accuracy == results[1].validation_accuracy
    assert results[0].test_accuracy == pytest.approx(1 - results[1].test_accuracy)


def test_agreement_reaches_nodes_without_labels():
    y, labelled = torch.tensor([0, 1, 0]), torch.tensor([0])
    two = [torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0]], requires_grad=True) for _ in "ab"]
    two[1].data[1] = torch.tensor([0.0, 3.0])
    draws = iter(two)
    loss = nodes_loss(lambda: next(draws), y, labelled, 0.5)
    # By hand: the middle node is predicted differently, the others twice the same.
    chances = [each.detach().softmax(dim=1) for each in two]
    mean = (chances[0] + chances[1]) / 2.0
    target = mean**2 / (mean**2).sum(dim=1, keepdim=True)
    apart = sum(((each - target) ** 2).sum(dim=1).mean() for each in chances) / 2.0
    known = -chances[0][0, 0].log()
    assert loss.item() == pytest.approx((known + 0.5 * apart).item())
    loss.backward()
    assert two[0].grad[1].abs().max() > 0.0
    plain = nodes_loss(lambda: two[0], y, labelled, 0.0)
    assert plain.item() == pytest.approx(known.item())


def test_runs_are_resumed(karate, tmp_path, monkeypatch):
    first = classify_nodes(karate, runs=2, epochs=5, results=tmp_path)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [f"karate_60-20-20_wavelet_{seed}.json" for seed in (0, 1)]
    (tmp_path / files[1]).write_text("{", encoding="utf-8")  # damaged: run again
    more = classify_nodes(karate, runs=3, epochs=5, results=tmp_path)
    assert more.outcomes[0] == first.outcomes[0], "to the second of its time"
    assert more.outcomes[1].test_accuracy == first.outcomes[1].test_accuracy
    other = classify_nodes(karate, runs=1, epochs=6, results=tmp_path)
    assert other.outcomes[0].epochs == 6, "other settings are another run"
    with pytest.raises(InvalidInputError, match="cannot keep results"):
        classify_nodes(karate, runs=1, results=tmp_path / files[0])


def test_differences_are_paired(karate):
    a, b = (classify_nodes(karate, model=m, runs=3, epochs=5) for m in ("wavelet", "mlp"))
    mean, error = a.better_by(b)
    difference = a.accuracies - b.accuracies
    assert mean == pytest.approx(difference.mean())
    assert error == pytest.approx(difference.std(ddof=1) / 3**0.5)
    with pytest.raises(InvalidInputError, match="not run on the same"):
        a.better_by(classify_nodes(karate, runs=2, epochs=2))


# -- files and the command --------------------------------------------------------------------


NODES = ("classify", "nodes", "--dataset", "karate", "--runs", 2, "--epochs", 5)


def test_the_command(run, tmp_path):
    result = run(*NODES, "--results", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["runs"] == 2
    assert told["protocol"] == "uniform random 60/20/20 (training/validation/test)"
    accuracies = [outcome["test_accuracy"] for outcome in told["outcomes"]]
    assert told["accuracy_mean"] == pytest.approx(np.mean(accuracies))
    assert told["accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert len(list(tmp_path.iterdir())) == 2
    text = run(*NODES, "--results", tmp_path).stdout
    assert f"{100 * told['accuracy_mean']:.2f} ± {100 * told['accuracy_std']:.2f}" in text


def test_the_command_compares(run):
    result = run(*NODES, "--model", "wavelet,mlp", "--json")
    told = json.loads(result.stdout)
    assert [entry["model"] for entry in told["models"]] == ["wavelet", "mlp"]
    difference = told["models"][0]["accuracy_mean"] - told["models"][1]["accuracy_mean"]
    assert told["models"][1]["difference_mean"] == pytest.approx(difference)
    assert "wavelet is better by" in run(*NODES, "--model", "wavelet,mlp").stdout


def test_the_command_refuses(refused):
    refused(*NODES, "--model", "wavelet,wavelet", reason="each once")
    refused(*NODES, "--model", "transformer", reason="model must be one of")
    refused(*NODES, "--split", "80/10/10", reason="split must be one of")
    refused("classify", "nodes", "--dataset", "imagenet", reason="dataset must be one of")
    refused(*NODES, "--split", "public", reason="came with no split")


# -- real data --------------------------------------------------------------------------------


def test_cora_in_a_few_epochs(data_dir):
    problem = cora(data_dir)
    assert repr(problem) == "NodeProblem('cora', nodes=2708, edges=5278, features=1433, classes=7)"
    torch.testing.assert_close(problem.x.sum(dim=1), torch.ones(2708))
    result = classify_nodes(problem, runs=1, epochs=120)
    assert result.accuracy_mean > 0.8
    assert result.facts["basis"]["nnz_share"] < 0.1525


def test_planetoid_cora(data_dir):
    if not (data_dir / "Planetoid" / "Cora").is_dir():
        pytest.skip(f"{data_dir} has no folder Planetoid/Cora")
    problem = load_node_problem("planetoid-cora")
    assert (problem.graph.n, problem.graph.num_edges) == (2708, 5278)
    assert [part.size for part in problem.splits[0]] == [140, 500, 1000]
    result = classify_nodes(problem, "appnp", "public", runs=1, epochs=30)
    assert result.accuracy_mean > 0.7


# -- what is no data ----------------------------------------------------------------------------


def own_problem(**changes):
    """Return a small problem of one's own, with some of it changed."""
    graph = wm.graphs.karate()
    given = {"name": "own", "graph": graph, "x": torch.eye(34), "y": torch.arange(34) % 2}
    return NodeProblem(**{**given, **changes})


def with_entry(tensor, place, value):
    changed = tensor.clone()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"x": with_entry(torch.eye(34), (5, 7), torch.nan)}, InvalidInputError,
         "feature 7 of node 5 is nan"),
        ({"x": with_entry(torch.eye(34), (33, 0), -torch.inf)}, InvalidInputError,
         "feature 0 of node 33 is -inf"),
        ({"x": torch.full((34, 2), 1e300, dtype=torch.float64)}, InvalidInputError,
         "feature 0 of node 0 is 1e.300, too large for float32"),
        ({"x": torch.zeros(34, 2, dtype=torch.complex64)}, InputTypeError, "real numbers"),
        ({"x": torch.eye(34).to_sparse()}, InputTypeError, "dense tensor"),
        ({"x": np.eye(34)}, InputTypeError, "x must be a dense tensor.*got ndarray"),
        ({"x": torch.ones(34)}, InvalidInputError, "one row of features per node"),
        ({"x": torch.eye(33)}, InvalidInputError, "one row for each of 34 nodes"),
        ({"y": torch.zeros(34)}, InputTypeError, "of integers, got torch.float32"),
        ({"y": torch.zeros(34, dtype=torch.bool)}, InputTypeError, "tensor of integers"),
        ({"y": [0] * 34}, InputTypeError, "got list"),
        ({"y": with_entry(torch.zeros(34, dtype=torch.int64), 9, -1)}, InvalidInputError,
         "that of node 9 is -1"),
        ({"y": torch.zeros(34, 1, dtype=torch.int64)}, InvalidInputError, "one class per node"),
        ({"splits": [([0, 1], [2], [1, 3])]}, InvalidInputError, "node 1 is in both train and te"),
        ({"splits": [([0, 1], [1], [3])]}, InvalidInputError, "node 1 is in both train and valid"),
        ({"splits": [([0, 1], [3], [3])]}, InvalidInputError, "node 3 is in both validation and"),
        ({"splits": [([0], [1], [34])]}, InvalidInputError, "test names node 34, but there are 34"),
        ({"splits": [([0], [-1], [3])]}, InvalidInputError, "validation holds the node -1"),
        ({"splits": [([0, 0], [1], [3])]}, InvalidInputError, "train holds node 0 more than once"),
        ({"splits": [([0], [], [3])]}, InvalidInputError, "validation must hold at least one node"),
        ({"splits": [([0.5], [1], [3])]}, InputTypeError, "train must be a list of node indices"),
        ({"splits": [(np.arange(34) < 9, [1], [3])]}, InputTypeError, "train is a mask"),
    ],
)  # fmt: skip
def test_data_that_no_network_can_learn_from(changes, error, message):
    with pytest.raises(error, match=message):
        own_problem(**changes)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.uint8, torch.bool])
def test_features_of_all_real_kinds_are_taken(dtype):
    table = (torch.arange(34 * 3).reshape(34, 3) % 7 < 3).to(torch.float32)
    expected = classify_nodes(own_problem(x=table), model="mlp", runs=1, epochs=2)
    result = classify_nodes(own_problem(x=table.to(dtype)), model="mlp", runs=1, epochs=2)
    assert result.accuracies == expected.accuracies
    smaller = own_problem(x=table, y=(torch.arange(34) % 2).to(torch.uint8))
    assert classify_nodes(smaller, model="mlp", runs=1, epochs=2).accuracies == result.accuracies


@pytest.mark.parametrize("split", [name for name in SPLITS if name != "public"])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_too_few_nodes_are_no_split(split, n):
    if n == 3 and split in ("20/20/60", "40/20/40"):
        make_split(split, np.zeros(n, int))
        return
    with pytest.raises(InvalidInputError, match=f"of {n} nodes leaves"):
        make_split(split, np.zeros(n, int))


def test_three_nodes_are_refused_before_anything_is_trained():
    graph = wm.graphs.path(3)
    problem = NodeProblem("three", graph, torch.eye(3), torch.tensor([0, 1, 0]))
    with pytest.raises(InvalidInputError, match="0 for tests"):
        classify_nodes(problem, model="mlp", runs=1, epochs=2)


def test_a_training_by_hand_is_checked_too(karate):
    candidate = make_node_model("mlp", karate)
    split = make_split("60/20/20", karate.y.numpy())
    wrong = [
        (karate.y.double(), split, InputTypeError, "tensor of integers"),
        (-karate.y, split, InvalidInputError, "counted from 0"),
        (karate.y[:9], split, InvalidInputError, "but there are 9"),
    ]
    for y, nodes, error, message in wrong:
        with pytest.raises(error, match=message):
            train_nodes(candidate.net, candidate.scores, y, nodes)
    with pytest.raises(InvalidInputError, match="loss on the training nodes is nan"):
        train_nodes(candidate.net, lambda: candidate.scores() * torch.nan, karate.y, split)
