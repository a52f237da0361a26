"""Nodes of one's own: archives and tables, what is wrong with them, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wavemmf.datasets import read_graphs, read_nodes
from wavemmf.errors import FileFormatError, InvalidInputError


def arrays(n=24, splits=2):
    """Return a ring in the layout of the heterophilous-graphs benchmark."""
    rng = np.random.default_rng(0)
    here = np.arange(n)
    part = np.stack([rng.permutation(n) % 3 for _ in range(splits)])
    return {
        "node_features": rng.standard_normal((n, 3)).astype(np.float32),
        "node_labels": (here >= n // 2).astype(np.int64),
        "edges": np.stack([here, (here + 1) % n], axis=1),
        **{f"{name}_masks": part == i for i, name in enumerate(("train", "val", "test"))},
    }


@pytest.fixture
def archive(tmp_path):
    """Return a function that writes an archive with some of its arrays changed or left out."""

    def write(**changes):
        held = {**arrays(), **changes}
        np.savez(tmp_path / "own.npz", **{k: v for k, v in held.items() if v is not None})
        return tmp_path / "own.npz"

    return write


@pytest.fixture
def tables(tmp_path):
    """Return a function that writes a folder of tables."""

    def write(nodes, edges="source,target\na,b\nb,c\n"):
        (tmp_path / "nodes.csv").write_text(nodes)
        (tmp_path / "edges.csv").write_text(edges)
        return tmp_path

    return write


def test_an_archive_is_read(archive):
    data = read_nodes(archive())
    assert (data.graph.n, data.graph.num_edges, data.graph.name) == (24, 24, "own")
    np.testing.assert_array_equal(data.graph.features.toarray(), arrays()["node_features"])
    np.testing.assert_array_equal(data.graph.labels, arrays()["node_labels"])
    assert len(data.splits) == 2
    for i, split in enumerate(data.splits):
        for name, nodes in zip(("train", "val", "test"), split, strict=True):
            np.testing.assert_array_equal(nodes, np.flatnonzero(arrays()[f"{name}_masks"][i]))


def test_edges_in_both_directions_are_the_same_edges(archive):
    edges = arrays()["edges"]
    data = read_nodes(archive(edges=np.concatenate([edges, edges[:, ::-1]])))
    assert data.graph.num_edges == 24
    assert set(data.graph.adjacency.data) == {1.0}


def test_tables_are_read(tables):
    data = read_nodes(tables("id,x,label,y,split\na,1,low,4,train\nb,2,high,5,val\nc,3,low,6,\n"))
    assert data.graph.node_names == ("a", "b", "c")
    assert data.graph.class_names == ("high", "low")
    assert data.graph.labels.tolist() == [1, 0, 1]
    assert data.graph.features.toarray().tolist() == [[1, 4], [2, 5], [3, 6]]
    assert data.graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert [part.tolist() for part in data.splits[0]] == [[0], [1], []]


def test_tables_without_ids_count_rows(tables):
    data = read_nodes(tables("label,x\n0,1\n2,2\n", "source,target\n0,1\n"))
    assert data.graph.labels.tolist() == [0, 2]
    assert data.graph.num_edges == 1
    assert not data.splits


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"node_labels": None}, "has no node_labels"),
        ({"node_features": np.zeros(24)}, "node_features must be a table"),
        ({"node_labels": np.zeros(24)}, "node_labels must be one integer"),
        ({"edges": np.array([[0, 24]])}, "outside 0..23"),
        ({"edges": np.array([0, 1])}, "pairs of integers"),
        ({"val_masks": None}, "val_masks must be truth values"),
        ({"val_masks": np.zeros((1, 24), bool)}, "equally many splits"),
        ({"node_features": np.array([[object()]])}, "not an archive of arrays"),
    ],
)
def test_archives_that_do_not_fit_are_named(archive, changes, reason):
    with pytest.raises(FileFormatError, match=reason):
        read_nodes(archive(**changes))


@pytest.mark.parametrize(
    ("nodes", "edges", "reason"),
    [
        ("id,x\na,1\n", "source,target\na,a\n", "no column 'label'"),
        ("id,label\na,1\n", "from,to\na,a\n", "no column 'source'"),
        ("id,label\na,1\na,2\n", "source,target\na,a\n", "two nodes of the same id"),
        ("id,label\na,1\n", "source,target\na,z\n", "names the node 'z'"),
        ("id,label,x\na,1,tall\n", "source,target\na,a\n", "'x' is not a number"),
        ("id,label\na,1,2\n", "source,target\na,a\n", "3 fields in row 2, not 2"),
        ("id,label,split\na,1,all\n", "source,target\na,a\n", "got 'all'"),
        ("id,label\n", "source,target\na,a\n", "lines below"),
    ],
)
def test_tables_that_do_not_fit_are_named(tables, nodes, edges, reason):
    with pytest.raises(FileFormatError, match=reason):
        read_nodes(tables(nodes, edges))


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="no file or folder"):
        read_nodes(tmp_path / "none")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(FileFormatError, match=r"text\.npz"):
        read_nodes(tmp_path / "text.npz")


def test_the_command_takes_data_of_ones_own(run, archive):
    pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")
    told = run(
        "classify", "nodes", archive(), "--model", "wavelet-layers,gcn", "--runs", 2,
        "--epochs", 5, "--json",
    )  # fmt: skip
    ours, gcn = json.loads(told.stdout)["models"]
    assert 0.0 <= ours["roc_auc_mean"] <= 1.0
    assert (ours["split"], ours["seeds"]) == ("public", [0, 1])
    assert gcn["protocol"] == "splits that came with the data"
    table = run("classify", "nodes", archive(), "--model", "mlp,gcn", "--runs", 1, "--epochs", 2)
    assert "test ROC AUC" in table.stdout


def test_classes_that_are_no_pair_are_counted(run, archive):
    pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")
    path = archive(node_labels=np.arange(24) % 3, train_masks=None, val_masks=None, test_masks=None)
    told = run("classify", "nodes", path, "--model", "mlp", "--runs", 1, "--epochs", 2, "--json")
    result = json.loads(told.stdout)
    assert "roc_auc_mean" not in result
    assert result["split"] == "60/20/20"


@pytest.fixture
def own_graphs(tmp_path):
    """Write twelve triangles and twelve paths of three nodes as files of the TU collection."""
    edges, owner, classes = [], [], []
    for number in range(24):
        first = 3 * number + 1
        pairs = [(first, first + 1), (first + 1, first + 2)]
        pairs += [(first, first + 2)] * (number < 12)
        edges += [f"{a}, {b}" for pair in pairs for a, b in (pair, pair[::-1])]
        owner += [str(number + 1)] * 3
        classes.append(str(int(number < 12)))
    for part, lines in (("A", edges), ("graph_indicator", owner), ("graph_labels", classes)):
        (tmp_path / f"OWN_{part}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_graphs_of_ones_own_are_read(run, refused, own_graphs):
    data = read_graphs(own_graphs)
    assert (data.name, len(data.graphs)) == ("OWN", 24)
    assert [graph.num_edges for graph in data.graphs] == [3] * 12 + [2] * 12
    pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")
    command = ("classify", "graphs", own_graphs, "--model", "counts", "--runs", 1)
    told = run(*command, "--epochs", 2, "--folds", 3, "--members", 1, "--json")
    assert json.loads(told.stdout)["dataset"] == "OWN"
    refused(*command, "--split", "dgcnn", reason="it has fixed folds")
    refused(*command, "--edge-labels", reason="for data sets by name")


def test_graphs_that_are_not_there_are_named(own_graphs, tmp_path):
    with pytest.raises(InvalidInputError, match="it has 0"):
        read_graphs(tmp_path / "none")
    (own_graphs / "OWN_A.txt").unlink()
    with pytest.raises(InvalidInputError, match=r"has no OWN_A\.txt"):
        read_graphs(own_graphs)
