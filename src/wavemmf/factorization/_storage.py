"""Save a factorization to one file, and load it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._files import atomic_write
from ..errors import FileFormatError, InvalidFactorizationError, TooLargeError
from ._archive import read_archive, write_archive
from ._factorization import Factorization
from ._record import from_record, to_record

__all__ = ["FORMAT_VERSION", "load", "save", "stored"]

#: Version of the layout; files of a later one are refused.
FORMAT_VERSION = 4  # 2: the core may be sparse, the error a bound; 3: compact; 4: rounded levels
# What files without rounded levels are written as.
_UNROUNDED = 3
_FORMAT = "wavemmf-factorization"
# What files of earlier versions do not say: there were no bounds, and no compact levels.
_UNSAID: dict[int, dict[str, Any]] = {
    1: {"error_is_exact": True, "rotations": "full"},
    2: {"rotations": "full"},
}
_INDICES = ("offsets", "groups", "drop_offsets", "wavelets")
_OF_H = ("diagonal_of_h", "core", "core_data")

Array = npt.NDArray[Any]


def save(factorization: Factorization, path: str | os.PathLike[str]) -> None:
    """Write `factorization` to `path`, whole or not at all."""
    values, arrays = stored(factorization)
    version = _UNROUNDED if factorization.rotations.codes is None else FORMAT_VERSION
    with atomic_write(path) as stream:
        write_archive(stream, _FORMAT, version, values, arrays)


def stored(factorization: Factorization) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the values and arrays of a file; numbers take as few bytes as hold them."""
    values, arrays = to_record(factorization)
    codes = factorization.rotations.codes
    narrow = dict(arrays) if codes is None else {**arrays, "blocks": codes}
    for name in _INDICES:
        narrow[name] = arrays[name].astype(np.min_scalar_type(int(arrays[name].max(initial=0))))
    for name in (name for name in _OF_H if name in arrays):
        single = arrays[name].astype(np.float32)
        if np.array_equal(single, arrays[name]):
            narrow[name] = single
    return values, narrow


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
    header, arrays = read_archive(file, _FORMAT, FORMAT_VERSION)
    header = {**_UNSAID.get(header["version"], {}), **header}
    try:
        return from_record(header, arrays)
    except TooLargeError:
        raise
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold a valid factorization: {error}") from error
    except KeyError as error:
        raise FileFormatError(f"{file} is damaged: {error.args[0]} is missing") from error
    except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error
