"""Many factorizations in one file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._files import atomic_write
from ..errors import FileFormatError, InvalidFactorizationError, TooLargeError
from ._archive import read_archive, write_archive
from ._factorization import Factorization
from ._record import ARRAYS, from_record, to_record

__all__ = ["COLLECTION_VERSION", "load_collection", "save_collection"]

#: Version of the layout; those since 2 are read.
COLLECTION_VERSION = 3  # 2: cores may be sparse, errors bounds; 3: levels may be compact
_FORMAT = "wavemmf-collection"
_RECORDS = ("errors", "seconds")  # of the history; long lists of numbers are kept as arrays
_NAMES = (*ARRAYS, *_RECORDS)
_NOTHING = np.empty(0)
_UNSAID = {"rotations": "full"}  # by files of version 2
# What records raise that are not what they should be.
_DAMAGE = (
    KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, RecursionError,
)  # fmt: skip


def save_collection(factorizations: Sequence[Factorization], path: str | os.PathLike[str]) -> None:
    """Write factorizations to `path`, whole or not at all.

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
    records = [_to_flat_record(f) for f in factorizations]
    parts = {name: [arrays.get(name, _NOTHING) for _, arrays in records] for name in _NAMES}
    joined = {name: _join(pieces) for name, pieces in parts.items()}
    # -1 for an array that a factorization does not have: that of a sparse core, or of a dense one.
    lengths = np.array(
        [[arrays[name].size if name in arrays else -1 for _, arrays in records] for name in _NAMES],
        np.int64,
    ).reshape(len(_NAMES), len(records))
    header = {"records": [values for values, _ in records]}
    with atomic_write(path) as stream:
        write_archive(stream, _FORMAT, COLLECTION_VERSION, header, {**joined, "lengths": lengths})


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
    if header["version"] < 2:
        raise FileFormatError(
            f"{file} has format version {header['version']}, which does not tell errors from "
            "bounds; compute it again"
        )
    try:
        lengths = arrays["lengths"]
        pieces = {name: _split(arrays[name], lengths[row]) for row, name in enumerate(_NAMES)}
        return [
            _from_flat_record({**_UNSAID, **values}, {name: pieces[name][i] for name in _NAMES})
            for i, values in enumerate(header["records"])
        ]
    except TooLargeError:
        raise
    except InvalidFactorizationError as error:
        raise FileFormatError(f"{file} does not hold valid factorizations: {error}") from error
    except _DAMAGE as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _to_flat_record(f: Factorization) -> tuple[dict[str, Any], dict[str, Any]]:
    values, arrays = to_record(f)
    history = dict(values["history"])
    flat = {name: array.ravel() for name, array in arrays.items()}
    flat |= {name: np.array(history.pop(name), np.float64) for name in _RECORDS}
    return {**values, "history": history}, flat


def _from_flat_record(values: dict[str, Any], flat: dict[str, Any]) -> Factorization:
    arrays = {name: array for name, array in flat.items() if array is not None}
    records = {name: arrays.pop(name).tolist() for name in _RECORDS}
    if "core" in arrays:
        size = math.isqrt(arrays["core"].size)
        arrays["core"] = arrays["core"].reshape(size, size)
    return from_record({**values, "history": {**values["history"], **records}}, arrays)


def _join(pieces: list[Any]) -> Any:
    there = [piece for piece in pieces if piece is not _NOTHING]
    return np.concatenate(there) if there else _NOTHING


def _split(joined: Any, lengths: Any) -> list[Any]:
    """Cut an array into the pieces of all factorizations; None for those that have none."""
    ends = np.cumsum(np.maximum(lengths, 0))
    if ends.size and ends[-1] != joined.size:
        raise ValueError(f"lengths add up to {ends[-1]}, but {joined.size} numbers are there")
    return [
        joined[end - length : end] if length >= 0 else None
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]
