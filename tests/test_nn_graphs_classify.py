"""Graph classification: folds, duplicates, kernels, training, protocols, resumption, commands."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import wavemmf as wm
from test_cli import failed, run
from wavemmf.errors import FileFormatError, InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from test_nn_graphs_batches import random_graph, small_problem  # noqa: E402
from wavemmf.graphs.graph import graph_from_edges  # noqa: E402
from wavemmf.nn import (  # noqa: E402
    GRAPH_DATASETS,
    GRAPH_MODELS,
    Fold,
    GraphProblem,
    classify_graphs,
    inner_holdout,
    isomorphism_classes,
    load_graph_problem,
    make_folds,
    paired_graph_difference,
)
from wavemmf.nn.graphs.duplicates import isomorphic, seen_in_training  # noqa: E402
from wavemmf.nn.graphs.kernel import DEPTHS, subtree_kernels, train_kernel  # noqa: E402
from wavemmf.nn.graphs.models import make_graph_model  # noqa: E402
from wavemmf.nn.graphs.numbering import relabelled  # noqa: E402
from wavemmf.nn.graphs.problem import edge_label_counts  # noqa: E402
from wavemmf.nn.graphs.protocol import FoldOutcome, GraphClassification  # noqa: E402
from wavemmf.nn.graphs.settings import GRAPH_PRESETS, GraphTraining, preset_for  # noqa: E402
from wavemmf.nn.graphs.train import train_graphs  # noqa: E402
from wavemmf.nn.graphs.wl import refined_colours  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def star(n):
    return graph_from_edges(n, np.zeros(n - 1, int), np.arange(1, n))


@pytest.fixture(scope="module")
def rings():
    """Return rings and stars: neighbours tell them apart, numbers of nodes do not."""
    graphs = [wm.graphs.cycle(n) for n in range(6, 21)] + [star(n) for n in range(6, 21)]
    return GraphProblem("rings", graphs, [1] * 15 + [2] * 15)


def tu_problem(data_dir, name):
    if not (data_dir / "TUDataset" / name).is_dir():
        pytest.skip(f"{data_dir} has no folder TUDataset/{name}")
    return load_graph_problem(name)


# -- data ---------------------------------------------------------------------------------------


def test_features_are_labels_and_attributes(rng):
    graphs = [
        wm.graphs.Graph(
            wm.graphs.path(3).adjacency, labels=[4, 7, 4], features=rng.normal(size=(3, 2))
        )
        for _ in range(2)
    ]
    plain = GraphProblem("plain", graphs, [5, 3])
    assert plain.features[0].tolist() == [[1, 0], [0, 1], [1, 0]]
    assert plain.y.tolist() == [1, 0]
    both = np.concatenate(GraphProblem("more", graphs, [5, 3], attributes=True).features)
    np.testing.assert_allclose(both[:, 2:].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(both[:, 2:].std(axis=0), 1, atol=1e-6)
    assert GraphProblem("bare", [wm.graphs.path(3)], [0]).features[0].tolist() == [[1]] * 3


def test_problems_that_contradict_themselves_are_refused(rng):
    graph = random_graph(rng, 5)
    with pytest.raises(InvalidInputError, match="one integer for each of 1 graphs"):
        GraphProblem("wrong", [graph], [0, 1])
    with pytest.raises(InvalidInputError, match="graph 1 has no node labels"):
        GraphProblem("wrong", [graph, wm.graphs.path(3)], [0, 1])
    with pytest.raises(InvalidInputError, match="no attributes"):
        GraphProblem("wrong", [graph], [0], attributes=True)
    with pytest.raises(InvalidInputError, match="dataset must be one of"):
        load_graph_problem("mutag")


@pytest.mark.parametrize(
    ("name", "graphs", "features"), [("MUTAG", 188, 7), ("PTC", 344, 19), ("PTC_MR", 344, 18)]
)
def test_molecules_have_the_published_counts(data_dir, name, graphs, features):
    problem = tu_problem(data_dir, name)
    assert (len(problem), problem.num_features, problem.num_classes) == (graphs, features, 2)


# -- folds --------------------------------------------------------------------------------------


def test_folds_partition_the_graphs_and_keep_the_share_of_classes(rng):
    y = rng.choice(2, size=103, p=[0.7, 0.3])
    folds, same, other = (make_folds(y, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(103))
    for fold, again in zip(folds, same, strict=True):
        assert np.array_equal(np.union1d(fold.train, fold.test), np.arange(103))
        assert not np.intersect1d(fold.train, fold.test).size
        assert np.array_equal(fold.test, again.test)
        assert abs(y[fold.test].sum() - y.sum() / 10) < 1
        assert fold.test.size in (10, 11)
    assert not np.array_equal(folds[0].test, other[0].test)


def test_the_holdout_comes_from_the_training_graphs_only(rng):
    y = rng.choice(3, size=200)
    fold = make_folds(y)[3]
    inner = inner_holdout(fold, y, seed=5)
    assert np.array_equal(np.union1d(inner.train, inner.validation), fold.train)
    assert not np.intersect1d(inner.train, inner.validation).size
    assert np.array_equal(inner.test, fold.test)
    assert inner.validation.size == 18
    assert np.array_equal(inner.validation, inner_holdout(fold, y, seed=5).validation)


def test_the_ten_holdouts_of_a_fold_are_its_training_graphs(rng):
    y = rng.choice(2, size=103)
    fold = make_folds(y)[0]
    held = [inner_holdout(fold, y, 5, part).validation for part in range(10)]
    assert np.array_equal(np.sort(np.concatenate(held)), fold.train)
    with pytest.raises(InvalidInputError, match="part must be"):
        inner_holdout(fold, y, 5, 10)
    with pytest.raises(InvalidInputError, match="3 training graphs are too few"):
        inner_holdout(Fold(np.arange(3), np.array([3])), y, 5, 4)


@pytest.mark.parametrize("name", ["MUTAG", "PTC", "PTC_MR"])
@pytest.mark.parametrize("kind", ["dgcnn", "paper"])
def test_fixed_folds_are_read_from_the_data_folder(data_dir, name, kind):
    problem = tu_problem(data_dir, name)
    folds = make_folds(problem.y, kind, dataset=name)
    assert len(folds) == 10
    for fold in folds:
        assert np.array_equal(np.union1d(fold.train, fold.test), np.arange(len(problem)))


def test_fixed_folds_that_overlap_or_lie_outside_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    folder = tmp_path / "TUDataset" / "MINE" / "10fold_idx"
    folder.mkdir(parents=True)
    (folder / "train_idx-1.txt").write_text("0\n1\n")
    (folder / "test_idx-1.txt").write_text("1\n2\n")
    with pytest.raises(FileFormatError, match="tests on graphs it trains on"):
        make_folds([0, 0, 1], "dgcnn", count=1, dataset="MINE")
    (folder / "test_idx-1.txt").write_text("7\n")
    with pytest.raises(FileFormatError, match="between 0 and 2"):
        make_folds([0, 0, 1], "dgcnn", count=1, dataset="MINE")
    with pytest.raises(InvalidInputError, match="missing"):
        make_folds([0, 0, 1], "paper", count=1, dataset="MINE")


# -- colours, duplicates, kernels ---------------------------------------------------------------


def refined_slowly(graphs, labels, rounds):
    """Return colours by dictionaries, the definition itself."""
    colours = [list(map(int, each)) for each in labels]
    for _ in range(rounds):
        colours = [
            [
                (own[i], tuple(sorted(map(str, (own[j] for j in graph.adjacency[[i]].indices)))))
                for i in range(graph.n)
            ]
            for graph, own in zip(graphs, colours, strict=True)
        ]
    return [str(colour) for own in colours for colour in own]


def test_refined_colours_are_those_of_the_definition(rng):
    graphs = [random_graph(rng, 9, labels=2) for _ in range(6)]
    labels = [graph.labels for graph in graphs]
    for rounds in (0, 1, 2, 3):
        found = refined_colours(graphs, labels, 3)[rounds]
        wanted = np.array(refined_slowly(graphs, labels, rounds))
        same = found[:, None] == found[None, :]
        assert np.array_equal(same, wanted[:, None] == wanted[None, :])


def as_networkx(graph):
    made = nx.from_scipy_sparse_array(graph.adjacency)
    nx.set_node_attributes(made, dict(enumerate(graph.labels.tolist())), "label")
    return made


def test_isomorphism_is_that_of_networkx(rng):
    graphs = [random_graph(rng, int(rng.integers(3, 7)), labels=2) for _ in range(25)]
    graphs += [relabelled(graph, rng.permutation(graph.n)) for graph in graphs[:10]]
    classes = isomorphism_classes(graphs, [graph.labels for graph in graphs])
    for i, a in enumerate(graphs):
        for j, b in enumerate(graphs[:i]):
            wanted = nx.is_isomorphic(
                as_networkx(a), as_networkx(b), lambda one, other: one["label"] == other["label"]
            )
            assert (classes[i] == classes[j]) == wanted


def test_regular_graphs_that_colours_cannot_tell_apart_are_told_apart():
    ring = wm.graphs.cycle(6)
    two = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    triangles = wm.graphs.Graph(nx.to_scipy_sparse_array(two))
    none = np.zeros(6, np.int64)
    assert isomorphic(ring, triangles, none, none) is False
    assert isomorphism_classes([ring, triangles, ring], [none] * 3).tolist() == [0, 1, 0]
    assert isomorphic(ring, triangles, none, none, effort=1) is None
    assert isomorphic(ring, wm.graphs.cycle(7), none, np.zeros(7, np.int64)) is False


def test_a_larger_symmetric_graph_is_recognised_quickly(rng):
    grid = wm.graphs.grid(12, 12)
    order = rng.permutation(grid.n)
    none = np.zeros(grid.n, np.int64)
    assert isomorphic(grid, relabelled(grid, order), none, none) is True


def test_test_graphs_known_from_training_are_found():
    classes = np.array([0, 1, 0, 2, 1])
    found = seen_in_training(classes, np.array([0, 1]), np.array([2, 3, 4]))
    assert found.tolist() == [True, False, True]


def test_the_subtree_kernel_counts_pairs_of_equal_colours(rng):
    problem = small_problem(rng, 5, (4, 8))
    labels = problem.node_labels
    total = np.zeros((5, 5))
    sizes = np.cumsum([graph.n for graph in problem.graphs])[:-1]
    for rounds in range(max(DEPTHS) + 1):
        colours = np.split(np.array(refined_slowly(problem.graphs, labels, rounds)), sizes)
        total += [[(a[:, None] == b[None, :]).sum() for b in colours] for a in colours]
    scale = np.sqrt(np.diagonal(total))
    np.testing.assert_allclose(subtree_kernels(problem)[-1], total / np.outer(scale, scale))


def test_the_kernel_is_chosen_by_validation_graphs_or_left_to_the_protocol(rings):
    pytest.importorskip("sklearn")
    kernels = subtree_kernels(rings)
    fold = make_folds(rings.y, count=5)[0]
    every = train_kernel(rings, fold, kernels)
    chosen = train_kernel(rings, inner_holdout(fold, rings.y), kernels)
    assert not every.chosen
    assert len(every.predictions) == 20
    assert len(chosen.predictions) == 1
    (curve,), (best,) = chosen.validation, chosen.chosen
    assert curve[best] == max(curve)
    assert (chosen.predictions[0] == rings.y[fold.test]).mean() == 1.0


# -- training and protocols ---------------------------------------------------------------------


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_every_model_runs_and_repeats(rings, name):
    if name == "wl":
        pytest.importorskip("sklearn")
    model = make_graph_model(name, epochs=2, members=1)
    prepared = model.prepare(rings)
    fold = inner_holdout(make_folds(rings.y, count=3)[0], rings.y)
    one, two = (model.run(rings, prepared, [fold], seed=7) for _ in range(2))
    assert one.predictions[0].shape == fold.test.shape
    assert one.validation == two.validation
    assert np.array_equal(one.predictions[0], two.predictions[0])
    assert json.dumps(model.facts)
    if name == "wl":
        with pytest.raises(InvalidInputError, match="no network"):
            model.make_net(rings)


@pytest.mark.parametrize("name", ["filterless", "hops"])
def test_ablations_have_no_wavelets_in_their_pooling(name):
    assert "band" in make_graph_model("wavelet", "PROTEINS").preset.net.pooling
    model = make_graph_model(name, "PROTEINS")
    assert model.preset.net.pooling == ("log",)
    assert model.basis is None


def test_members_of_a_committee_are_networks_of_their_own(rings):
    alone, together = (make_graph_model("wavelet", epochs=2, members=m) for m in (1, 3))
    outer = make_folds(rings.y, count=3)[0]
    folds = [inner_holdout(outer, rings.y, 0, part) for part in range(3)]
    prepared = together.prepare(rings)
    first = alone.run(rings, alone.prepare(rings), folds[:1], 7)
    seen = []
    all_three = together.run(rings, prepared, folds, 7, lambda *told: seen.append(told[:2]))
    others = [together._train(rings, prepared[m], folds[m], 7 + m * 10**6) for m in (1, 2)]
    assert all_three.validation == [c for t in (first, *others) for c in t.validation]
    np.testing.assert_allclose(
        all_three.probabilities[0],
        np.mean([t.probabilities[0] for t in (first, *others)], axis=0),
    )
    assert seen == [(done, 6) for done in range(1, 7)]
    values = [packed.batch(range(10)).wavelet_value for packed in prepared]
    assert not torch.equal(values[0], values[1])  # ties fall otherwise with every numbering


def test_a_committee_works_under_both_protocols(rings):
    for protocol, counts in (("honest", 1), ("xu", 2)):
        result = classify_graphs(
            rings, "counts", protocol, num_folds=2, seeds=1, epochs=2, members=2
        )
        folds = result.outcomes[0]
        assert all(len(fold.test_correct) == counts for fold in folds)
        assert all(len(fold.chosen) == (2 if protocol == "honest" else 0) for fold in folds)
        assert result.facts["training"]["members"] == 2


def test_wavelets_learn_what_nodes_alone_cannot_know(rings):
    learnt = classify_graphs(rings, "wavelet", num_folds=3, seeds=1, epochs=40)
    alone = classify_graphs(rings, "filterless", num_folds=3, seeds=1, epochs=40)
    mean, error = paired_graph_difference(learnt, alone)
    assert mean == pytest.approx(learnt.accuracy_mean - alone.accuracy_mean)
    assert mean > error >= 0
    assert learnt.accuracy_mean > 0.8


def test_the_network_is_left_with_the_weights_of_the_chosen_epoch(rings):
    model = make_graph_model("gin", epochs=8, members=1)
    (data,) = model.prepare(rings)
    fold = inner_holdout(make_folds(rings.y, count=3)[0], rings.y)
    torch.manual_seed(0)
    net = model.make_net(rings)
    trial = train_graphs(net, data, fold, GraphTraining(epochs=8))
    assert [len(curve) for curve in trial.validation] == [8]
    again = net(data.batch(fold.test)).argmax(1).numpy()
    assert np.array_equal(again, trial.predictions[0])


@pytest.mark.parametrize("averaging", [0.0, 3.0])
def test_what_is_judged_is_the_running_mean_of_the_weights(rings, averaging):
    model = make_graph_model("counts", members=1)
    (data,), fold = model.prepare(rings), make_folds(rings.y, count=3)[0]
    settings = GraphTraining(epochs=4, batch_size=64, averaging=averaging)
    torch.manual_seed(0)
    net = model.make_net(rings)
    steps = []
    train_graphs(
        net, data, fold, settings, progress=lambda *_: steps.append(copy.deepcopy(net.state_dict()))
    )
    # One batch is an epoch here, so the weights of every step are known from the reports.
    share = 1.0 / max(1.0, averaging)
    followed = steps[0]
    for state in steps[1:]:
        followed = {
            name: (1 - share) * followed[name] + share * value
            if value.is_floating_point()
            else value
            for name, value in state.items()
        }
    found = net.state_dict()
    assert len(steps) == 4
    for name in ("first.weight", "classifier.bias", "norm.running_mean"):
        assert torch.allclose(found[name], followed[name], atol=1e-6)


def test_without_validation_graphs_every_epoch_is_predicted(rings):
    model = make_graph_model("counts", epochs=4, members=1)
    trial = model.run(rings, model.prepare(rings), make_folds(rings.y, count=3)[:1], 0)
    assert len(trial.predictions) == 4
    assert not trial.chosen
    assert not trial.validation


def outcome(correct, size=10, distinct=0, right=None):
    return FoldOutcome(size, distinct, correct, right or [0] * len(correct), [], [], 1.0)


def test_xu_takes_one_epoch_for_all_folds_never_the_best_of_each():
    folds = (outcome([5, 9, 6]), outcome([9, 5, 6]), outcome([1, 2, 6]))
    result = GraphClassification("d", "m", "xu", "stratified", (0,), (folds,), {})
    assert result.epochs == [2]
    assert result.accuracies.tolist() == [[0.6, 0.6, 0.6]]
    assert result.accuracy_std == pytest.approx(0.0)
    assert result.to_json()["epochs_chosen"] == [2]


def test_accuracy_without_duplicates_leaves_empty_folds_out():
    folds = (outcome([8], 10, 4, [3]), outcome([9], 10, 0, [0]))
    result = GraphClassification("d", "m", "honest", "stratified", (0,), (folds,), {})
    told = result.to_json()
    assert told["without_duplicates_mean"] == pytest.approx(0.75)
    assert told["duplicates_share"] == pytest.approx(0.8)
    assert told["accuracy_mean"] == pytest.approx(0.85)
    assert told["runs"] == 2


def test_differences_of_other_folds_are_refused():
    folds = ((outcome([5]), outcome([5])),)
    a = GraphClassification("d", "a", "xu", "stratified", (0,), folds, {})
    b = GraphClassification("d", "b", "honest", "stratified", (0,), folds, {})
    with pytest.raises(InvalidInputError, match="same protocol"):
        paired_graph_difference(a, b)


def test_results_on_disk_are_taken_up_and_those_of_other_settings_are_not(rings, tmp_path):
    seen = []

    def report(done, total, note=""):
        seen.append((done, total))

    settings = {"model": "counts", "num_folds": 3, "seeds": 2, "folder": tmp_path}
    first = classify_graphs(rings, epochs=2, **settings)
    assert len(list(tmp_path.glob("*.json"))) == 6
    again = classify_graphs(rings, epochs=2, progress=report, **settings)
    assert seen == [(6, 6)]  # nothing was trained
    assert again.to_json() == first.to_json()
    seen.clear()
    classify_graphs(rings, epochs=3, progress=report, **settings)
    assert seen[0] == (0, 6)
    assert seen[-1] == (6, 6)


def test_processes_give_the_same_result(rings):
    settings = {"model": "wavelet", "num_folds": 2, "seeds": 1, "epochs": 2}
    alone = classify_graphs(rings, **settings)
    together = classify_graphs(rings, jobs=2, **settings)
    assert np.array_equal(alone.accuracies, together.accuracies)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "mlp"}, "model must be one of"),
        ({"protocol": "best"}, "protocol must be one of"),
        ({"folds": "random"}, "folds must be one of"),
        ({"num_folds": 1}, "number of folds"),
        ({"seeds": 0}, "seeds"),
        ({"jobs": 0}, "jobs"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_bad_requests_are_refused_before_any_training(rings, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        classify_graphs(rings, **settings)


def test_presets_know_the_data_sets_and_leave_the_paper_alone():
    for name in (*GRAPH_DATASETS, "another"):
        assert preset_for("paper", name) == GRAPH_PRESETS["paper"]
        assert preset_for("best", name).net.filter == "spectral"
        assert preset_for("best", name).net.hop


# -- commands -----------------------------------------------------------------------------------


def test_the_command_prints_one_object(data_dir, tmp_path):
    tu_problem(data_dir, "MUTAG")
    command = ["classify", "graphs", "--dataset", "MUTAG", "--model", "counts", "--json"]
    options = ["--folds", "3", "--seeds", "1", "--epochs", "2", "--results", str(tmp_path)]
    told = json.loads(run(*command, *options).stdout)
    assert {"accuracy_mean", "accuracy_std", "runs", "protocol"} <= set(told)
    assert told["protocol"] == "honest"
    assert told["runs"] == 3
    assert 0 < told["duplicates_share"] < 1


def test_the_command_compares_models(data_dir):
    tu_problem(data_dir, "MUTAG")
    command = ["classify", "graphs", "--model", "counts,gcn", "--protocol", "xu"]
    text = run(*command, "--folds", "2", "--seeds", "1", "--epochs", "2").stdout
    assert "counts is better by" in text
    assert "without duplicates" in text


def test_the_command_refuses_unknown_names():
    failed(run("classify", "graphs", "--model", "mlp"), "model must be one of")
    failed(run("classify", "graphs", "--protocol", "best"), "protocol must be one of")
    failed(run("classify", "graphs", "--model", "gin,gin"), "each once")
    failed(run("classify", "graphs", "--jobs", "0"), "--jobs")


def test_table_2_runs_all_cells_and_writes_them(data_dir, tmp_path):
    from wavemmf.cli.table2 import PUBLISHED, run_table2, table2

    tu_problem(data_dir, "MUTAG")
    seen = []
    done = run_table2(
        ["MUTAG"], ["counts"], num_folds=2, seeds=1, epochs=1, results=tmp_path,
        progress=lambda *status: seen.append(status[:2]),
    )  # fmt: skip
    assert [result.protocol for result in done] == ["honest", "xu"]
    assert seen[-1] == (4, 4)
    csv = tmp_path / "table.csv"
    table2("MUTAG", "counts", "honest,xu", folds=2, seeds=1, epochs=1, results=tmp_path, output=csv)
    lines = csv.read_text().splitlines()
    assert lines[0].startswith("dataset,model,protocol")
    assert len(lines) == 3
    assert PUBLISHED["NCI1"]["paper"] == 71.04
    with pytest.raises(InvalidInputError, match="dataset must be one of"):
        run_table2(["KARATE"])


@pytest.mark.parametrize(
    ("train", "test", "validation", "message"),
    [
        ([0, 1], [1, 2], None, "graph 1 is in both train and test"),
        ([0, 1], [2], [1], "graph 1 is in both train and validation"),
        ([0, 1], [2], [2], "graph 2 is in both test and validation"),
        ([0, 1], [], None, "test must hold at least one graph"),
        ([], [1], None, "train must hold at least one graph"),
        ([0], [1], [], "validation must hold at least one graph"),
    ],
)
def test_folds_are_disjoint_and_not_empty(train, test, validation, message):
    with pytest.raises(InvalidInputError, match=message):
        Fold(np.array(train), np.array(test), None if validation is None else np.array(validation))


def test_folds_of_other_graphs_are_refused(rings):
    model = make_graph_model("gin", epochs=1)
    fold = Fold(np.arange(29), np.array([30]))
    with pytest.raises(InvalidInputError, match="test names graph 30, but there are 30"):
        train_graphs(model.make_net(rings), rings.data(), fold, model.preset.training)


def test_tables_of_nodes_that_are_none(rings):
    graphs, classes = rings.graphs[:2], [0, 1]
    counts = [np.ones((graph.n, 2), np.float32) for graph in graphs]
    bad = [
        (counts[:1], "a table for each of 2 graphs, got 1"),
        ([counts[0], counts[1][:-1]], "edge_counts of graph 1 must have shape"),
        ([counts[0], counts[1][:, :1]], "edge_counts of graph 1 must have shape"),
        ([counts[0], counts[1] * np.nan], "edge_counts of graph 1 must be finite"),
    ]
    for tables, message in bad:
        with pytest.raises(InvalidInputError, match=message):
            GraphProblem("p", graphs, classes, edge_counts=tables)
    with pytest.raises(InvalidInputError, match="at least one graph"):
        GraphProblem("p", [], np.zeros(0, int))
    wide = [replace(g, features=np.ones((g.n, 1 + i))) for i, g in enumerate(graphs)]
    with pytest.raises(InvalidInputError, match="attributes of graph 1 must have shape"):
        GraphProblem("p", wide, classes, attributes=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [("0\nx\n", "not a table"), ("0\n1_0\n", "line 2"), ("0\n", "1 edge labels")],
)
def test_broken_edge_labels(tmp_path, monkeypatch, labels, message):
    folder = tmp_path / "TUDataset" / "MUTAG" / "raw"
    folder.mkdir(parents=True)
    files = {"A": "1, 2\n2, 1\n", "edge_labels": labels}
    for name, text in files.items():
        (folder / f"MUTAG_{name}.txt").write_text(text)
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "1")
    with pytest.raises(FileFormatError, match=message):
        edge_label_counts("MUTAG", [2])
    (folder / "MUTAG_edge_labels.txt").write_text("0\n1\n")
    assert edge_label_counts("MUTAG", [2])[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(FileFormatError, match=r"outside 1\.\.1"):
        edge_label_counts("MUTAG", [1])
