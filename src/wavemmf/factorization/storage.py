"""Save a factorization to one file, and load it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from .._files import atomic_write
from ..errors import FileFormatError, InvalidFactorizationError
from .archive import read_archive, write_archive
from .factorization import Factorization
from .history import History
from .rotations import Rotations

__all__ = ["FORMAT_VERSION", "load", "save"]

#: Version of the layout; files of a later one are refused.
FORMAT_VERSION = 2  # 2: the core may be sparse, the error may be a bound
_FORMAT = "wavemmf-factorization"
_ROTATION_ARRAYS = ("offsets", "groups", "blocks", "drop_offsets", "wavelets")
_SPARSE_CORE = ("core_data", "core_indices", "core_indptr")


def save(factorization: Factorization, path: str | os.PathLike[str]) -> None:
    """Write `factorization` to `path`, whole or not at all."""
    header = {
        "n": factorization.n,
        "matrix_norm": factorization.matrix_norm,
        "residual_norm": factorization.residual_norm,
        "error_is_exact": factorization.error_is_exact,
        "history": factorization.history.to_json(),
        "parameters": factorization.parameters,
    }
    arrays = {name: getattr(factorization.rotations, name) for name in _ROTATION_ARRAYS}
    arrays["diagonal_of_h"] = factorization.diagonal_of_h
    core = factorization.core
    if sp.issparse(core):
        arrays |= dict(zip(_SPARSE_CORE, (core.data, core.indices, core.indptr), strict=True))
    else:
        arrays["core"] = core
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
    core = _SPARSE_CORE if _SPARSE_CORE[0] in arrays else ("core",)
    needed = (*_ROTATION_ARRAYS, "diagonal_of_h", *core)
    missing = [name for name in needed if name not in arrays]
    if missing:
        raise FileFormatError(f"{file} is damaged: {missing[0]}.npy is missing")
    try:
        rotations = Rotations(int(header["n"]), *(arrays[name] for name in _ROTATION_ARRAYS))
        return Factorization(
            rotations,
            diagonal_of_h=arrays["diagonal_of_h"],
            core=_core(arrays, rotations.core.size),
            matrix_norm=header["matrix_norm"],
            residual_norm=header["residual_norm"],
            history=History.from_json(header["history"]),
            parameters=dict(header["parameters"]),
            error_is_exact=bool(header.get("error_is_exact", True)),
        )
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold a valid factorization: {error}") from error
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _core(arrays: dict[str, Any], size: int) -> Any:
    if "core" in arrays:
        return arrays["core"]
    core = sp.csr_array(tuple(arrays[name] for name in _SPARSE_CORE), shape=(size, size))
    core.check_format(full_check=True)  # indices from a file may point anywhere
    return core
