"""Data of graph classification: features, folds, colours, duplicates, kernels."""

from __future__ import annotations

import gzip
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from small_graphs import random_graph, random_graphs  # noqa: E402
from wavemmf.experiments.graphs import (  # noqa: E402
    Fold,
    GraphProblem,
    inner_holdout,
    isomorphism_classes,
    load_graph_problem,
    make_folds,
)
from wavemmf.experiments.graphs._duplicates import isomorphic, seen_in_training  # noqa: E402
from wavemmf.experiments.graphs._folds import _indices  # noqa: E402
from wavemmf.experiments.graphs._kernel import DEPTHS, subtree_kernels, train_kernel  # noqa: E402
from wavemmf.experiments.graphs._numbering import relabelled  # noqa: E402
from wavemmf.experiments.graphs._problem import edge_label_counts  # noqa: E402
from wavemmf.experiments.graphs._wl import refined_colours  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


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
def test_molecules_have_the_published_counts(tu_problem, name, graphs, features):
    problem = tu_problem(name)
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
def test_fixed_folds_are_read_from_the_data_folder(tu_problem, name, kind):
    problem = tu_problem(name)
    folds = make_folds(problem.y, kind, dataset=name)
    assert len(folds) == 10
    for fold in folds:
        assert np.array_equal(np.union1d(fold.train, fold.test), np.arange(len(problem)))


@pytest.mark.parametrize("index", ["0_1", "\u0661", "x", "1.0"])
def test_fixed_folds_are_plain_integers(tmp_path, monkeypatch, index):
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    folder = tmp_path / "TUDataset" / "MINE" / "10fold_idx"
    folder.mkdir(parents=True)
    (folder / "train_idx-1.txt").write_text(f"0\n{index}\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not a list of integers"):
        _indices("TUDataset/MINE/10fold_idx/train_idx-1.txt", 5)
    (folder / "train_idx-1.txt").unlink()
    (folder / "train_idx-1.txt.gz").write_bytes(gzip.compress(b"0\n1\n"))
    assert _indices("TUDataset/MINE/10fold_idx/train_idx-1.txt", 5).tolist() == [0, 1]


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
    problem = GraphProblem("random", random_graphs(rng, 5, (4, 8)), [0, 1, 0, 1, 0])
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
