"""Saving and loading: whole, versioned, safe."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import wavemmf as wm
from wavemmf._cache import ResultCache
from wavemmf.errors import FileFormatError, InvalidFactorizationError, InvalidInputError
from wavemmf.factorization._collection import load_collection, save_collection
from wavemmf.factorization._storage import FORMAT_VERSION


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.factorize(oracle.MATRICES["grid"], core=5, k=4, drop=2)


@pytest.fixture
def saved(f: wm.Factorization, tmp_path: Path) -> Path:
    path = tmp_path / "grid.mmf"
    f.save(path)
    return path


def rewrite(path: Path, changes: dict[str, bytes | None]) -> None:
    """Replace (or, with None, remove) members of a saved file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.update({name: data for name, data in changes.items() if data is not None})
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            if changes.get(name, b"") is not None:
                archive.writestr(name, data)


def header(path: Path, **changes: object) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return json.dumps({**json.loads(archive.read("header.json")), **changes}).encode()


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("matrix", ["grid", "zero", "single", "isolated"])
@pytest.mark.parametrize("core", [0, 1])
def test_round_trip(matrix: str, core: int, tmp_path: Path) -> None:
    f = wm.factorize(oracle.MATRICES[matrix], core=core, k=3)
    f.save(tmp_path / "f.mmf")
    g = wm.load(str(tmp_path / "f.mmf"))
    for name in ("offsets", "groups", "blocks", "drop_offsets", "wavelets"):
        np.testing.assert_array_equal(getattr(g.rotations, name), getattr(f.rotations, name))
    np.testing.assert_array_equal(g.core, f.core)
    np.testing.assert_array_equal(g.frequencies, f.frequencies)
    assert (g.error(), g.history, g.parameters) == (f.error(), f.history, f.parameters)


# -- every field, by every way of storing --


def by_file(f: wm.Factorization, folder: Path) -> wm.Factorization:
    f.save(folder / "f.mmf")
    return wm.load(folder / "f.mmf")


def by_collection(f: wm.Factorization, folder: Path) -> wm.Factorization:
    other = wm.factorize(np.diag([1.0, 2.0]), core=0, k=2)
    save_collection([other, f, other], folder / "f.mmfs")
    return load_collection(folder / "f.mmfs")[1]


def by_cache(f: wm.Factorization, folder: Path) -> wm.Factorization:
    cache = ResultCache(folder)
    cache.save("key", [f])
    (found,) = cache.load("key", 1) or [f]  # sparse cores are not kept
    return found


WAYS = [
    by_file,
    by_collection,
    by_cache,
    lambda f, _: pickle.loads(pickle.dumps(f)),
    lambda f, _: copy.deepcopy(f),
    lambda f, _: copy.copy(f),
    lambda f, _: replace(f),
]


def unusual() -> list[wm.Factorization]:
    """Return factorizations in which no field has its usual value."""
    exact = wm.factorize(oracle.MATRICES["grid"], core=5, k=4, drop=2, optimize="lbfgs", steps=3)
    history = replace(
        exact.history,
        errors=(np.inf, np.nan, 0.5),
        stopped="ä\n",
        details={"gradient_norm": float("nan"), "pair": (1, np.float64(2.5)), "none": None},
    )
    bound = replace(exact, error_is_exact=False, history=history)
    sparse = sp.csr_array(bound.core)
    return [
        bound,
        replace(bound, h=wm.CoreDiagonal(bound.frequencies, sparse, bound.core_indices)),
        replace(bound, parameters={"k": np.int64(3), "cores": (1, 2), "nested": {"low": -np.inf}}),
        wm.factorize(np.eye(3), core=0, k=2),
        wm.factorize(oracle.MATRICES["single"], core=1, k=2),
    ]


