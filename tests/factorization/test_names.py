"""Names of nodes: kept by factorizations, and used to put pandas signals in order."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidFactorizationError, InvalidInputError
from wavemmf.factorization._archive import read_archive, write_archive
from wavemmf.graphs._names import names_of

NAMES = tuple(f"node {chr(97 + i)}" for i in range(12))
GRAPH = wm.graphs.Graph(wm.graphs.cycle(12).adjacency, node_names=NAMES)


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.factorize(GRAPH, core=3, k=2)


@pytest.fixture
def shuffled(rng) -> pd.Series:
    values = pd.Series(rng.normal(size=12), index=NAMES, name="load")
    return values.iloc[rng.permutation(12)]


def test_names_come_from_graphs_of_every_kind(tmp_path):
    assert wm.factorize(GRAPH, core=3, k=2).node_names == NAMES
    assert wm.wavelets(GRAPH).node_names == NAMES
    assert wm.wavelets(nx.Graph([("b", "a"), ("a", "c")])).node_names == ("b", "a", "c")
    frame = pd.DataFrame(GRAPH.adjacency.toarray(), NAMES, NAMES)
    assert wm.factorize(frame, core=3, k=2, matrix="laplacian").node_names == NAMES
    edges = tmp_path / "roads.edges"
    edges.write_text("rome paris\nparis berlin\n")
    assert wm.factorize(edges, core=1, k=2).node_names == ("rome", "paris", "berlin")
    many = wm.factorize_many([GRAPH, edges, wm.graphs.cycle(5)], core=1, k=2)
    assert [g.node_names for g in many] == [NAMES, ("rome", "paris", "berlin"), None]


def test_numbers_are_no_names():
    assert names_of(nx.path_graph(4)) is None
    assert names_of(np.eye(3)) is None
    assert names_of(pd.DataFrame(np.eye(3))) is None
    assert names_of(nx.Graph([(1, 0)])) == ("1", "0")


def test_names_of_igraph():
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    graph = igraph.Graph(3, [(0, 1), (1, 2)])
    assert names_of(graph) is None
    graph.vs["name"] = ["x", "y", "z"]
    assert names_of(graph) == ("x", "y", "z")


def test_a_frame_with_columns_in_another_order_is_refused():
    frame = pd.DataFrame(np.eye(3), list("abc"), list("acb"))
    with pytest.raises(InvalidInputError, match="different orders"):
        wm.factorize(frame, core=1, k=2)


def test_names_stay_with_what_is_made_of_a_factorization(f, tmp_path):
    assert f.shifted(1.0).node_names == NAMES
    assert f.apply(np.exp).node_names == NAMES
    assert wm.refine(f, GRAPH, steps=2).node_names == NAMES
    assert wm.graphs.weights_from_lengths(GRAPH).node_names == NAMES
    f.save(tmp_path / "f.mmf")
    assert wm.load(tmp_path / "f.mmf").node_names == NAMES
    wm.factorize(GRAPH.adjacency, core=3, k=2).save(tmp_path / "g.mmf")
    assert wm.load(tmp_path / "g.mmf").node_names is None


@pytest.mark.parametrize("names", [["a"], "abc", [1] * 12, {"a": 1}])
def test_damaged_names_in_a_file(f, tmp_path, names):
    f.save(tmp_path / "f.mmf")
    header, arrays = read_archive(tmp_path / "f.mmf", "wavemmf-factorization", 3)
    header["node_names"] = names
    with open(tmp_path / "damaged.mmf", "wb") as stream:
        write_archive(stream, "wavemmf-factorization", 3, header, arrays)
    with pytest.raises(FileFormatError, match="node_names must"):
        wm.load(tmp_path / "damaged.mmf")


def test_names_that_do_not_fit(f):
    with pytest.raises(InvalidFactorizationError, match="must name 12 nodes, got 2"):
        wm.Factorization(f.rotations, f.h, 1.0, 0.0, node_names=["a", "b"])


def test_signals_are_put_in_order_by_name(f, shuffled):
    in_order = shuffled[list(NAMES)].to_numpy()
    found = f.analyze(shuffled)
    assert found.index.equals(shuffled.index)
    assert found.name == "load"
    np.testing.assert_array_equal(found[list(NAMES)], f.analyze(in_order))
    pd.testing.assert_series_equal(f.synthesize(found), shuffled)
    np.testing.assert_array_equal((f @ shuffled)[list(NAMES)], f @ in_order)
    solved = f.solve(shuffled, shift=1.0)
    np.testing.assert_array_equal(solved[list(NAMES)], f.solve(in_order, shift=1.0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_frames_of_every_dtype(f, rng, dtype):
    frame = pd.DataFrame(rng.integers(0, 2, size=(12, 3)).astype(dtype), NAMES, list("xyz"))
    mixed = frame.iloc[rng.permutation(12)]
    found = f.analyze(mixed)
    assert list(found.columns) == list("xyz")
    np.testing.assert_array_equal(found.loc[list(NAMES)], f.analyze(frame.to_numpy()))
    assert set(found.dtypes) == {np.dtype("float32" if dtype == "float32" else "float64")}


def test_without_names_the_index_holds_numbers(rng):
    f = wm.factorize(wm.graphs.cycle(12), core=3, k=2)
    values = rng.normal(size=12)
    order = rng.permutation(12)
    np.testing.assert_array_equal(f.analyze(pd.Series(values)), f.analyze(values))
    found = f.analyze(pd.Series(values[order], index=order))
    np.testing.assert_array_equal(found.sort_index(), f.analyze(values))
    with pytest.raises(InvalidInputError, match="knows no names"):
        f.analyze(pd.Series(values, index=NAMES))


def test_what_does_not_fit_is_named(f, shuffled):
    with pytest.raises(InvalidInputError, match="no value for 1 nodes: 'node c'"):
        f.analyze(shuffled.drop("node c"))
    with pytest.raises(InvalidInputError, match=r"1 labels that are no nodes: 'rome'.*to_numpy"):
        f.analyze(pd.concat([shuffled, pd.Series({"rome": 1.0})]))
    with pytest.raises(InvalidInputError, match="names some nodes twice: 'node a'"):
        f.analyze(pd.concat([shuffled, shuffled[["node a"]]]))
    with pytest.raises(InvalidInputError, match="out takes plain arrays"):
        f.analyze(shuffled, out=np.empty(12))


def test_a_graph_with_the_same_name_twice_takes_no_labels():
    twice = wm.graphs.Graph(wm.graphs.path(3).adjacency, node_names=["a", "a", "b"])
    f = wm.wavelets(twice)
    np.testing.assert_array_equal(f.analyze(np.ones(3)).shape, (3,))
    with pytest.raises(InvalidInputError, match="the graph names some nodes twice: 'a'"):
        f.analyze(pd.Series(np.ones(3), list("abc")))


@pytest.mark.parametrize("method", ["analyze", "synthesize"])
def test_nan_is_refused_with_its_place(f, shuffled, method):
    transform = getattr(f, method)
    shuffled["node e"] = np.nan
    with pytest.raises(InvalidInputError, match=r"NaN at node 4 \('node e'\).*allow_nan=True"):
        transform(shuffled)
    batch = np.ones((12, 3), np.float32)
    batch[7, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"NaN at node 7 \('node h'\) of signal 1"):
        transform(batch)
    through = transform(batch, allow_nan=True)
    assert np.isnan(through[:, 1]).any()
    assert not np.isnan(through[:, 0]).any()
