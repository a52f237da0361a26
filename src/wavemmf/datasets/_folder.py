"""Find the files of public data sets, verify them, and fetch those that have a known address."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from functools import cache
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import IO

from .._files import atomic_write
from ..errors import FileFormatError, InvalidInputError

__all__ = ["cache_folder", "data_file", "data_folder", "find_data_file", "known_digests"]

_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 16
_ACCEPT = "WAVEMMF_ACCEPT_CHANGED_DATA"

_LEARNMMF = (
    "https://raw.githubusercontent.com/HySonLab/LearnMMF/34c0c68d1c5d9914f1d0cf6a5642a55873031361"
)
_MNIST = "https://raw.githubusercontent.com/kelas/mnist/283b387221ab46655e600cfcc25d843bb14292b9"
_PYGSP = "https://raw.githubusercontent.com/epfl-lts2/pygsp/v0.6.1"

#: Where files can be downloaded; what they must hold is in `known_digests`.
SOURCES = {
    "minnesota/minnesota.mat": f"{_PYGSP}/pygsp/data/pointclouds/minnesota.mat",
    "mnist/t10k-images-idx3-ubyte.gz": f"{_MNIST}/t10k-images-idx3-ubyte.gz",
    "mnist/t10k-labels-idx1-ubyte.gz": f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
    "LINQS/cora/cora.cites": f"{_LEARNMMF}/data/cora/cora.cites",
    "LINQS/cora/cora.content": f"{_LEARNMMF}/data/cora/cora.content",
    "LINQS/citeseer/citeseer.cites": f"{_LEARNMMF}/data/citeseer/citeseer.cites",
    "LINQS/citeseer/citeseer.content": f"{_LEARNMMF}/data/citeseer/citeseer.content",
    "LINQS/WebKB/WebKB.cites": f"{_LEARNMMF}/data/WebKB/WebKB.cites",
    "LINQS/WebKB/WebKB.content": f"{_LEARNMMF}/data/WebKB/WebKB.content",
}


def data_folder() -> Path:
    """Return ``$WAVEMMF_DATA`` if it is set, else the cache folder of the user."""
    chosen = os.environ.get("WAVEMMF_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder()


def cache_folder() -> Path:
    """Return the folder for downloads, by the conventions of the operating system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wavemmf"


@cache
def known_digests() -> dict[str, str]:
    """Return the SHA-256 digests of the files that are known, as they are when not gzipped.

    Examples
    --------
    >>> known_digests()["minnesota/minnesota.mat"][:8]
    'a3cbf534'
    """
    table = files(__package__).joinpath("digests.sha256").read_text(encoding="ascii")
    pairs = (line.split("  ", 1) for line in table.splitlines())
    return {name: digest for digest, name in pairs}


def data_file(name: str) -> Path:
    """Return the path of a data file, plain or gzipped, downloading it if need be.

    A file of a data set that wavemmf knows must have the content that it knows, by its SHA-256
    digest, also if it was there already. Set the environment variable
    ``WAVEMMF_ACCEPT_CHANGED_DATA=1`` to read changed files all the same: they are only parsed, and
    nothing in them is ever run. What is downloaded must always be what is known.

    Parameters
    ----------
    name : str
        Relative to the data folder, with forward slashes, as in ``"LINQS/cora/cora.cites"``.

    Raises
    ------
    InvalidInputError
        If the file is not there and cannot be fetched; the message says where to put it. A
        folder chosen with ``WAVEMMF_DATA`` is never written to.
    FileFormatError
        If its content is not the known one.
    """
    found = find_data_file(name)
    if found is not None:
        return found
    folder = data_folder()
    advice = f"put it at {folder / name}, or set WAVEMMF_DATA to the folder that holds {name}"
    known = [form for form in _forms(name) if form in SOURCES]
    if not known:
        raise InvalidInputError(
            f"data file {name} is missing, and there is no address to fetch it from: {advice}"
        )
    url, target = SOURCES[known[0]], folder / known[0]
    if os.environ.get("WAVEMMF_DATA"):
        raise InvalidInputError(
            f"data file {target} is missing (WAVEMMF_DATA is set, so nothing is downloaded); "
            f"get it from {url}, or unset WAVEMMF_DATA"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    _download(url, target, known_digests()[name], advice)
    return target


def find_data_file(name: str) -> Path | None:
    """Return the path of a file that is in the data folder, if it is there; see `data_file`.

    Examples
    --------
    >>> find_data_file("absent/file.txt") is None
    True
    """
    for form in _forms(name):
        path = data_folder() / form
        if path.is_file():
            _verify(path, name)
            return path
    return None


def _forms(name: str) -> tuple[str, str]:
    return name, f"{name}.gz"


def _verify(path: Path, name: str) -> None:
    expected = known_digests().get(name)
    if expected is None or os.environ.get(_ACCEPT) == "1":
        return
    with path.open("rb") as stream:
        found = _digest(stream, path)
    if found != expected:
        raise FileFormatError(
            f"{path} has SHA-256 {found}, expected {expected}: it was changed or damaged. Replace "
            f"it, or set {_ACCEPT}=1 to read it as it is; nothing in it is run"
        )


def _digest(stream: IO[bytes], path: Path) -> str:
    """Return the digest of what a stream holds, unzipped if the path says that it is gzipped."""
    digest = hashlib.sha256()
    try:
        content = gzip.GzipFile(fileobj=stream) if path.suffix == ".gz" else stream
        while chunk := content.read(_CHUNK_BYTES):
            digest.update(chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} is not a complete gzip file: {error}") from error
    return digest.hexdigest()


def _download(url: str, target: Path, expected: str, advice: str) -> None:
    """Fetch a file, verify its digest, and only then let it appear at `target`."""
    import urllib.request

    try:
        with (
            urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response,
            atomic_write(target) as output,
        ):
            while chunk := response.read(_CHUNK_BYTES):
                output.write(chunk)
            output.seek(0)
            found = _digest(output, target)
            if found != expected:
                raise FileFormatError(
                    f"{url} has SHA-256 {found}, expected {expected}; nothing was saved. {advice}"
                )
    except (OSError, HTTPException) as error:
        raise InvalidInputError(
            f"cannot download {url} to {target}: {error}. Without network access, {advice}"
        ) from error
