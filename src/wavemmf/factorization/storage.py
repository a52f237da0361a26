"""One file per factorization: a zip archive of plain NumPy arrays and a JSON header.

The members are ``header.json`` and one uncompressed ``.npy`` per array, so the file can be read
by anything that reads zip and NumPy files. Nothing is ever unpickled, sizes are compared with what
the file really holds before anything is allocated, and zip's checksums catch damage.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._files import atomic_write
from .._version import __version__
from ..errors import FileFormatError, InvalidFactorizationError, InvalidInputError
from .factorization import Factorization
from .history import History
from .rotations import Rotations

__all__ = ["FORMAT_VERSION", "load", "save"]

#: Version of the layout; files of a later one are refused.
FORMAT_VERSION = 1
_FORMAT = "wavemmf-factorization"
_HEADER = "header.json"
_LARGEST_HEADER = 64 * 2**20
_ROTATION_ARRAYS = ("offsets", "groups", "blocks", "drop_offsets", "wavelets")
_H_ARRAYS = ("diagonal_of_h", "core")


def save(factorization: Factorization, path: str | os.PathLike[str]) -> None:
    """Write `factorization` to `path`, whole or not at all."""
    header = {
        "format": _FORMAT,
        "version": FORMAT_VERSION,
        "written_by": f"wavemmf {__version__}",
        "n": factorization.n,
        "matrix_norm": factorization.matrix_norm,
        "residual_norm": factorization.residual_norm,
        "history": factorization.history.to_json(),
        "parameters": factorization.parameters,
    }
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_member(_HEADER), json.dumps(header, indent=1))
        for name in _ROTATION_ARRAYS:
            _write_array(archive, name, getattr(factorization.rotations, name))
        for name in _H_ARRAYS:
            _write_array(archive, name, getattr(factorization, name))


def load(path: str | os.PathLike[str]) -> Factorization:
    """Read a factorization written by `Factorization.save`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Factorization

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If the file is truncated, damaged, of another kind, or of a later version.

    Examples
    --------
    >>> import tempfile, pathlib, wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f.save(pathlib.Path(folder) / "karate.mmf")
    ...     g = wm.load(pathlib.Path(folder) / "karate.mmf")
    >>> g.error() == f.error()
    True
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(f"no such file: {file}")
    try:
        with zipfile.ZipFile(file) as archive:
            header = _read_header(archive, file)
            arrays = {
                name: _read_array(archive, name, file) for name in _ROTATION_ARRAYS + _H_ARRAYS
            }
        rotations = Rotations(int(header["n"]), *(arrays[name] for name in _ROTATION_ARRAYS))
        return Factorization(
            rotations,
            diagonal_of_h=arrays["diagonal_of_h"],
            core=arrays["core"],
            matrix_norm=header["matrix_norm"],
            residual_norm=header["residual_norm"],
            history=History.from_json(header["history"]),
            parameters=dict(header["parameters"]),
        )
    except zipfile.BadZipFile as error:
        raise FileFormatError(f"{file} is not a whole wavemmf file: {error}") from error
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold a valid factorization: {error}") from error
    except FileFormatError:
        raise
    except (
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        EOFError,
        OSError,
        RuntimeError,
    ) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _member(name: str) -> zipfile.ZipInfo:
    # A fixed date, so that the same factorization always gives the same bytes.
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
    with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, little_endian, allow_pickle=False)


def _read_header(archive: zipfile.ZipFile, file: Path) -> dict[str, Any]:
    if _HEADER not in archive.namelist():
        raise FileFormatError(f"{file} is a zip archive but not a wavemmf file: no {_HEADER}")
    if archive.getinfo(_HEADER).file_size > _LARGEST_HEADER:
        raise FileFormatError(f"{file} is damaged: its header claims an absurd size")
    header = json.loads(archive.read(_HEADER))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FileFormatError(f"{file} is not a wavemmf factorization")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise FileFormatError(f"{file} is damaged: its version is {version!r}")
    if version > FORMAT_VERSION:
        raise FileFormatError(
            f"{file} has format version {version} (written by {header.get('written_by')}); "
            f"this is wavemmf {__version__}, which reads up to version {FORMAT_VERSION}: upgrade it"
        )
    return header


def _read_array(archive: zipfile.ZipFile, name: str, file: Path) -> npt.NDArray[Any]:
    member = f"{name}.npy"
    if member not in archive.namelist():
        raise FileFormatError(f"{file} is damaged: {member} is missing")
    info = archive.getinfo(member)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > file.stat().st_size:
        raise FileFormatError(f"{file} is damaged: {member} claims more than the file holds")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        reader = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = reader(stream)
        claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or fortran or claimed != info.file_size - stream.tell():
            raise FileFormatError(f"{file} is damaged: {member} has a wrong header")
        values = np.frombuffer(stream.read(), dtype=dtype)
    return values.reshape(shape)
