"""Results on disk, found again by what they were computed from."""

from __future__ import annotations

import os
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._files import atomic_write, warn_if_not_kept
from ._fingerprint import fingerprint
from .datasets import cache_folder
from .errors import FileFormatError, InputTypeError, InvalidInputError
from .factorization import Factorization
from .factorization._collection import COLLECTION_VERSION, load_collection, save_collection
from .graphs import partitioner

__all__ = ["ResultCache", "decisive", "open_cache"]

# Settings of `factorize` that say how, not what: the result is the same whatever they are.
_INDIFFERENT = ("executor", "progress")


def decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `wavemmf.factorize` that its result depends on.

    Examples
    --------
    >>> decisive({"k": 4, "progress": print})
    {'k': 4}
    """
    return {name: value for name, value in settings.items() if name not in _INDIFFERENT}


def open_cache(cache: bool | str | os.PathLike[str] | None) -> ResultCache | None:
    """Return the cache that the user asked for: none, that of the user, or a folder.

    Examples
    --------
    >>> open_cache(None) is None
    True
    """
    if cache is None or cache is False:
        return None
    if cache is True:
        return ResultCache(cache_folder() / "factorizations")
    if not isinstance(cache, (str, os.PathLike)):
        raise InputTypeError(f"cache must be True, a folder or None, got {type(cache).__name__}")
    return ResultCache(Path(cache))


class ResultCache:
    """A folder of files named by the digest of what is in them.

    Files appear whole or not at all, and the same name always means the same content: any number
    of processes may read and write at the same time.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"cannot use {folder} as a cache: {error}") from error

    def key(self, matrices: Sequence[Any], settings: dict[str, Any]) -> str:
        """Return the name under which the results of `matrices` are kept.

        Raises
        ------
        InputTypeError
            If a setting, such as a selector, cannot be told apart by its content.
        """
        return fingerprint(
            "factorizations",
            layout=COLLECTION_VERSION,
            matrices=list(matrices),
            partitioner=partitioner(),
            settings=decisive(settings),
        )

    def load(self, key: str, count: int) -> list[Factorization] | None:
        """Return what is kept, if it is there and whole."""
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            found = load_collection(path)
        except (FileFormatError, InvalidInputError, OSError) as error:
            warnings.warn(f"computing again what the cache has lost: {error}", stacklevel=2)
            return None
        if len(found) != count:
            warnings.warn(f"{path} is damaged, and computed again", stacklevel=2)
            return None
        return found

    def save(self, key: str, results: Sequence[Factorization]) -> None:
        """Keep results, if the disk allows it; a large sparse core is not worth it."""
        if any(sp.issparse(result.core) for result in results):
            return
        with warn_if_not_kept("factorizations"):
            save_collection(results, self._path(key))

    def load_arrays(self, key: str, names: Sequence[str]) -> dict[str, Any] | None:
        """Return the arrays that are kept under these names, if they are there and whole."""
        path = self.folder / f"{key}.npz"
        if not path.is_file():
            return None
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                return {name: content[name] for name in names}
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            warnings.warn(f"computing again what the cache has lost: {error}", stacklevel=2)
            return None

    def save_arrays(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Keep arrays, if the disk allows it."""
        with warn_if_not_kept("arrays"), atomic_write(self.folder / f"{key}.npz") as stream:
            np.savez(stream, **arrays)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.mmfs"
