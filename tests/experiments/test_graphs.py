"""Graph classification: models, training, protocols, resumption, commands."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from wavemmf.errors import InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from wavemmf.experiments.graph_table import PUBLISHED_GRAPHS, run_graph_table  # noqa: E402
from wavemmf.experiments.graphs import (  # noqa: E402
    GRAPH_DATASETS,
    GRAPH_MODELS,
    GRAPH_RECIPES,
    Fold,
    FoldOutcome,
    GraphClassification,
    GraphTraining,
    classify_graphs,
    inner_holdout,
    make_folds,
    recipe_for,
    train_graphs,
)
from wavemmf.experiments.graphs._models import make_graph_model  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


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
    assert "band" in make_graph_model("wavelet", "PROTEINS").recipe.net.pooling
    model = make_graph_model(name, "PROTEINS")
    assert model.recipe.net.pooling == ("log",)
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
        result = classify_graphs(rings, "counts", protocol, folds=2, runs=1, epochs=2, members=2)
        folds = result.outcomes[0]
        assert all(len(fold.test_correct) == counts for fold in folds)
        assert all(len(fold.chosen) == (2 if protocol == "honest" else 0) for fold in folds)
        assert result.facts["training"]["members"] == 2


def test_wavelets_learn_what_nodes_alone_cannot_know(rings):
    learnt = classify_graphs(rings, "wavelet", folds=3, runs=1, epochs=40)
    alone = classify_graphs(rings, "filterless", folds=3, runs=1, epochs=40)
    mean, error = learnt.better_by(alone)
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
    # The mean is over fewer steps at first, so that what it starts with is soon forgotten.
    followed = steps[0]
    for count, state in enumerate(steps[1:], 1):
        share = max(1.0 / averaging, 9.0 / (10.0 + count)) if averaging else 1.0
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


def test_xu_takes_one_epoch_for_all_foldsnever_the_best_of_each():
    folds = (outcome([5, 9, 6]), outcome([9, 5, 6]), outcome([1, 2, 6]))
    result = GraphClassification("d", "m", "xu", "stratified", (0,), (folds,), {})
    assert result.epochs == [2]
    assert result.accuracies.tolist() == [[0.6, 0.6, 0.6]]
    assert result.accuracy_std == pytest.approx(0.0)
    assert result.to_json()["epochs_chosen"] == [2]


def test_accuracy_without_duplicates_leaves_empty_foldsout():
    folds = (outcome([8], 10, 4, [3]), outcome([9], 10, 0, [0]))
    result = GraphClassification("d", "m", "honest", "stratified", (0,), (folds,), {})
    told = result.to_json()
    assert told["without_duplicates_mean"] == pytest.approx(0.75)
    assert told["duplicates_share"] == pytest.approx(0.8)
    assert told["accuracy_mean"] == pytest.approx(0.85)
    assert told["runs"] == 2


def test_differences_of_other_foldsare_refused():
    folds = ((outcome([5]), outcome([5])),)
    a = GraphClassification("d", "a", "xu", "stratified", (0,), folds, {})
    b = GraphClassification("d", "b", "honest", "stratified", (0,), folds, {})
    with pytest.raises(InvalidInputError, match="same protocol"):
        a.better_by(b)


def test_results_on_disk_are_taken_up_and_those_of_other_settings_are_not(rings, tmp_path):
    seen = []

    def progress(done, total, note=""):
        seen.append((done, total))

    settings = {"model": "counts", "folds": 3, "runs": 2, "results": tmp_path}
    first = classify_graphs(rings, epochs=2, **settings)
    assert len(list(tmp_path.glob("*.json"))) == 6
    again = classify_graphs(rings, epochs=2, progress=progress, **settings)
    assert seen == [(6, 6)]  # nothing was trained
    assert again.to_json() == first.to_json()
    seen.clear()
    classify_graphs(rings, epochs=3, progress=progress, **settings)
    assert seen[0] == (0, 6)
    assert seen[-1] == (6, 6)


def test_processes_give_the_same_result(rings):
    settings = {"model": "wavelet", "folds": 2, "runs": 1, "epochs": 2}
    alone = classify_graphs(rings, **settings)
    together = classify_graphs(rings, jobs=2, **settings)
    assert np.array_equal(alone.accuracies, together.accuracies)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "mlp"}, "model must be one of"),
        ({"protocol": "best"}, "protocol must be one of"),
        ({"split": "random"}, "split must be one of"),
        ({"folds": 1}, "number of folds"),
        ({"runs": 0}, "runs"),
        ({"jobs": 0}, "jobs"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_bad_requests_are_refused_before_any_training(rings, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        classify_graphs(rings, **settings)


def test_recipes_know_the_data_sets_and_leave_the_paper_alone():
    for name in (*GRAPH_DATASETS, "another"):
        assert recipe_for("paper", name) == GRAPH_RECIPES["paper"]
        assert recipe_for("wavemmf", name).net.filter == "spectral"
        assert recipe_for("wavemmf", name).net.hop


def test_the_recipe_of_the_paper_is_the_papers():
    paper = GRAPH_RECIPES["paper"]
    assert (paper.net.layers, paper.net.hidden, paper.basis["k"]) == (6, 32, 2)
    assert (paper.training.learning_rate, paper.training.epochs) == (1e-3, 256)
    assert paper.net.convolutions
    assert paper.basis["optimize"] is not None


def test_training_settings_out_of_range_are_refused():
    with pytest.raises(InvalidInputError, match="schedule"):
        GraphTraining(schedule="step")
    with pytest.raises(InvalidInputError, match="weight_decay"):
        GraphTraining(weight_decay=-1.0)


# -- commands -----------------------------------------------------------------------------------


def test_the_command_prints_one_object(run, tu_problem, tmp_path):
    tu_problem("MUTAG")
    command = ["classify", "graphs", "--dataset", "MUTAG", "--model", "counts", "--json"]
    options = ["--folds", "3", "--runs", "1", "--epochs", "2", "--results", str(tmp_path)]
    told = json.loads(run(*command, *options).stdout)
    assert {"accuracy_mean", "accuracy_std", "runs", "protocol"} <= set(told)
    assert told["protocol"] == "honest"
    assert told["runs"] == 3
    assert 0 < told["duplicates_share"] < 1


def test_the_command_compares_models(run, tu_problem):
    tu_problem("MUTAG")
    command = ["classify", "graphs", "--model", "counts,gcn", "--protocol", "xu"]
    text = run(*command, "--folds", "2", "--runs", "1", "--epochs", "2").stdout
    assert "counts is better by" in text
    assert "without duplicates" in text


def test_the_command_refuses_unknown_names(refused):
    refused("classify", "graphs", "--model", "mlp", reason="model must be one of")
    refused("classify", "graphs", "--protocol", "best", reason="protocol must be one of")
    refused("classify", "graphs", "--model", "gin,gin", reason="each once")
    refused("classify", "graphs", "--jobs", "0", reason="--jobs")


def test_table_2_runs_all_cells_and_writes_them(tu_problem, tmp_path):
    from wavemmf.cli.table2 import table2

    tu_problem("MUTAG")
    seen = []
    done = run_graph_table(
        ["MUTAG"], ["counts"], folds=2, runs=1, epochs=1, results=tmp_path,
        progress=lambda *status: seen.append(status[:2]),
    )  # fmt: skip
    assert [result.protocol for result in done] == ["honest", "xu"]
    assert seen[-1] == (4, 4)
    csv = tmp_path / "table.csv"
    table2("MUTAG", "counts", "honest,xu", folds=2, runs=1, epochs=1, results=tmp_path, output=csv)
    lines = csv.read_text().splitlines()
    assert lines[0].startswith("dataset,model,protocol")
    assert len(lines) == 3
    assert PUBLISHED_GRAPHS["NCI1"]["paper"] == 71.04
    assert "paper" not in PUBLISHED_GRAPHS["DD"], "which the paper does not name"
    with pytest.raises(InvalidInputError, match="dataset must be one of"):
        run_graph_table(["KARATE"])


def test_foldsof_other_graphs_are_refused(rings):
    model = make_graph_model("gin", epochs=1)
    fold = Fold(np.arange(29), np.array([30]))
    with pytest.raises(InvalidInputError, match="test names graph 30, but there are 30"):
        train_graphs(model.make_net(rings), rings.data(), fold, model.recipe.training)
