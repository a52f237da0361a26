"""Planetoid's pickled files: read exactly, and nothing in them is run."""

from __future__ import annotations

import collections
import contextlib
import importlib.util
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from wavemmf.datasets import planetoid
from wavemmf.datasets._pickled import read_pickled
from wavemmf.errors import FileFormatError, InvalidInputError

KNOWN, TESTED, LEARNED = 530, 20, 20


def contents(gap=False):
    """Return what the files of a small data set hold; with a gap, one node is in no file."""
    rng = np.random.default_rng(3)
    test = KNOWN + rng.permutation(TESTED)
    if gap:
        test = np.where(test == KNOWN + TESTED - 1, KNOWN + TESTED, test)
    n = int(test.max()) + 1
    labels = np.eye(3, dtype=np.int32)[rng.integers(0, 3, KNOWN + TESTED)]
    features = sp.csr_matrix(sp.random(KNOWN + TESTED, 7, 0.4, rng=rng, dtype=np.float32))
    graph = collections.defaultdict(list)
    for node in range(n):
        graph[node] = [(node + 1) % n, (node - 1) % n, (node + 1) % n, node]
    return {
        "allx": features[:KNOWN], "tx": features[KNOWN:], "y": labels[:LEARNED],
        "ally": labels[:KNOWN], "ty": labels[KNOWN:], "graph": graph, "test.index": test,
    }  # fmt: skip


def put(folder, parts, protocol=4):
    raw = folder / "Planetoid" / "Cora" / "raw"
    raw.mkdir(parents=True)
    for name, value in parts.items():
        path = raw / f"ind.cora.{name}"
        if name == "test.index":
            path.write_text("".join(f"{node}\n" for node in value))
        else:
            path.write_bytes(pickle.dumps(value, protocol=protocol))
    return raw


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a data folder that may hold anything."""
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "1")
    return tmp_path


@pytest.mark.parametrize("protocol", [3, 4])
@pytest.mark.parametrize("gap", [False, True])
def test_a_data_set_is_put_together(folder, protocol, gap):
    parts = contents(gap)
    put(folder, parts, protocol)
    data = planetoid("Cora")
    n = KNOWN + TESTED + gap
    assert (data.graph.n, data.graph.num_edges) == (n, n)
    assert data.train.tolist() == list(range(LEARNED))
    assert data.validation.tolist() == list(range(LEARNED, LEARNED + 500))
    assert data.test.tolist() == sorted(parts["test.index"])
    features = data.graph.features.toarray()
    np.testing.assert_array_equal(features[:KNOWN], parts["allx"].toarray())
    np.testing.assert_array_equal(features[parts["test.index"]], parts["tx"].toarray())
    np.testing.assert_array_equal(
        data.graph.labels[parts["test.index"]], parts["ty"].argmax(axis=1)
    )
    if gap:
        assert not features[KNOWN + TESTED - 1].any()


@pytest.mark.parametrize(
    "value",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12).reshape(3, 4)),
        np.arange(5, dtype=">i4"),
        np.array([True, False]),
        np.zeros((0, 3), np.float32),
    ],
)
@pytest.mark.parametrize("protocol", [3, 4])
def test_arrays_are_read_as_they_were(tmp_path, value, protocol):
    path = tmp_path / "array"
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    found = read_pickled(path)
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(found, value)


class Runs:
    """Runs a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Pretends(np.ndarray):
    """A class of one's own instead of an array."""


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize(
    "value",
    [
        Runs(Path.mkdir, Path("pwned")),
        Runs(eval, "__import__('os').mkdir('pwned')"),
        collections.defaultdict(Path),
        np.zeros(3).view(Pretends),
        np.array([Runs(Path.mkdir, Path("pwned"))], dtype=object),
        np.array(["text"]),
        np.zeros(2, [("a", float)]),
        {1, 2},
        [np.zeros(2)],
        "text",
        3,
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_refused_and_not_run(tmp_path, monkeypatch, value, protocol):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    with pytest.raises(FileFormatError, match="file"):
        read_pickled(path)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b".",
        b"no pickle",
        b"\x80\x02}.extra",
        b"\x80\x02cnumpy\ndtype\nU\x01O\x85R.",
        b"\x80\x02cnumpy\nndarray\n(K\xfftR.",
        b"\x80\x02]r\xff\xff\xff\x7f.",  # a place in a memory of 2**31 entries
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.",  # 2**60 bytes
        b"\x80\x05\x96\xff\xff\xff\xff\xff\x00\x00\x00.",  # and as many to be set aside
        b"\x80\x02}K\x01a.",
        b"\x80\x02}]K\x01s.",
        b"\x80\x02(]K\x01e.",
        b"\x80\x02h\x07.",
        b"0.",
    ],
)
def test_odd_programs_are_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    if content == b"\x80\x02}.extra":
        assert read_pickled(path) == {}
        return
    with pytest.raises(FileFormatError, match="file"):
        read_pickled(path)


def test_damaged_files_are_read_or_refused(tmp_path):
    path, draw = tmp_path / "file", random.Random(0)
    whole = [pickle.dumps(contents()[name], protocol=p) for name in ("tx", "ty") for p in (2, 4)]
    for _ in range(2000):
        content = bytearray(draw.choice(whole))
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.choice([len(content), draw.randrange(len(content))])])
        with contextlib.suppress(FileFormatError):
            read_pickled(path)


