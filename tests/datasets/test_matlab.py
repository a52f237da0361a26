"""MATLAB files: what SciPy writes is read, and what is damaged is refused, never followed."""

from __future__ import annotations

import contextlib
import io
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from wavemmf import graphs
from wavemmf.datasets._matlab import read_matlab
from wavemmf.errors import FileFormatError, TooLargeError


def written(values, compressed=False):
    stream = io.BytesIO()
    scipy.io.savemat(stream, values, do_compression=compressed)
    return stream.getvalue()


@pytest.fixture
def read(tmp_path):
    """Return a function that reads bytes as if they were a file."""

    def reader(content):
        path = tmp_path / "file.mat"
        path.write_bytes(content)
        return read_matlab(path)

    return reader


@pytest.mark.parametrize("compressed", [False, True])
def test_real_arrays_are_read_as_scipy_reads_them(read, rng, compressed):
    values = {
        "x": rng.normal(size=(4, 3)),
        "row": np.arange(5, dtype=np.int16)[None],
        "short": np.array([[1.5]], np.float32),
        "cube": rng.normal(size=(2, 3, 4)),
        "none": np.zeros((0, 3)),
        "a": sp.csc_matrix(sp.random(6, 5, 0.4, rng=rng)),
    }
    content = written(values, compressed)
    expected, found = scipy.io.loadmat(io.BytesIO(content)), read(content)
    assert set(found) == set(values)
    for name, value in found.items():
        wanted = expected[name]
        if sp.issparse(wanted):
            assert isinstance(value, sp.csr_array)
            value, wanted = value.toarray(), wanted.toarray()
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value, wanted)


def test_what_is_no_real_array_is_left_out(read):
    cells = np.array(["a", "b"], dtype=object)
    content = written({"z": np.array([[1j]]), "text": "word", "cells": cells, "x": np.eye(2)})
    assert set(read(content)) == {"x"}


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_files_are_refused_or_read(read, rng, compressed):
    content = written({"A": sp.csc_matrix(np.eye(4)), "xy": rng.random((4, 2))}, compressed)
    for end in range(0, len(content), 3):
        if end != 128:  # a header alone is an empty file
            with pytest.raises(FileFormatError):
                read(content[:end])
    for place in range(128, len(content)):
        for value in (0, 255, content[place] ^ 1):
            changed = bytearray(content)
            changed[place] = value
            with contextlib.suppress(FileFormatError, TooLargeError):
                read(bytes(changed))


def test_a_small_file_does_not_take_much_memory(read, monkeypatch):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "100000000")
    packed = zlib.compress(bytes(2**28))
    content = written({})[:128] + np.array([15, len(packed)], "<u4").tobytes() + packed
    with pytest.raises(TooLargeError, match="the arrays in"):
        read(content)


def test_a_damaged_minnesota_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "1")
    path = tmp_path / "minnesota" / "minnesota.mat"
    path.parent.mkdir()
    whole = written({"A": sp.csc_matrix(graphs.cycle(5).adjacency), "xy": np.zeros((5, 2))})
    path.write_bytes(whole)
    assert graphs.minnesota().n == 5
    for content in (whole[:200], b"", whole[:127], written({"A": np.eye(5)})):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"minnesota\.mat"):
            graphs.minnesota()
