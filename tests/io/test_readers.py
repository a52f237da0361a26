"""Files: matrices and edge lists, well-formed and otherwise."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wavemmf.datasets import tu_dataset
from wavemmf.errors import FileFormatError, InvalidInputError, TooLargeError
from wavemmf.graphs import Graph, as_matrix, normalized_laplacian
from wavemmf.io import read

WEIGHTED = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.5], [0.0, 3.5, 0.0]])


def write(folder, name, text):
    path = folder / name
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


# Matrices


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("sparse", [True, False])
def test_matrix_market(tmp_path, suffix, symmetry, sparse):
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, sp.coo_array(WEIGHTED) if sparse else WEIGHTED, symmetry=symmetry)
    path = write(tmp_path, f"m{suffix}", buffer.getvalue())
    result = read(path)
    assert sp.issparse(result) == sparse
    dense = result.toarray() if sparse else result
    np.testing.assert_array_equal(dense, WEIGHTED)
    assert as_matrix(str(path)).shape == (3, 3)


HEADER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", FileFormatError),
        ("hello\n", FileFormatError),
        (HEADER, FileFormatError),
        (HEADER + "3 3 1\n7 1 1.0\n", FileFormatError),
        (HEADER + "3 3 2\n1 1 1.0\n", FileFormatError),
        (HEADER + "3 3 1\n1 1 x\n", FileFormatError),
        (HEADER + "3 3 99999999999\n1 1 1.0\n", FileFormatError),
        (HEADER + "1000000000000 1000000000000 1\n1 1 1.0\n", TooLargeError),
        ("%%MatrixMarket matrix array real general\n9999999 9999999\n1.0\n", FileFormatError),
    ],
)
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_broken_matrix_market(tmp_path, text, error, suffix):
    path = write(tmp_path, f"m{suffix}", text)
    with pytest.raises(error, match=r"m\.mtx"):
        read(path)


def test_complex_matrix_market_is_refused_by_the_front_door(tmp_path):
    scipy.io.mmwrite(tmp_path / "c.mtx", np.eye(2) * 1j)
    with pytest.raises(TypeError, match="complex"):
        as_matrix(tmp_path / "c.mtx")


def test_npy_and_npz(tmp_path):
    np.save(tmp_path / "a.npy", WEIGHTED)
    np.savez(tmp_path / "b.npz", WEIGHTED)
    np.savez_compressed(tmp_path / "c.npz", kernel=WEIGHTED)
    for name in ("a.npy", "b.npz", "c.npz"):
        np.testing.assert_array_equal(read(tmp_path / name), WEIGHTED)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_npz(tmp_path, layout, kind):
    sp.save_npz(tmp_path / "s.npz", kind(WEIGHTED).asformat(layout))
    result = read(tmp_path / "s.npz")
    assert isinstance(result, sp.csr_array)
    np.testing.assert_array_equal(result.toarray(), WEIGHTED)


def npy_bytes(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def lying_npy():
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + b"\0" * 64


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an array",
        npy_bytes(WEIGHTED)[:-8],
        npy_bytes(np.array([{}, {}], dtype=object), allow_pickle=True),
        lying_npy(),
    ],
)
def test_broken_npy(tmp_path, content):
    with pytest.raises(FileFormatError, match=r"a\.npy"):
        read(write(tmp_path, "a.npy", content))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(FileFormatError, match=r"a\.npz"):
        read(tmp_path / "a.npz")


def test_npz_with_several_arrays_lists_them(tmp_path):
    np.savez(tmp_path / "two.npz", left=WEIGHTED, right=WEIGHTED)
    with pytest.raises(FileFormatError, match=r"2 arrays \(left, right\)"):
        read(tmp_path / "two.npz")


@pytest.mark.parametrize("content", [b"", b"PK nonsense"])
def test_npz_that_is_no_archive(tmp_path, content):
    with pytest.raises(FileFormatError, match=r"valid \.npz"):
        read(write(tmp_path, "x.npz", content))


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 1, 99, 1])},
        {"indptr": np.array([0, 1, 99, 4])},
        {"indptr": np.array([0, 99, 99, 0])},
        {"format": np.array(b"xyz")},
        {"data": np.array([1.0])},
    ],
)
def test_corrupt_sparse_npz(tmp_path, change):
    matrix = sp.csr_array(WEIGHTED)
    fields = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }
    np.savez(tmp_path / "bad.npz", **{**fields, **change})
    with pytest.raises(FileFormatError, match=r"bad\.npz"):
        read(tmp_path / "bad.npz")


def test_sparse_npz_of_absurd_order(tmp_path):
    huge = sp.coo_array(([1.0], ([0], [0])), shape=(10**12, 10**12))
    sp.save_npz(tmp_path / "huge.npz", huge)
    with pytest.raises(TooLargeError, match="order 1000000000000"):
        read(tmp_path / "huge.npz")


# Paths


def test_missing_files_directories_and_unknown_suffixes(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        read(tmp_path / "none.mtx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInputError, match="is a directory"):
        read(tmp_path / "folder.csv")
    for name in ("a.xyz", "a", "a.gz", "a.npy.gz"):
        with pytest.raises(InvalidInputError, match=r"one of \.mtx, .*\.edgelist\.gz"):
            read(tmp_path / name)


# Edge lists


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.edges", "0 1\n1 2\n"),
        ("g.edges.gz", "# comment\n0 1\n1 2\n"),
        ("g.txt", "% comment\n# another\n\n0\t1\n1\t2"),
        ("g.txt", "0, 1\n1, 2\n"),
        ("g.txt", "0,1\r\n1,2\r\n"),
        ("g.csv", "source,target\n0,1\n1,2\n"),
        ("g.csv", "left,right\n0,1\n1,2\n"),
        ("g.csv", "0,1\n1,2\n"),
        ("g.csv.gz", '"id_1","id_2"\n0,1\n1,2\n'),
        ("g.tsv", "FromNodeId\tToNodeId\n0\t1\n1\t2\n"),
        ("g.edgelist", "  0 1  \n 1 2\n"),
        ("g.edgelist", "1 0\n0 1\n1 2\n1 2\n2 1\n"),
        ("g.TXT", "\ufeff0 1\n1 2\n"),
    ],
)
def test_edge_list_dialects(tmp_path, name, text):
    graph = read(write(tmp_path, name, text))
    assert isinstance(graph, Graph)
    assert graph.name == "g"
    assert graph.node_names is None
    np.testing.assert_array_equal(graph.adjacency.toarray(), WEIGHTED > 0)


@pytest.mark.parametrize(
    "text",
    ["0 1 2\n1 2 3.5\n", "0,1,2e0\n1,2,3.5\n", "1 0 2\n0 1 2.0\n1 2 3.5\n"],
)
def test_weighted_edge_lists(tmp_path, text):
    graph = read(write(tmp_path, "w.txt", text))
    np.testing.assert_array_equal(graph.adjacency.toarray(), WEIGHTED)


def test_edge_list_header_with_weight_column(tmp_path):
    path = write(tmp_path, "w.csv", "source,target,weight\n0,1,2\n1,2,3.5\n")
    np.testing.assert_array_equal(read(path).adjacency.toarray(), WEIGHTED)


def test_integer_ids_are_kept_and_self_loops_too(tmp_path):
    graph = read(write(tmp_path, "g.edges", "1 3\n3 3\n"))
    assert (graph.n, graph.num_edges) == (4, 2)
    assert graph.adjacency[3, 3] == 1


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("g.txt", "alice bob\nbob carol\n", ("alice", "bob", "carol")),
        ("g.txt", "a b\nb c\n", ("a", "b", "c")),
        ("g.csv", "source,target\nx y,z\nz,0\n", ("x y", "z", "0")),
        ("g.tsv", "x y\tz\nz\t0\n", ("x y", "z", "0")),
        ("g.txt", "http://a/#1 b%20c\nb%20c Smith,J\n", ("http://a/#1", "b%20c", "Smith,J")),
        ("g.txt", "ü 1\n1 2\n", ("ü", "1", "2")),
    ],
)
def test_string_ids_in_order_of_appearance(tmp_path, name, text, names):
    graph = read(write(tmp_path, name, text))
    assert graph.node_names == names
    np.testing.assert_array_equal(graph.adjacency.toarray(), WEIGHTED > 0)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("0 1\n1\n", 2, "2 or 3 fields"),
        ("0 1\n# fine\n\n1 2 3 4\n", 4, "2 or 3 fields"),
        ("0 1\n1 2 3\n", 2, "3 fields where the lines before have 2"),
        ("0 1 1.0\n1 2\n", 2, "2 fields where the lines before have 3"),
        ("0 1\n1 x\n", 2, "'x' is not a non-negative integer"),
        ("0 1\n1 2.0\n", 2, "'2.0' is not"),
        ("0 1\n1 -2\n", 2, "'-2' is not"),
        ("-1 1\n1 2\n", 1, "'-1' is not"),
        ("0 1\n1 99999999999999999999\n", 2, "too large"),
        ("0 1 1\n1 2 heavy\n", 2, "weight 'heavy'"),
        ("0 1 1\n1 2 nan\n", 2, "weight 'nan'"),
        ("0 1 1\n1 2 inf\n", 2, "weight 'inf'"),
        ("0 1\n1 2 # no inline comments\n", 2, "2 or 3 fields"),
        ("0 1 2 3\n", 1, "2 or 3 fields"),
        ("0 1 1\n2 3 1\n1 0 2\n", 3, "weight 2 here but 1 on line 1"),
        ("a b 1\nb a 2\n", 2, "weight 2 here but 1 on line 1"),
        ("a b\nb\n", 2, "2 or 3 fields"),
        ("u v\n0 1\n1 x\n", 3, "'x' is not"),
    ],
)
def test_malformed_lines_are_named(tmp_path, text, line, problem):
    path = write(tmp_path, "bad.txt", text)
    with pytest.raises(FileFormatError, match=rf"bad\.txt, line {line}: .*{problem}"):
        read(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.txt", b""),
        ("e.txt", b"# only a comment\n\n"),
        ("e.txt", b"\xff\xfe\x00\x01"),
        ("e.csv", b",\n,\n"),
    ],
)
def test_files_that_are_no_edge_lists(tmp_path, name, content):
    with pytest.raises(FileFormatError, match=r"e\."):
        read(write(tmp_path, name, content))


def test_broken_gzip(tmp_path):
    (tmp_path / "g.txt.gz").write_bytes(b"0 1\n")
    with pytest.raises(FileFormatError, match="gzip"):
        read(tmp_path / "g.txt.gz")
    whole = gzip.compress(b"0 1\n1 2\n" * 100)
    (tmp_path / "g.txt.gz").write_bytes(whole[:-12])
    with pytest.raises(FileFormatError, match="gzip"):
        read(tmp_path / "g.txt.gz")


@pytest.mark.parametrize("vertex", [2 * 10**6, 10**9, 10**15])
def test_absurd_ids_are_refused_before_allocation(tmp_path, vertex):
    path = write(tmp_path, "g.txt", f"0 {vertex}\n")
    with pytest.raises(TooLargeError, match=f"order {vertex + 1} for 1 entries"):
        read(path)


def test_edge_lists_are_graphs_to_the_front_door(tmp_path):
    path = write(tmp_path, "g.edges", "0 1\n1 2\n")
    expected = normalized_laplacian(WEIGHTED > 0).toarray()
    np.testing.assert_array_equal(as_matrix(path).toarray(), expected)
    np.testing.assert_array_equal(normalized_laplacian(str(path)).toarray(), expected)
    np.testing.assert_array_equal(as_matrix(path, matrix="adjacency").toarray(), WEIGHTED > 0)


def test_matrix_files_can_be_taken_as_adjacency(tmp_path):
    np.save(tmp_path / "a.npy", WEIGHTED)
    expected = normalized_laplacian(WEIGHTED).toarray()
    np.testing.assert_array_equal(
        as_matrix(tmp_path / "a.npy", matrix="normalized_laplacian").toarray(), expected
    )


def test_a_large_edge_list_is_quick(tmp_path):
    ends = np.random.default_rng(0).integers(0, 20_000, size=(100_000, 2))
    text = "# big\n" + "\n".join(f"{u} {v}" for u, v in ends)
    graph = read(write(tmp_path, "big.edges", text))
    pairs = {(min(u, v), max(u, v)) for u, v in ends.tolist()}
    assert graph.num_edges == len(pairs)


edge = st.tuples(st.integers(0, 30), st.integers(0, 30))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    edges=st.dictionaries(
        edge.map(lambda pair: tuple(sorted(pair))),
        st.floats(-1e6, 1e6).filter(lambda w: abs(w) > 1e-6),
        min_size=1,
        max_size=30,
    ),
    separator=st.sampled_from([" ", "\t", ",", ", ", "   "]),
    weighted=st.booleans(),
    flip=st.booleans(),
)
def test_round_trip(tmp_path, edges, separator, weighted, flip):
    lines = []
    for (u, v), weight in edges.items():
        ends = [str(v), str(u)] if flip else [str(u), str(v)]
        lines.append(separator.join(ends + [repr(weight)] * weighted))
    graph = read(write(tmp_path, "trip.txt", "\n".join(lines)))
    assert graph.num_edges == len(edges)
    for (u, v), weight in edges.items():
        assert graph.adjacency[u, v] == graph.adjacency[v, u] == (weight if weighted else 1.0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60), st.sampled_from([".txt", ".csv", ".mtx", ".npy", ".npz", ".txt.gz"]))
def test_arbitrary_bytes_never_raise_anything_but_our_errors(tmp_path, content, suffix):
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(InvalidInputError):
        read(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0 1 1_0\n", 1),
        ("0 1 2.0\n1 2 1_000\n", 2),
        ("0 1\n1_0 2\n", 2),
        ("0 1\n\u0663 2\n", 2),  # a three that NumPy does not read
        ("0 1 1.0\n1 2 \u0663\n", 2),
        ("0 1 1.0\n1 2 \uff11\n", 2),
        ("a b 1.0\nb c 1_0\n", 2),
        ("a b 1.0\nb c \u0663\n", 2),
        ("0 1\n1 " + 5000 * "9" + "\n", 2),
        ("0 1\n1 9223372036854775808\n", 2),
    ],
)
@pytest.mark.parametrize("suffix", [".edges", ".txt.gz"])
def test_numbers_that_only_python_reads_are_named_with_their_line(tmp_path, text, line, suffix):
    path = write(tmp_path, f"g{suffix}", text)
    with pytest.raises(FileFormatError, match=rf"g\.[a-z.]*, line {line}: "):
        read(path)


def test_digits_of_other_scripts_are_names(tmp_path):
    graph = read(write(tmp_path, "g.edges", "\u0663 \u0664\n\u0664 \u0665\n"))
    assert graph.node_names == ("\u0663", "\u0664", "\u0665")


def test_an_edge_list_that_numpy_alone_refuses(tmp_path, monkeypatch):
    def refuse(*arguments, **settings):
        raise ValueError("could not convert")

    monkeypatch.setattr("wavemmf.io._edgelist.np.loadtxt", refuse)
    with pytest.raises(FileFormatError, match=r"g\.edges is not an edge list: could not convert"):
        read(write(tmp_path, "g.edges", "0 1\n"))


@pytest.mark.parametrize(
    ("member", "text", "message"),
    [
        ("A", "1, 2\n2, 1_0\n", "A.txt, line 2: '2, 1_0' are not numbers"),
        ("A", "1, 2\n2, \u0661\n", "A.txt, line 2"),
        ("A", "1, 2\ninf, 1\n", "A.txt, line 2: 'inf, 1' are not finite numbers"),
        ("A", "1, 2\n2, 1e300\n", "must have 2 integers per line"),
        ("graph_labels", "nan\n", "graph_labels.txt, line 1"),
        ("node_labels", "1\nnan\n", "node_labels.txt, line 2"),
        ("node_labels", "1\n1.5\n", "node_labels.txt must have integers"),
        ("node_attributes", "1.0, 2.0\n1.0, inf\n", "node_attributes.txt, line 2"),
        ("node_attributes", "1.0, 2.0\n1.0\n", "not a table of numbers"),
    ],
)
def test_broken_tables_of_a_data_set(tmp_path, monkeypatch, member, text, message):
    folder = tmp_path / "TUDataset" / "TINY" / "raw"
    folder.mkdir(parents=True)
    whole = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n", "graph_labels": "1\n"}
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    for name, content in {**whole, member: text}.items():
        (folder / f"TINY_{name}.txt").write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message):
        tu_dataset("TINY")


def test_features_of_a_graph_are_finite():
    features = np.ones((3, 2))
    features[2, 1] = np.nan
    with pytest.raises(InvalidInputError, match="feature 1 of vertex 2 is nan"):
        Graph(np.ones((3, 3)), features=features)
