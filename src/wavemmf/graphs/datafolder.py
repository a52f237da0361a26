"""Find the files of public data sets, and fetch those that have a known address."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from .._files import atomic_write
from ..errors import FileFormatError, InvalidInputError

__all__ = ["Source", "cache_folder", "data_file", "data_folder", "download"]

_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Source:
    """Where a file can be downloaded, and the SHA-256 digest it must have."""

    url: str
    sha256: str


_LEARNMMF = (
    "https://raw.githubusercontent.com/HySonLab/LearnMMF/34c0c68d1c5d9914f1d0cf6a5642a55873031361"
)
_MNIST = "https://raw.githubusercontent.com/kelas/mnist/283b387221ab46655e600cfcc25d843bb14292b9"
_PYGSP = "https://raw.githubusercontent.com/epfl-lts2/pygsp/v0.6.1"

SOURCES = {
    "minnesota/minnesota.mat": Source(
        f"{_PYGSP}/pygsp/data/pointclouds/minnesota.mat",
        "a3cbf534020de2e4cf10fe0d5ba57e903466f5712e757f74e28e0bb91027de08",
    ),
    "mnist/t10k-images-idx3-ubyte.gz": Source(
        f"{_MNIST}/t10k-images-idx3-ubyte.gz",
        "167310007f03058885c7e95e6c0b19c20de5c7fd3031f4cbdadc9014a523d80b",
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": Source(
        f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
        "fc607395669ec21321ea83e4b82c0544b7e8e63ff5b34337c06bc0a17cc0da3c",
    ),
    "LINQS/cora/cora.cites": Source(
        f"{_LEARNMMF}/data/cora/cora.cites",
        "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
    ),
    "LINQS/cora/cora.content": Source(
        f"{_LEARNMMF}/data/cora/cora.content",
        "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
    ),
    "LINQS/citeseer/citeseer.cites": Source(
        f"{_LEARNMMF}/data/citeseer/citeseer.cites",
        "cd9730630eaaa745058c2cd2cce6b9afb79ca71278a479aebec55f4cf5eb7f30",
    ),
    "LINQS/citeseer/citeseer.content": Source(
        f"{_LEARNMMF}/data/citeseer/citeseer.content",
        "de4a3ca98626d77193f27af5c976b981a56080e6273c4e1c05764a95d2143ff8",
    ),
    "LINQS/WebKB/WebKB.cites": Source(
        f"{_LEARNMMF}/data/WebKB/WebKB.cites",
        "96f825f12e01da022650d6a02a8d749ae11aca810608efc8e3d7f468631b5d3a",
    ),
    "LINQS/WebKB/WebKB.content": Source(
        f"{_LEARNMMF}/data/WebKB/WebKB.content",
        "413a93bec3553da5edcf3ef13fdbdd16713f20794d999aff6092bc066507c380",
    ),
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


def data_file(name: str) -> Path:
    """Return the path of a data file, plain or gzipped, downloading it if need be.

    Parameters
    ----------
    name : str
        Relative to the data folder, with forward slashes, as in ``"LINQS/cora/cora.cites"``.

    Raises
    ------
    InvalidInputError
        If the file is not there and cannot be fetched; the message says where to put it. A
        folder chosen with ``WAVEMMF_DATA`` is never written to.
    """
    folder = data_folder()
    forms = (name, f"{name}.gz")
    for form in forms:
        if (folder / form).is_file():
            return folder / form
    known = [form for form in forms if form in SOURCES]
    advice = f"put it at {folder / name}, or set WAVEMMF_DATA to the folder that holds {name}"
    if not known:
        raise InvalidInputError(
            f"data file {name} is missing, and there is no address to fetch it from: {advice}"
        )
    source, target = SOURCES[known[0]], folder / known[0]
    if os.environ.get("WAVEMMF_DATA"):
        raise InvalidInputError(
            f"data file {target} is missing (WAVEMMF_DATA is set, so nothing is downloaded); "
            f"get it from {source.url}, or unset WAVEMMF_DATA"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    download(source, target, advice)
    return target


def download(source: Source, target: Path, advice: str = "") -> None:
    """Fetch a file, verify its digest, and only then let it appear at `target`."""
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(source.url, timeout=_TIMEOUT_SECONDS) as response,
            atomic_write(target) as output,
        ):
            while chunk := response.read(_CHUNK_BYTES):
                digest.update(chunk)
                output.write(chunk)
            if digest.hexdigest() != source.sha256:
                raise FileFormatError(
                    f"{source.url} has SHA-256 {digest.hexdigest()}, expected {source.sha256}; "
                    f"nothing was saved. {advice}"
                )
    except (OSError, HTTPException) as error:
        raise InvalidInputError(
            f"cannot download {source.url} to {target}: {error}. Without network access, {advice}"
        ) from error