def change(parts, name, value):
    return {**parts, name: value}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("allx", np.zeros((3, 3)), "allx must hold a sparse matrix"),
        ("allx", sp.csr_matrix(np.ones((3, 7), np.float32)), "contradict"),
        ("ty", np.zeros((3, 3)), "contradict"),
        ("ty", np.zeros(3), "ty must hold an array"),
        ("graph", {0: [1]}, "graph must list"),
        ("graph", {n: [0.5] for n in range(KNOWN + TESTED)}, "BINFLOAT"),
        ("graph", {n: ["x"] for n in range(KNOWN + TESTED)}, "graph must list"),
        ("graph", dict.fromkeys(range(KNOWN + TESTED), 7), "graph must list"),
        ("graph", {n: [10**6] for n in range(KNOWN + TESTED)}, "graph must list"),
        ("graph", {n: [10**30] for n in range(KNOWN + TESTED)}, "graph must list|damaged"),
        ("test.index", ["x"], "list of integers"),
        ("test.index", ["53_0"], "list of integers"),
        ("test.index", ["\u0665"], "list of integers"),
        ("test.index", [10**30], "list of integers"),
        ("test.index", [1, 1], "different nodes"),
        ("test.index", [], "different nodes"),
        ("test.index", [10**12], "graph must list"),
    ],
)
def test_files_that_contradict_each_other_are_refused(folder, name, value, message):
    put(folder, change(contents(), name, value))
    with pytest.raises(FileFormatError, match=message):
        planetoid("Cora")


def test_out_of_place_entries_are_refused(tmp_path):
    matrix = sp.csr_matrix(np.ones((3, 4)))
    matrix.indices[5] = 10**6
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(matrix, protocol=4))
    with pytest.raises(FileFormatError):
        read_pickled(path)


def test_unknown_and_missing_sets(folder):
    with pytest.raises(InvalidInputError, match="'Cora', 'CiteSeer', 'PubMed'"):
        planetoid("cora")
    with pytest.raises(InvalidInputError, match=r"ind\.pubmed\.allx is missing"):
        planetoid("PubMed")


@pytest.mark.parametrize(
    ("name", "n", "edges", "features", "classes"),
    [
        ("Cora", 2708, 5278, 1433, 7),
        ("CiteSeer", 3327, 4552, 3703, 6),
        ("PubMed", 19717, 44324, 500, 3),
    ],
)
def test_the_real_files(need_data, name, n, edges, features, classes):
    need_data(f"Planetoid/{name}/raw/*.graph")
    data = planetoid(name)
    assert (data.graph.n, data.graph.num_edges) == (n, edges)
    assert data.graph.features.shape == (n, features)
    assert data.graph.labels.max() + 1 == classes
    assert (data.train.size, data.validation.size, data.test.size) == (20 * classes, 500, 1000)


WATCHED = """
import os, sys, traceback
seen = []

def watch(event, arguments):
    # Numba keeps compiled kernels in pickles of its own, outside the data folder.
    if event == "pickle.find_class" and not any(
        frame.filename.endswith(("caching.py", "serialize.py")) and "numba" in frame.filename
        for frame in traceback.extract_stack()
    ):
        seen.append(arguments)

import wavemmf as wm
{prepare}
sys.addaudithook(watch)
try:
    {call}
except wm.WavemmfError as error:
    print(error)
print("unpickled:", seen)
print("ran:", os.path.exists("pwned"))
"""


def watched(folder, call, prepare=""):
    """Run a call in a process of its own, and return what was unpickled by whomever."""
    code = WATCHED.format(call=call, prepare=prepare)
    environment = {
        **os.environ, "WAVEMMF_DATA": str(folder), "WAVEMMF_ACCEPT_CHANGED_DATA": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_watch_sees_what_is_unpickled(tmp_path):
    pickled = repr(pickle.dumps(Runs(os.mkdir, "pwned")))
    seen = watched(tmp_path, f"pickle.loads({pickled})", "import pickle")
    assert "'mkdir'" in seen
    assert "ran: True" in seen


@pytest.mark.parametrize("part", ["allx", "tx", "y", "ally", "ty", "graph"])
def test_nobody_unpickles_the_data(tmp_path, part):
    put(tmp_path, change(contents(), part, Runs(os.mkdir, "pwned")))
    seen = watched(tmp_path, "planetoid('Cora')", "from wavemmf.datasets import planetoid")
    assert f"ind.cora.{part}" in seen
    assert "mkdir" in seen
    assert "unpickled: []" in seen
    assert "ran: False" in seen


def test_nobody_unpickles_anything_while_nodes_are_classified(tmp_path):
    for package in ("torch", "torch_geometric"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    put(tmp_path, contents())
    command = (
        "run(['classify', 'nodes', '--dataset', 'planetoid-cora', '--split', 'public', "
        "'--model', 'wavelet,gcn', '--runs', '1', '--epochs', '1', '--results', 'kept'], "
        "standalone_mode=False)"
    )
    prepare = "import wavemmf.experiments.nodes._baselines\nfrom wavemmf.cli import app as run"
    seen = watched(tmp_path, command, prepare)
    assert "accuracy" in seen
    assert "unpickled: []" in seen
