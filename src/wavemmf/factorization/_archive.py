"""One file of plain NumPy arrays and a JSON header, in a zip archive.

The members are ``header.json`` and one uncompressed ``.npy`` per array, so the file can be read
by anything that reads zip and NumPy files. Nothing is ever unpickled, sizes are compared with what
the file really holds before anything is allocated, and zip's checksums catch damage (except in
large arrays, which are mapped into memory rather than read).
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .._json import exact_json, read_exact_json
from .._version import __version__
from ..errors import FileFormatError, InvalidInputError
from ..io._matrixfiles import npy_header

__all__ = ["read_archive", "write_archive"]

_HEADER = "header.json"
_LARGEST_HEADER = 256 * 2**20
# Arrays of this many bytes and more are mapped into memory, not read: pages come as they are used.
_MAP_FROM = 64 * 2**20
# Fixed part of the header that precedes a member in a zip file, and where it tells two lengths.
_LOCAL_HEADER, _LENGTHS = 30, slice(26, 30)
# What json, NumPy (whose headers are Python literals) and zipfile raise for damaged members.
# What files of trained things say at their beginning, what they are, and what loads them.
_TRAINED = {
    b"wavemmf-policy": ("a policy", "wavemmf.rl.load_policy"),
    b"wavemmf-net": ("a network", "wavemmf.nn.load_net"),
}
_LOOKED_AT = 2**20
_DAMAGE = (
    KeyError, TypeError, ValueError, OverflowError, EOFError, OSError, RuntimeError, SyntaxError,
    tokenize.TokenError, zlib.error,
)  # fmt: skip


def write_archive(
    stream: IO[bytes],
    file_format: str,
    version: int,
    header: dict[str, Any],
    arrays: dict[str, npt.NDArray[Any]],
) -> None:
    """Write header and arrays; the same content always gives the same bytes."""
    complete = {
        "format": file_format,
        "version": version,
        "written_by": f"wavemmf {__version__}",
        **header,
    }
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_member(_HEADER), exact_json(complete))
        for name, array in arrays.items():
            _write_array(archive, name, array)


def read_archive(
    file: Path, file_format: str, version: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read header and arrays of a file written by `write_archive`.

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If the file is truncated, damaged, of another kind, or of a later version.
    """
    if not file.is_file():
        raise InvalidInputError(f"no such file: {file}")
    try:
        with zipfile.ZipFile(file) as archive:
            header = _read_header(archive, file, file_format, version)
            names = [name for name in archive.namelist() if name != _HEADER]
            arrays = {name.removesuffix(".npy"): _read_array(archive, name, file) for name in names}
        return header, arrays
    except zipfile.BadZipFile as error:
        _say_if_trained(file)
        raise FileFormatError(f"{file} is not a whole wavemmf file: {error}") from error
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _say_if_trained(file: Path) -> None:
    """Name what loads a policy or a network, which are files of another format."""
    with file.open("rb") as stream:
        start = stream.read(_LOOKED_AT)
    for mark, (kind, loader) in _TRAINED.items():
        if mark in start:
            raise FileFormatError(f"{file} is {kind}, not a factorization: {loader} loads it")


def _member(name: str) -> zipfile.ZipInfo:
    # A fixed date, so that the bytes depend on the content alone.
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
    with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, little_endian, allow_pickle=False)


def _read_header(
    archive: zipfile.ZipFile, file: Path, file_format: str, newest: int
) -> dict[str, Any]:
    if _HEADER not in archive.namelist():
        raise FileFormatError(f"{file} is a zip archive but not a wavemmf file: no {_HEADER}")
    info = archive.getinfo(_HEADER)
    if info.file_size > min(_LARGEST_HEADER, file.stat().st_size):
        raise FileFormatError(f"{file} is damaged: its header claims an absurd size")
    header = read_exact_json(archive.read(_HEADER))
    if not isinstance(header, dict) or header.get("format") != file_format:
        raise FileFormatError(f"{file} is not a {file_format} file")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise FileFormatError(f"{file} is damaged: its version is {version!r}")
    if version > newest:
        raise FileFormatError(
            f"{file} has format version {version} (written by {header.get('written_by')}); "
            f"this is wavemmf {__version__}, which reads up to version {newest}: upgrade it"
        )
    return header


def _read_array(archive: zipfile.ZipFile, member: str, file: Path) -> npt.NDArray[Any]:
    info = archive.getinfo(member)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > file.stat().st_size:
        raise FileFormatError(f"{file} is damaged: {member} claims more than the file holds")
    with archive.open(info) as stream:
        shape, fortran, dtype = npy_header(stream)
        claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or fortran or claimed != info.file_size - stream.tell():
            raise FileFormatError(f"{file} is damaged: {member} has a wrong header")
        if claimed >= _MAP_FROM:
            start = _start_of(info, file) + stream.tell()
            return np.memmap(file, dtype, mode="r", offset=start, shape=shape)
        values = np.frombuffer(stream.read(), dtype=dtype)
    return values.reshape(shape)


def _start_of(info: zipfile.ZipInfo, file: Path) -> int:
    """Where the bytes of an uncompressed member begin in the file."""
    with file.open("rb") as stream:
        stream.seek(info.header_offset)
        header = stream.read(_LOCAL_HEADER)
    name, extra = struct.unpack("<HH", header[_LENGTHS])
    return int(info.header_offset) + _LOCAL_HEADER + int(name) + int(extra)