def assert_same(one: Any, other: Any, name: str) -> None:
    assert type(one) is type(other), name
    if hasattr(one, "__dataclass_fields__"):
        for each in fields(one):
            assert_same(getattr(one, each.name), getattr(other, each.name), each.name)
    elif sp.issparse(one):
        assert_same(one.toarray(), other.toarray(), name)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    else:
        assert repr(one) == repr(other), name  # NaN is to be NaN again


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", range(5))
def test_every_field_survives(
    way: Callable[[wm.Factorization, Path], wm.Factorization], which: int, tmp_path: Path
) -> None:
    f = unusual()[which]
    g = way(f, tmp_path)
    assert_same(g, f, "factorization")
    arrays = [g.core.data, g.core.indices] if sp.issparse(g.core) else [g.core]
    assert not any(array.flags.writeable for array in [g.frequencies, *arrays])


def test_a_bound_stays_a_bound_in_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a large matrix: the second call must not turn its bound into an error."""
    bound = replace(wm.factorize(wm.graphs.karate(), core=8), error_is_exact=False)
    monkeypatch.setattr("wavemmf._many.factorize_chunk", lambda *_: [bound])
    for _ in range(2):
        (f,) = wm.factorize_many([wm.graphs.karate()], core=8, cache=tmp_path)
        assert not f.error_is_exact


def test_headers_are_json_for_everybody(tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    unusual()[0].save(tmp_path / "f.mmf")
    with zipfile.ZipFile(tmp_path / "f.mmf") as archive:
        json.loads(archive.read("header.json"), parse_constant=refuse)


def test_what_cannot_be_stored_is_refused_at_once(f: wm.Factorization) -> None:
    with pytest.raises(InvalidFactorizationError, match=r"parameters\['x'\]\[0\].*got object"):
        replace(f, parameters={"x": [object()]})
    with pytest.raises(InvalidFactorizationError, match=r"details\['x'\].*got set"):
        replace(f.history, details={"x": {1}})


@pytest.mark.parametrize("n", [3 * 10**8, 10**13, 10**40, -1, 35, True, 34.0, "34", None])
def test_a_header_that_claims_another_order_allocates_nothing(saved: Path, n: Any) -> None:
    rewrite(saved, {"header.json": header(saved, n=n), "offsets.npy": npy(np.zeros(1, np.int64))})
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match="n "):
            wm.load(saved)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n", [3 * 10**8, 10**13])
def test_empty_arrays_of_a_huge_matrix(saved: Path, tmp_path: Path, n: int) -> None:
    empty = {
        "offsets.npy": npy(np.zeros(1, np.int64)), "drop_offsets.npy": npy(np.zeros(1, np.int64)),
        "groups.npy": npy(np.zeros(0, np.int64)), "wavelets.npy": npy(np.zeros(0, np.int64)),
        "blocks.npy": npy(np.zeros(0)), "diagonal_of_h.npy": npy(np.zeros(0)),
        "core.npy": npy(np.zeros((0, 0))),
    }  # fmt: skip
    rewrite(saved, {**empty, "header.json": header(saved, n=n)})
    assert saved.stat().st_size < 4096
    many = tmp_path / "f.mmfs"
    save_collection([wm.factorize(np.eye(2), core=2, k=2)], many)
    with zipfile.ZipFile(many) as archive:
        records = json.loads(archive.read("header.json"))["records"]
    rewrite(many, {"header.json": header(many, records=[{**records[0], "n": n}])})
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=f"n is {n}, but diagonal_of_h has shape"):
            wm.load(saved)
        with pytest.raises(FileFormatError, match=f"n is {n}, but diagonal_of_h has shape"):
            load_collection(many)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_rotations_of_more_coordinates_than_memory() -> None:
    with pytest.raises(wm.errors.TooLargeError, match="rotations of 1000000000000000 coordinates"):
        wm.Rotations.from_levels(10**15, [], [], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("error_is_exact", "false"),
        ("error_is_exact", 1),
        ("matrix_norm", "1.0"),
        ("residual_norm", None),
        ("residual_norm", True),
        ("history", []),
        ("parameters", [["k", 3]]),
    ],
)
def test_values_of_another_kind(saved: Path, name: str, value: Any) -> None:
    rewrite(saved, {"header.json": header(saved, **{name: value})})
    with pytest.raises(FileFormatError, match=f"{name} must be"):
        wm.load(saved)


@pytest.mark.parametrize("depth", [300, 800, 20_000])
def test_values_within_values_without_end(saved: Path, tmp_path: Path, depth: int) -> None:
    nested = b'{"x": ' + depth * b"[" + depth * b"]" + b"}"
    whole = header(saved, parameters="here").replace(b'"here"', nested)
    rewrite(saved, {"header.json": whole})
    many = tmp_path / "f.mmfs"
    save_collection([wm.factorize(np.eye(2), core=2, k=2)], many)
    with zipfile.ZipFile(many) as archive:
        records = archive.read("header.json").replace(b'"parameters": {', b'"parameters": {"x": ')
    rewrite(many, {"header.json": records.replace(b'{"x": ', b'{"x": ' + nested + b",", 1)})
    for path, read in ((saved, wm.load), (many, load_collection)):
        try:
            read(path)
        except FileFormatError:
            continue
        assert depth == 300


def test_a_collection_of_an_older_layout(tmp_path: Path) -> None:
    save_collection([], tmp_path / "f.mmfs")
    rewrite(tmp_path / "f.mmfs", {"header.json": header(tmp_path / "f.mmfs", version=1)})
    with pytest.raises(FileFormatError, match="version 1"):
        load_collection(tmp_path / "f.mmfs")


def test_the_same_factorization_gives_the_same_bytes(f: wm.Factorization, tmp_path: Path) -> None:
    f.save(tmp_path / "a.mmf")
    f.save(tmp_path / "b.mmf")
    assert (tmp_path / "a.mmf").read_bytes() == (tmp_path / "b.mmf").read_bytes()


def test_every_truncation_is_noticed(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [0, 1, 10, *range(100, len(whole), max(1, len(whole) // 40)), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(FileFormatError, match=r"grid\.mmf"):
            wm.load(saved)


def test_damage_is_noticed(saved: Path) -> None:
    whole = bytearray(saved.read_bytes())
    at = whole.index(b"blocks.npy") + 400
    whole[at] ^= 0xFF
    saved.write_bytes(whole)
    with pytest.raises(FileFormatError, match="CRC"):
        wm.load(saved)


def test_foreign_files(tmp_path: Path) -> None:
    text = tmp_path / "text.mmf"
    text.write_text("hello")
    archive = tmp_path / "archive.mmf"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("a.txt", "hello")
    other = tmp_path / "other.mmf"
    with zipfile.ZipFile(other, "w") as z:
        z.writestr("header.json", json.dumps({"format": "something else"}))
    for path, message in ((text, "not a"), (archive, "no header"), (other, "not a wavemmf")):
        with pytest.raises(FileFormatError, match=message):
            wm.load(path)
    with pytest.raises(InvalidInputError, match="no such file"):
        wm.load(tmp_path / "missing.mmf")
    with pytest.raises(InvalidInputError, match="no such file"):
        wm.load(tmp_path)


def test_newer_version(saved: Path) -> None:
    rewrite(
        saved,
        {"header.json": header(saved, version=FORMAT_VERSION + 1, written_by="wavemmf 99.0")},
    )
    later = rf"version {FORMAT_VERSION + 1} \(written by wavemmf 99\.0\).*upgrade"
    with pytest.raises(FileFormatError, match=later):
        wm.load(saved)


def test_first_version_is_still_read(saved: Path) -> None:
    expected = wm.load(saved)
    old = json.loads(header(saved, version=1))
    del old["error_is_exact"]
    rewrite(saved, {"header.json": json.dumps(old).encode()})
    assert wm.load(saved).error_is_exact
    assert wm.load(saved).error() == expected.error()


@pytest.mark.parametrize("version", [0, -1, "1", None, 1.5, float("inf"), float("nan")])
def test_nonsense_version(saved: Path, version: object) -> None:
    rewrite(saved, {"header.json": header(saved, version=version)})
    with pytest.raises(FileFormatError, match="version"):
        wm.load(saved)


def test_contents_that_break_the_constraints(saved: Path, f: wm.Factorization) -> None:
    groups = f.rotations.groups.copy()
    groups[-1] = f.rotations.wavelets[0]
    rewrite(saved, {"groups.npy": npy(groups)})
    with pytest.raises(FileFormatError, match=f"level {f.num_levels} of .* dropped"):
        wm.load(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"blocks.npy": None},
        {"blocks.npy": b"not numpy"},
        {"core.npy": npy(np.zeros((2, 2)))},
        {"header.json": b"{"},
        {"header.json": b"[]"},
        {"offsets.npy": npy(np.array([0.5]))},
    ],
)
def test_other_damage(saved: Path, changes: dict[str, bytes | None]) -> None:
    rewrite(saved, changes)
    with pytest.raises(FileFormatError):
        wm.load(saved)


def test_a_lying_array_header_allocates_nothing(saved: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    )
    rewrite(saved, {"blocks.npy": stream.getvalue() + b"\0" * 64})
    with pytest.raises(FileFormatError, match="wrong header"):
        wm.load(saved)


class Malicious:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("pwned",)


def test_nothing_is_unpickled(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil = npy(np.array([1, 2], dtype=np.int64)).replace(b"<i8", b"|O ")
    rewrite(saved, {"groups.npy": evil + pickle.dumps(Malicious())})
    with pytest.raises(FileFormatError):
        wm.load(saved)
    assert not (tmp_path / "pwned").exists()


def test_row_pointers_of_a_core_that_come_back_to_zero(tmp_path: Path) -> None:
    """SciPy's own check passes them, and its compiled code then reads anywhere."""
    dense = wm.factorize(wm.graphs.cycle(9), core=2, k=2)
    h = wm.CoreDiagonal(dense.frequencies, sp.csr_array(dense.core), dense.core_indices)
    f = replace(dense, h=h)
    path = tmp_path / "cycle.mmf"
    f.save(path)
    pointers = np.zeros_like(f.core.indptr)
    pointers[1:-1] = 33554688
    rewrite(path, {"core_indptr.npy": npy(pointers)})
    with pytest.raises(FileFormatError, match="non-decreasing"):
        wm.load(path)


