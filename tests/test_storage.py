"""Saving and loading: whole, versioned, safe."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidInputError
from wavemmf.factorization.storage import FORMAT_VERSION


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


@pytest.mark.parametrize("version", [0, -1, "1", None, 1.5])
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
