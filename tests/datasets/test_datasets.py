"""Data sets: where files are looked for, how they are fetched, what they hold."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import struct
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from wavemmf import datasets, graphs
from wavemmf.datasets import _folder as datafolder
from wavemmf.datasets import planetoid
from wavemmf.errors import FileFormatError, InvalidInputError, TooLargeError
from wavemmf.graphs import Graph


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty data folder, chosen by the user, for files that are not the known ones."""
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "1")
    return tmp_path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache folder, with no folder chosen by the user."""
    monkeypatch.delenv("WAVEMMF_DATA", raising=False)
    monkeypatch.setattr(datafolder, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def put(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


# Finding and fetching


def test_folder_chosen_by_environment(folder):
    assert datafolder.data_folder() == folder


@pytest.mark.parametrize(
    ("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")]
)
def test_cache_folder_follows_the_platform(monkeypatch, tmp_path, platform, variable):
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert datafolder.cache_folder() == tmp_path / "wavemmf"


def test_cache_folder_on_a_mac(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert datafolder.cache_folder() == tmp_path / "Library" / "Caches" / "wavemmf"


def register(monkeypatch, url, content, name="set/file.txt"):
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(datafolder.SOURCES, name, url)
    monkeypatch.setitem(datafolder.known_digests(), name.removesuffix(".gz"), digest)


def test_download_from_a_server_once(cache, tmp_path, monkeypatch):
    served = tmp_path / "served"
    put(served, "file.txt", b"content")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *a: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        register(monkeypatch, f"{url}/file.txt", b"content")
        path = datafolder.data_file("set/file.txt")
        register(monkeypatch, f"{url}/absent.txt", b"content", name="set/absent.txt")
        with pytest.raises(InvalidInputError, match=r"absent\.txt .*404"):
            datafolder.data_file("set/absent.txt")
    finally:
        server.shutdown()
        server.server_close()
    assert path == cache / "set" / "file.txt"
    assert path.read_bytes() == b"content"
    assert datafolder.data_file("set/file.txt") == path  # Now without the server.


def test_wrong_digest_leaves_nothing_behind(cache, tmp_path, monkeypatch):
    put(tmp_path, "file.txt", b"tampered")
    register(monkeypatch, (tmp_path / "file.txt").as_uri(), b"content")
    with pytest.raises(FileFormatError, match="SHA-256"):
        datafolder.data_file("set/file.txt")
    assert list((cache / "set").iterdir()) == []


def test_network_failure_names_url_file_and_variable(cache, tmp_path, monkeypatch):
    url = (tmp_path / "nowhere").as_uri()
    register(monkeypatch, url, b"content")
    with pytest.raises(InvalidInputError) as caught:
        datafolder.data_file("set/file.txt")
    for part in (url, str(cache / "set" / "file.txt"), "WAVEMMF_DATA"):
        assert part in str(caught.value)


def test_chosen_folder_is_never_written_to(folder):
    with pytest.raises(InvalidInputError, match=r"minnesota\.mat is missing .*https://"):
        graphs.minnesota()
    assert list(folder.iterdir()) == []


def test_file_without_address_says_where_to_put_it(cache):
    with pytest.raises(InvalidInputError, match=r"power\.edges.*WAVEMMF_DATA"):
        datasets.snap("power")


def test_every_source_is_pinned():
    for name, url in datafolder.SOURCES.items():
        assert url.startswith("https://")
        assert len(datafolder.known_digests()[name.removesuffix(".gz")]) == 64


# Verifying


@pytest.mark.parametrize("form", ["LINQS/cora/cora.cites", "LINQS/cora/cora.cites.gz"])
def test_a_changed_file_is_refused_by_name(folder, monkeypatch, form):
    put(folder, form, "p1\tp2\n")
    name = "LINQS/cora/cora.cites"
    assert datafolder.data_file(name) == folder / form  # accepted on request
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "0")
    for find in (datafolder.data_file, datafolder.find_data_file):
        with pytest.raises(FileFormatError) as caught:
            find(name)
        for part in (str(folder / form), "SHA-256", "WAVEMMF_ACCEPT_CHANGED_DATA=1"):
            assert part in str(caught.value)


def test_a_known_file_is_verified_unzipped(folder, monkeypatch):
    monkeypatch.delenv("WAVEMMF_ACCEPT_CHANGED_DATA")
    put(folder, "set/file.txt.gz", b"content")
    register(monkeypatch, "https://nowhere", b"content")
    assert datafolder.data_file("set/file.txt") == folder / "set/file.txt.gz"
    with (folder / "set/file.txt.gz").open("ab") as stream:
        stream.write(gzip.compress(b" and more"))  # a second part, which readers would read
    with pytest.raises(FileFormatError, match="SHA-256"):
        datafolder.data_file("set/file.txt")
    (folder / "set/file.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(FileFormatError, match=r"file\.txt\.gz is not a complete gzip file"):
        datafolder.data_file("set/file.txt")


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("LINQS/cora/cora.content", lambda: datasets.linqs("cora")),
        ("Planetoid/Cora/raw/ind.cora.allx", lambda: planetoid("Cora")),
        ("TUDataset/MUTAG/raw/MUTAG_graph_indicator.txt", lambda: datasets.tu_dataset("MUTAG")),
        ("minnesota/minnesota.mat", graphs.minnesota),
        ("mnist/t10k-labels-idx1-ubyte", datasets.mnist_kernel),
        ("snap/power.edges", lambda: datasets.snap("power")),
    ],
)
def test_every_loader_verifies(folder, monkeypatch, name, load):
    monkeypatch.delenv("WAVEMMF_ACCEPT_CHANGED_DATA")
    put(folder, name, "1\n1\n")
    with pytest.raises(FileFormatError, match="SHA-256"):
        load()


def test_companions_of_a_graph_are_verified(folder, monkeypatch):
    put(folder, "snap/lastfm.edges", "0 1\n")
    put(folder, "snap/lastfm.labels", "0\n1\n")
    assert datasets.snap("lastfm").labels.tolist() == [0, 1]
    monkeypatch.delenv("WAVEMMF_ACCEPT_CHANGED_DATA")
    monkeypatch.delitem(datafolder.known_digests(), "snap/lastfm.edges")
    with pytest.raises(FileFormatError, match=r"lastfm\.labels has SHA-256"):
        datasets.snap("lastfm")


def test_files_of_the_user_are_not_verified(folder, monkeypatch):
    monkeypatch.delenv("WAVEMMF_ACCEPT_CHANGED_DATA")
    put(folder, "snap/own.edges", "0 1\n")
    assert datasets.snap("own").n == 2


def test_the_real_files_are_the_known_ones(data_dir):
    present = [name for name in datafolder.known_digests() if datafolder.find_data_file(name)]
    if not present:
        pytest.skip(f"{data_dir} has no files that are known")
    for name in present:
        assert datafolder.data_file(name).is_file()


# Loaders on files made here


def test_linqs_counts_what_it_drops(folder):
    put(folder, "LINQS/cora/cora.content.gz", "p1\t0\t1\tB\np2\t1\t1\tA\np3\t0\t0\tB\n")
    put(folder, "LINQS/cora/cora.cites", "p1\tp2\np2\tp1\np1\tp1\nghost\tp3\n")
    graph = datasets.linqs("cora")
    assert (graph.n, graph.num_edges) == (3, 1)
    assert graph.metadata == {"citations": 4, "unknown": 1, "self_citations": 1}
    np.testing.assert_array_equal(graph.features.toarray(), [[0, 1], [1, 1], [0, 0]])
    assert graph.class_names == ("A", "B")
    assert graph.labels.tolist() == [1, 0, 1]
    assert graph.node_names == ("p1", "p2", "p3")


@pytest.mark.parametrize(
    ("content", "cites", "message"),
    [
        ("p1\t0\t1\tA\np2\t0\tA\n", "", r"content, line 2"),
        ("p1\t0\t2\tA\n", "", r"content, line 1"),
        ("", "", "no papers"),
        ("p1\t0\tA\np1\t0\tA\n", "", "more than once"),
        ("p1\t0\tA\n", "p1\n", r"cites, line 1"),
        ("p1\n", "", r"content, line 1"),
    ],
)
def test_linqs_refuses_malformed_files(folder, content, cites, message):
    put(folder, "LINQS/cora/cora.content", content)
    put(folder, "LINQS/cora/cora.cites", cites)
    with pytest.raises(FileFormatError, match=message):
        datasets.linqs("cora")


def test_linqs_unknown_name():
    with pytest.raises(InvalidInputError, match="'cora', 'citeseer', 'webkb'"):
        datasets.linqs("pubmed")


def test_snap_with_coordinates_labels_and_isolated_last_vertex(folder):
    put(folder, "snap/tiny.edges.gz", "# tiny nodes 4 edges 2 undirected\n0 1\n1 2\n")
    put(folder, "snap/tiny.xy.gz", "0 0\n1 0\n1 1\n5 5\n")
    put(folder, "snap/tiny.labels", "0\n1\n1\n0\n")
    graph = datasets.snap("tiny")
    assert (graph.n, graph.num_edges, graph.name) == (4, 2, "tiny")
    assert graph.coordinates.shape == (4, 2)
    assert graph.labels.tolist() == [0, 1, 1, 0]
    assert "snap:tiny" in graphs.names()
    assert isinstance(graphs.named("tiny"), Graph)


def test_snap_refuses_bad_companions_headers_and_names(folder):
    put(folder, "snap/tiny.edges", "0 1\n")
    put(folder, "snap/tiny.xy", "0 0\n1 x\n")
    with pytest.raises(FileFormatError, match=r"tiny\.xy"):
        datasets.snap("tiny")
    put(folder, "snap/vast.edges", "# nodes 999999999999\n0 1\n")
    with pytest.raises(TooLargeError, match="order"):
        datasets.snap("vast")
    for name in ("../secret", "a/b", "", ".hidden"):
        with pytest.raises(InvalidInputError, match="not the name"):
            datasets.snap(name)


def put_mnist(folder, images, labels):
    header = struct.pack(">4I", 0x0803, *images.shape)
    put(folder, "mnist/t10k-images-idx3-ubyte", header + images.tobytes())
    header = struct.pack(">2I", 0x0801, len(labels))
    put(folder, "mnist/t10k-labels-idx1-ubyte.gz", header + labels.tobytes())


def test_mnist_kernel_formula_and_order(folder):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(40, 28, 28), dtype=np.uint8)
    labels = rng.permutation(np.repeat(np.arange(10, dtype=np.uint8), 4))
    put_mnist(folder, images, labels)
    kernel = datasets.mnist_kernel(per_class=2, sigma=5.0)
    assert kernel.shape == (20, 20)
    np.testing.assert_array_equal(np.diag(kernel), 1.0)
    np.testing.assert_array_equal(kernel, kernel.T)
    first, second = (images[np.flatnonzero(labels == d)[1]] / 255.0 for d in (0, 3))
    expected = np.exp(-np.sum((first - second) ** 2) / 50.0)
    assert kernel[1, 7] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InvalidInputError, match="at most 4, got 5"):
        datasets.mnist_kernel(per_class=5)
    with pytest.raises(InvalidInputError, match="sigma"):
        datasets.mnist_kernel(sigma=0.0)


def test_zipped_mnist_that_is_damaged(folder):
    (folder / "mnist").mkdir()
    (folder / "mnist/t10k-labels-idx1-ubyte.gz").write_bytes(b"no gzip")
    with pytest.raises(FileFormatError, match="not a complete gzip file"):
        datasets.mnist_kernel()


@pytest.mark.parametrize("content", [b"", b"\0\0\x08\x01\0\0\0\x05abc", b"\0\0\0\0\0\0\0\0"])
def test_broken_mnist(folder, content):
    put(folder, "mnist/t10k-labels-idx1-ubyte", content)
    with pytest.raises(FileFormatError, match="IDX"):
        datasets.mnist_kernel()


@pytest.mark.parametrize("shape", [(0, 2**32 - 1, 2**32 - 1), (0, 28, 28), (10, 0, 2**32 - 1)])
def test_mnist_without_pixels(folder, shape):
    put_mnist(folder, np.zeros((10, 1, 1), np.uint8), np.arange(10, dtype=np.uint8))
    put(folder, "mnist/t10k-images-idx3-ubyte", struct.pack(">4I", 0x0803, *shape))
    with pytest.raises(FileFormatError, match="is empty: its shape is"):
        datasets.mnist_kernel(per_class=1)


@pytest.mark.parametrize("sigma", [1e-170, 1e160])
def test_widths_whose_square_is_no_number(folder, sigma):
    put_mnist(folder, np.zeros((10, 1, 1), np.uint8), np.arange(10, dtype=np.uint8))
    with pytest.raises(InvalidInputError, match="sigma must be between 1e-100 and 1e"):
        datasets.mnist_kernel(per_class=1, sigma=sigma)


def test_digits_kernel():
    sklearn = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn")
    kernel = datasets.digits_kernel(n_per_class=3)
    assert kernel.shape == (30, 30)
    np.testing.assert_array_equal(kernel, kernel.T)
    assert np.linalg.eigvalsh(kernel).min() > -1e-10
    full = datasets.digits_kernel(sigma=2.0)
    assert full.shape == (1797, 1797)
    x = sklearn.load_digits().data / 16.0
    assert full[5, 9] == pytest.approx(np.exp(-np.sum((x[5] - x[9]) ** 2) / 8.0))


# Registry


@pytest.mark.parametrize("name", ["karate", "cayley", "cycle", "grid"])
def test_named_graphs_without_files(name):
    assert isinstance(graphs.named(name), Graph)


def test_named_matrix_and_unknown_name():
    assert graphs.named("kronecker").shape == (512, 512)
    for name in ("moby-dick", "snap:moby-dick", 3):
        with pytest.raises(InvalidInputError):
            graphs.named(name)
    with pytest.raises(InvalidInputError, match=r"karate.*webkb.*snap:power"):
        graphs.named("moby-dick")


# The real files


def test_real_minnesota(need_data):
    need_data("minnesota/minnesota.mat*")
    graph = graphs.minnesota()
    assert (graph.n, graph.num_edges) == (2642, 3303)
    assert set(graph.adjacency.data) == {1.0}
    assert graph.coordinates.shape == (2642, 2)
    assert sp.csgraph.connected_components(graph.adjacency)[0] == 2


@pytest.mark.parametrize(
    ("name", "n", "edges", "features", "classes", "isolated", "counts"),
    [
        ("cora", 2708, 5278, 1433, 7, 0, (5429, 0, 0)),
        ("citeseer", 3312, 4536, 3703, 6, 48, (4732, 17, 124)),
        ("webkb", 877, 1388, 1703, 5, 18, (1608, 0, 92)),
    ],
)
def test_real_linqs(need_data, name, n, edges, features, classes, isolated, counts):
    need_data(f"LINQS/{'WebKB' if name == 'webkb' else name}/*.cites*")
    graph = datasets.linqs(name)
    assert (graph.n, graph.num_edges) == (n, edges)
    assert graph.features.shape == (n, features)
    assert graph.labels.max() + 1 == len(graph.class_names) == classes
    assert np.count_nonzero(graph.adjacency.sum(axis=1) == 0) == isolated
    assert tuple(graph.metadata.values()) == counts


@pytest.mark.parametrize(
    ("name", "n", "edges"),
    [
        ("power", 4941, 6594),
        ("ca-GrQc", 5242, 14484),
        ("email-Enron", 36692, 183831),
        ("amsterdam-roads", 68213, 76712),
        ("lastfm", 7624, 27806),
    ],
)
def test_real_snap(need_data, name, n, edges):
    need_data(f"snap/{name}.edges*")
    graph = graphs.named(f"snap:{name}")
    assert (graph.n, graph.num_edges) == (n, edges)
    assert (graph.coordinates is not None) == name.endswith("roads")
    assert (graph.labels is not None) == (name == "lastfm")


def test_real_mnist(need_data):
    need_data("mnist/t10k-images-idx3-ubyte*")
    kernel = datasets.mnist_kernel()
    assert kernel.shape == (1000, 1000)
    assert 0.4 < kernel.mean() < 0.9


@pytest.mark.parametrize("label", ["0.5", "nan", "inf", "1e300", "1_0", "x"])
def test_labels_of_a_graph_are_integers(folder, label):
    put(folder, "snap/tiny.edges", "0 1\n1 2\n")
    put(folder, "snap/tiny.labels", f"0\n{label}\n1\n")
    with pytest.raises(FileFormatError, match=r"tiny\.labels"):
        datasets.snap("tiny")


def test_empty_tables_of_a_graph_are_refused(folder):
    put(folder, "snap/tiny.edges", "0 1\n1 2\n")
    put(folder, "snap/tiny.xy", " \n")
    with pytest.raises(FileFormatError, match=r"tiny\.xy is empty"):
        datasets.snap("tiny")
