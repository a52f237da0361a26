"""Many factorizations in one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._files import atomic_write
from ..errors import FileFormatError, InvalidFactorizationError
from .archive import read_archive, write_archive
from .factorization import Factorization
from .history import History
from .rotations import Rotations

__all__ = ["COLLECTION_VERSION", "load_collection", "save_collection"]

#: Version of the layout; files of a later one are refused.
COLLECTION_VERSION = 1
_FORMAT = "wavemmf-collection"
_ROTATION_ARRAYS = ("offsets", "groups", "blocks", "drop_offsets", "wavelets")
_RECORDS = ("errors", "seconds")
_ARRAYS = (*_ROTATION_ARRAYS, "diagonal_of_h", "core", *_RECORDS)


def save_collection(factorizations: Sequence[Factorization], path: str | os.PathLike[str]) -> None:
    """Write factorizations with dense cores to `path`, whole or not at all.

    Every array of the file holds those of all factorizations, one after the other.

    Examples
    --------
    >>> import tempfile, wavemmf as wm
    >>> f = wm.factorize(wm.graphs.cycle(8), core=2, k=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_collection([f, f], Path(folder, "two.mmfs"))
    ...     len(load_collection(Path(folder, "two.mmfs")))
    2
    """
    parts = {name: [_part(f, name) for f in factorizations] for name in _ARRAYS}
    arrays = {name: _join(pieces) for name, pieces in parts.items()}
    lengths = np.array([[piece.size for piece in parts[name]] for name in _ARRAYS], np.int64)
    arrays["lengths"] = lengths.reshape(len(_ARRAYS), len(factorizations))
    header = {
        "n": [f.n for f in factorizations],
        "matrix_norm": [f.matrix_norm for f in factorizations],
        "residual_norm": [f.residual_norm for f in factorizations],
        "history": [_without_records(f.history) for f in factorizations],
        "parameters": [f.parameters for f in factorizations],
    }
    with atomic_write(path) as stream:
        write_archive(stream, _FORMAT, COLLECTION_VERSION, header, arrays)


def load_collection(path: str | os.PathLike[str]) -> list[Factorization]:
    """Read what `save_collection` wrote.

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If the file is truncated, damaged, of another kind, or of a later version.
    """
    file = Path(path)
    header, arrays = read_archive(file, _FORMAT, COLLECTION_VERSION)
    try:
        lengths = arrays["lengths"]
        pieces = {
            name: np.split(arrays[name], np.cumsum(lengths[row])[:-1])
            for row, name in enumerate(_ARRAYS)
        }
        return [
            _build({name: pieces[name][i] for name in _ARRAYS}, header, i)
            for i in range(len(header["n"]))
        ]
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold valid factorizations: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _part(factorization: Factorization, name: str) -> Any:
    owner: Any = factorization
    if name in _ROTATION_ARRAYS:
        owner = factorization.rotations
    elif name in _RECORDS:
        owner = factorization.history
    return np.asarray(getattr(owner, name)).ravel()


def _without_records(history: History) -> dict[str, Any]:
    # Long lists of numbers are kept as arrays.
    return {name: value for name, value in history.to_json().items() if name not in _RECORDS}


def _join(pieces: list[Any]) -> Any:
    return np.concatenate(pieces) if pieces else np.empty(0)


def _build(arrays: dict[str, Any], header: dict[str, Any], i: int) -> Factorization:
    rotations = Rotations(int(header["n"][i]), *(arrays[name] for name in _ROTATION_ARRAYS))
    size = rotations.core.size
    return Factorization(
        rotations,
        diagonal_of_h=arrays["diagonal_of_h"],
        core=arrays["core"].reshape(size, size),
        matrix_norm=header["matrix_norm"][i],
        residual_norm=header["residual_norm"][i],
        history=History.from_json(
            {**header["history"][i], **{name: arrays[name].tolist() for name in _RECORDS}}
        ),
        parameters=dict(header["parameters"][i]),
    )
