"""Small data sets in the formats of the data folder, for the fuzzers of readers.

A data set is several files. Here it is one: a zip archive of them, which is unpacked into a data
folder of its own before it is read. Only files that belong to the data set are unpacked.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.datasets import planetoid
from wavemmf.datasets._pickled import read_pickled
from wavemmf.errors import FileFormatError

Files = dict[str, bytes]
Reading = Callable[[Path], Any]


def bundle(files: Files) -> bytes:
    """Return an archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def reading(load: Callable[[], Any], files: Files, folder: str | None) -> Reading:
    """Return the function that unpacks an archive of such files into `folder`, and loads them."""

    def read(path: Path) -> Any:
        with tempfile.TemporaryDirectory(dir=folder) as data:
            try:
                unpack(path, files, Path(data))
            except Exception as error:  # the archive is ours: what is wrong with it tells nothing
                raise FileFormatError("not an archive any more") from error
            with data_folder(data):
                return load()

    return read


@contextlib.contextmanager
def data_folder(folder: str) -> Iterator[None]:
    """Let data sets be read from a folder, changed or not.

    Two variables are put back, not the whole environment: that took a third of the time of a case.
    """
    settings = {"WAVEMMF_DATA": folder, "WAVEMMF_ACCEPT_CHANGED_DATA": "1"}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def unpack(path: Path, files: Files, folder: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for name in set(archive.namelist()) & set(files):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))


def datasets() -> dict[str, tuple[Callable[[], Any], Files]]:
    """Return what loads a data set, and its files, by name."""
    return {
        "planetoid": (lambda: planetoid("Cora"), planetoid_files()),
        "tu": (lambda: wm.datasets.tu_dataset("TINY"), tu_files()),
        "linqs": (lambda: wm.datasets.linqs("cora"), linqs_files()),
        "snap": (lambda: wm.datasets.snap("tiny"), snap_files()),
        "minnesota": (wm.graphs.minnesota, minnesota_files()),
        "mnist": (lambda: wm.datasets.mnist_kernel(per_class=1), mnist_files()),
    }


def pickles() -> tuple[Reading, list[bytes]]:
    """Return the reader of pickled arrays, and such files."""
    rng = np.random.default_rng(0)
    values = [
        rng.random((3, 2)),
        np.eye(3, dtype=np.int32),
        sp.csr_matrix(np.eye(3, dtype=np.float32)),
        {0: [1, 2], 1: [0], 2: [0]},
    ]
    return read_pickled, [pickle.dumps(v, protocol=p) for v in values for p in (3, 4)]


def planetoid_files() -> Files:
    """Return as few nodes as the public split, with its 500 nodes for validation, allows."""
    known, tested, learned = 502, 3, 2
    n = known + tested
    labels = np.eye(2, dtype=np.int32)[np.arange(n) % 2]
    features = sp.csr_matrix(np.eye(n, 4, dtype=np.float32))
    parts = {
        "allx": features[:known],
        "tx": features[known:],
        "ally": labels[:known],
        "ty": labels[known:],
        "y": labels[:learned],
        "graph": {node: [(node + 1) % n, (node - 1) % n] for node in range(n)},
    }
    files = {name: pickle.dumps(value, protocol=3) for name, value in parts.items()}
    files["test.index"] = b"".join(b"%d\n" % node for node in range(known, n))
    return {f"Planetoid/Cora/raw/ind.cora.{name}": files[name] for name in files}


def tu_files() -> Files:
    files = {
        "graph_indicator": b"1\n1\n1\n2\n2\n",
        "A": b"1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
        "graph_labels": b"1\n-1\n",
        "node_labels": b"0\n1\n0\n2\n1\n",
        "node_attributes": b"0.5,1\n1,2e3\n-1,0\n0,0\n3,4\n",
    }
    return {f"TUDataset/TINY/raw/TINY_{name}.txt": content for name, content in files.items()}


def linqs_files() -> Files:
    return {
        "LINQS/cora/cora.content": b"31336\t0\t1\tTheory\n10531\t1\t0\tTheory\nx9\t1\t1\tCase\n",
        "LINQS/cora/cora.cites": b"31336\t10531\n10531\tx9\nx9\tx9\n7\t31336\n",
    }


def snap_files() -> Files:
    return {
        "snap/tiny.edges": b"# tiny, nodes 5\n0 1\n1 2\n2 3\n",
        "snap/tiny.xy": b"0.0 1.0\n1.5 2\n2 2\n3 1e-3\n4 4\n",
        "snap/tiny.labels": b"0\n1\n0\n1\n2\n",
    }


def minnesota_files() -> Files:
    stream = io.BytesIO()
    ring = wm.graphs.cycle(5)
    scipy.io.savemat(stream, {"A": sp.csc_matrix(ring.adjacency), "xy": ring.coordinates})
    return {"minnesota/minnesota.mat": stream.getvalue()}


def mnist_files() -> Files:
    digits = bytes(range(10))
    pixels = bytes(range(40))
    return {
        "mnist/t10k-labels-idx1-ubyte": bytes([0, 0, 8, 1, 0, 0, 0, 10]) + digits,
        "mnist/t10k-images-idx3-ubyte": bytes([0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 2])
        + pixels,
    }
