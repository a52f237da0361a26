"""Damaged and lying files: refused with our errors, and nothing in them is ever run."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import pickle
import random
import re
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.errors import FileFormatError, TooLargeError
from wavemmf.factorization._archive import read_archive, write_archive
from wavemmf.optimize import LBFGS
from wavemmf.optimize._checkpoint import Checkpoint

ROOT = Path(__file__).parents[1]


def tool(name):
    path = ROOT / "tools" / f"{name}.py"
    if not path.is_file():
        pytest.skip("tools/ is not part of this installation")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with mock.patch.object(sys, "path", [str(path.parent), *sys.path]):  # tools use each other
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fuzz():
    return tool("fuzz_readers")


@pytest.fixture(scope="module")
def guided():
    return tool("fuzz_guided")


@pytest.fixture(scope="module")
def readers(fuzz):
    return fuzz.readers(trained=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "mtx", "mtx.gz", "edges", "edges.gz", "npy", "npz", "mmf", "mmfs", "checkpoint", "pickled",
        "planetoid", "tu", "linqs", "snap", "minnesota", "mnist",
    ],
)  # fmt: skip
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32))
def test_damaged_files_are_read_or_refused(fuzz, readers, tmp_path, name, seed):
    reader, draw = readers[name], random.Random(seed)
    path = tmp_path / f"case{reader.suffix}"
    path.write_bytes(reader.damage(draw.choice(reader.seeds), draw))
    problem, _ = fuzz.try_one(reader, path)
    assert problem is None
    assert set(tmp_path.iterdir()) <= {path}


@pytest.mark.filterwarnings("ignore")
def test_a_case_that_kills_or_hangs_is_kept_and_the_next_is_read(fuzz, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "HANGS", 1.0)

    def read(path):
        kind = path.read_bytes()
        if kind == b"1":
            os.abort()
        if kind == b"3":
            time.sleep(60.0)
        raise FileFormatError("refused")

    class Numbered(fuzz.Reader):
        def case(self, seed, number):
            return str(number).encode()

    reader = Numbered(".x", read, [])
    assert fuzz.fuzz(reader, 6, 30.0, 0, tmp_path) == (6, 4)
    assert [(tmp_path / f"0-{i}.x").read_bytes() for i in (1, 3)] == [b"1", b"3"]
    assert "died" in (tmp_path / "0-1.x.problem").read_text()
    assert "no answer" in (tmp_path / "0-3.x.problem").read_text()
    assert len(list(tmp_path.iterdir())) == 4


def test_guided_fuzzing_knows_the_readers_and_needs_atheris(guided, readers, monkeypatch, capsys):
    assert guided.NAMES[: len(readers)] == list(readers)
    monkeypatch.setattr(sys, "argv", ["fuzz_guided.py"])
    monkeypatch.setattr(guided.importlib.util, "find_spec", lambda name: None)
    assert guided.main() == 2
    assert "pip install" in capsys.readouterr().err


def test_guided_fuzzing_adds_up_what_its_processes_did(guided):
    outcome = guided.Outcome()
    outcome.add("#9 NEW cov: 30 ft: 41 corp: 3/1Kb\nstat::number_of_executed_units: 12\n")
    outcome.add("#2 INITED cov: 7 ft: 9 corp: 9/1Kb\nstat::number_of_executed_units: 5\n")
    assert (outcome.runs, outcome.reached, outcome.kept) == (17, 30, 9)


def test_guided_fuzzing_keeps_one_input_of_each_kind_of_failure(guided, fuzz, tmp_path):
    def read(path):
        raise {b"k": KeyError, b"v": ValueError}[path.read_bytes()]("no")

    reader = fuzz.Reader(".x", read, [])
    one = guided.case(fuzz, reader, tmp_path / "case", tmp_path)
    for content in (b"k", b"v", b"k", b"v"):
        one(content)
    assert len(list(tmp_path.glob("*.problem"))) == 2
    assert (tmp_path / "case0.x").read_bytes() == b"k"


@pytest.fixture
def left(tmp_path, monkeypatch):
    """Return a problem, and the checkpoint of an optimisation of it that was left."""
    a = wm.graphs.grid(3, 3).adjacency
    f = wm.factorize(a, core=2, k=3)
    path = tmp_path / "state.ckpt"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", lambda self: None)
        wm.refine(f, a, LBFGS(steps=3, checkpoint=path, checkpoint_seconds=0.0))
    return a, f, path


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("optimizer.blocks", np.zeros(3)),
        ("optimizer.gradient", np.zeros(10**4)),
        ("optimizer.products", np.zeros(200)),
        ("best_blocks", np.zeros((2, 2), np.float32)),
        ("values", np.zeros(0)),
    ],
)
def test_a_checkpoint_whose_arrays_do_not_fit_is_refused(left, name, array):
    a, f, path = left
    header, arrays = read_archive(path, "wavemmf-checkpoint", 1)
    assert name in arrays
    with path.open("wb") as stream:
        write_archive(stream, "wavemmf-checkpoint", 1, header, {**arrays, name: array})
    with pytest.raises(FileFormatError, match="damaged"):
        wm.refine(f, a, LBFGS(steps=3, checkpoint=path))


@pytest.mark.parametrize(
    "change", [{"layers": 10**12}, {"hidden": 2 * 10**4}, {"identities": 10**12}]
)
def test_a_policy_cannot_claim_more_than_its_file_holds(tmp_path, change):
    pytest.importorskip("torch", reason="policies need torch")
    pytest.importorskip("safetensors", reason="policies are safetensors")
    path = tmp_path / "liar.safetensors"
    wm.rl.Policy(seed=3).save(path)
    _change_header(path, lambda header: header["settings"].update(change))
    with pytest.raises(FileFormatError, match="it claims"):
        wm.rl.load_policy(path)


@pytest.mark.parametrize("change", [{"layers": 10**12}, {"hidden": 10**9}, {"hops": 10**10}])
def test_a_network_cannot_claim_more_than_its_file_holds(tmp_path, change):
    pytest.importorskip("torch", reason="networks need torch")
    pytest.importorskip("safetensors", reason="networks are safetensors")
    path = tmp_path / "liar.safetensors"
    basis = wm.nn.wavelet_basis(wm.graphs.cycle(6), core=2, k=2)
    wm.nn.save_net(wm.nn.WaveletNet(6, 2, hidden=4), basis, path)
    _change_header(path, lambda header: header["settings"].update(change))
    with pytest.raises(FileFormatError, match="it claims"):
        wm.nn.load_net(path)


def _change_header(path, change):
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    outer = json.loads(content[8:end])
    inner = json.loads(outer["__metadata__"]["wavemmf"])
    change(inner)
    outer["__metadata__"]["wavemmf"] = json.dumps(inner)
    text = json.dumps(outer).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[end:])


def test_a_small_file_cannot_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(40 * 2**20))
    path = tmp_path / "bomb.edges.gz"
    path.write_bytes(gzip.compress(b"0 1\n" * (8 * 2**20)))
    with pytest.raises(TooLargeError, match=r"bomb.edges.gz needs"):
        wm.io.read(path)


def test_a_lying_header_length_sets_nothing_aside(tmp_path):
    path = tmp_path / "liar.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f8'}")
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=r"not a valid \.npy"):
            wm.io.read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["1 1\n1\n", "2 2\n1\n2\n3\n\n4\n5\n"])
def test_too_many_values_of_matrix_market_are_refused(tmp_path, layout):
    path = tmp_path / "long.mtx"
    path.write_text(f"%%MatrixMarket matrix array real symmetric\n{layout}9\n")
    with pytest.raises(FileFormatError, match="lines of values"):
        wm.io.read(path)


def test_an_array_header_that_does_not_parse_is_refused(tmp_path):
    path = tmp_path / "damaged.mmf"
    header = b"{'descr': '<i8', 'shape': (3,}\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", '{"format": "wavemmf-factorization", "version": 1}')
        archive.writestr("offsets.npy", b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header)
    with pytest.raises(FileFormatError, match=r"damaged\.mmf is damaged"):
        wm.load(path)


def test_a_damaged_compressed_matrix_is_refused(tmp_path):
    path = tmp_path / "damaged.mtx.gz"
    content = bytearray(gzip.compress(b"%%MatrixMarket matrix array real general\n1 1\n5\n"))
    content[12:20] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a complete gzip file"):
        wm.io.read(path)


class Malicious:
    def __reduce__(self):
        return Path.mkdir, (Path("pwned"),)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mtx", ".edges", ".mmf"])
def test_pickles_are_not_loaded(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"evil{suffix}"
    array = np.array([Malicious()], dtype=object)
    if suffix == ".npz":
        np.savez(path, array, allow_pickle=True)
    elif suffix == ".npy":
        np.save(path, array, allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(Malicious()))
    with pytest.raises(FileFormatError):
        (wm.load if suffix == ".mmf" else wm.io.read)(path)
    assert not (tmp_path / "pwned").exists()


def test_the_source_unpickles_nothing_and_extracts_no_archives():
    forbidden = re.compile(
        r"import pickle|pickle\.load|Unpickler|from pickle import (?!dumps\b)|joblib"
        r"|allow_pickle=True|weights_only=False"
        r"|torch\.load\((?!.*weights_only=True)|np\.load\((?!.*allow_pickle=False)"
        r"|\.extractall\(|\.extract\(|\beval\(|\bexec\("
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if forbidden.search(line) and "model.eval()" not in line and ".eval()" not in line
    ]
    assert found == []
