"""Damaged and lying files: refused with our errors, and nothing in them is ever run."""

from __future__ import annotations

import gzip
import importlib.util
import pickle
import random
import re
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.errors import FileFormatError, TooLargeError

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def fuzz():
    path = ROOT / "tools" / "fuzz_readers.py"
    if not path.is_file():
        pytest.skip("tools/ is not part of this installation")
    spec = importlib.util.spec_from_file_location("fuzz_readers", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def readers(fuzz):
    return fuzz.readers(trained=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mtx", "edges", "edges.gz", "npy", "npz", "mmf"])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32))
def test_damaged_files_are_read_or_refused(fuzz, readers, tmp_path, name, seed):
    reader, draw = readers[name], random.Random(seed)
    path = tmp_path / f"case{reader.suffix}"
    path.write_bytes(fuzz.mutate(draw.choice(reader.seeds), draw))
    assert fuzz.try_one(reader, path) is None
    assert list(tmp_path.iterdir()) == [path]


def test_a_small_file_cannot_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(40 * 2**20))
    path = tmp_path / "bomb.edges.gz"
    path.write_bytes(gzip.compress(b"0 1\n" * (8 * 2**20)))
    with pytest.raises(TooLargeError, match=r"bomb.edges.gz needs"):
        wm.graphs.read(path)


def test_a_lying_header_length_sets_nothing_aside(tmp_path):
    path = tmp_path / "liar.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f8'}")
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=r"not a valid \.npy"):
            wm.graphs.read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["1 1\n1\n", "2 2\n1\n2\n3\n\n4\n5\n"])
def test_too_many_values_of_matrix_market_are_refused(tmp_path, layout):
    path = tmp_path / "long.mtx"
    path.write_text(f"%%MatrixMarket matrix array real symmetric\n{layout}9\n")
    with pytest.raises(FileFormatError, match="lines of values"):
        wm.graphs.read(path)


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
        (wm.load if suffix == ".mmf" else wm.graphs.read)(path)
    assert not (tmp_path / "pwned").exists()


def test_the_source_unpickles_nothing_and_extracts_no_archives():
    forbidden = re.compile(
        r"import pickle|pickle\.load|joblib|allow_pickle=True|weights_only=False"
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
