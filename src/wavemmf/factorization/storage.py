"""Save a factorization to one file, and load it."""

from __future__ import annotations

import os
from pathlib import Path

from .._files import atomic_write
from ..errors import FileFormatError, InvalidFactorizationError
from .archive import read_archive, write_archive
from .factorization import Factorization
from .history import History
from .rotations import Rotations

__all__ = ["FORMAT_VERSION", "load", "save"]

#: Version of the layout; files of a later one are refused.
FORMAT_VERSION = 1
_FORMAT = "wavemmf-factorization"
_ROTATION_ARRAYS = ("offsets", "groups", "blocks", "drop_offsets", "wavelets")
_H_ARRAYS = ("diagonal_of_h", "core")


def save(factorization: Factorization, path: str | os.PathLike[str]) -> None:
    """Write `factorization` to `path`, whole or not at all."""
    header = {
        "n": factorization.n,
        "matrix_norm": factorization.matrix_norm,
        "residual_norm": factorization.residual_norm,
        "history": factorization.history.to_json(),
        "parameters": factorization.parameters,
    }
    arrays = {name: getattr(factorization.rotations, name) for name in _ROTATION_ARRAYS}
    arrays |= {name: getattr(factorization, name) for name in _H_ARRAYS}
    with atomic_write(path) as stream:
        write_archive(stream, _FORMAT, FORMAT_VERSION, header, arrays)


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
    missing = [name for name in _ROTATION_ARRAYS + _H_ARRAYS if name not in arrays]
    if missing:
        raise FileFormatError(f"{file} is damaged: {missing[0]}.npy is missing")
    try:
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
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold a valid factorization: {error}") from error
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error