def test_a_failed_save_leaves_the_old_file(
    saved: Path, f: wm.Factorization, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def fail(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(KeyboardInterrupt):
        f.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_unwritable_targets(f: wm.Factorization, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="does not exist"):
        f.save(tmp_path / "nowhere" / "f.mmf")
    with pytest.raises(InvalidInputError, match="directory"):
        f.save(tmp_path)


def test_saved_files_have_ordinary_permissions(saved: Path) -> None:
    reference = saved.parent / "reference"
    reference.touch()
    assert saved.stat().st_mode == reference.stat().st_mode


FILES = Path(__file__).parent / "files"


def test_files_of_version_0_1_0_load() -> None:
    """They were written when H was kept as a diagonal and a block."""
    karate = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    dense, sparse = (wm.load(FILES / name) for name in ("dense_core.mmf", "sparse_core.mmf"))
    assert dense.error() == 0.43527389809888994
    assert dense.history.method == "lbfgs"
    assert np.linalg.norm(karate - dense.to_dense()) == pytest.approx(dense.error())
    assert sparse.error() == 0.7864853683176484
    assert sp.issparse(sparse.core)
    assert not sparse.error_is_exact
    for one, other in zip(load_collection(FILES / "both.mmfs"), (dense, sparse), strict=True):
        assert_same(one, other, "factorization")
