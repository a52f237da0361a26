"""Results of many runs in a folder, so that an interrupted study goes on where it was."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._files import atomic_write, warn_if_not_kept
from .._json import json_text
from ..errors import InvalidInputError

__all__ = ["ResultStore", "compared", "mean_and_error"]

Kept = TypeVar("Kept")


class ResultStore:
    """One JSON file per run, found by the name of the run.

    Parameters
    ----------
    folder : path
        Made if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> store = ResultStore(tempfile.mkdtemp())
    >>> store.save(("cora", 0), "key", {"accuracy": 0.9})
    >>> store.load(("cora", 0), "key", dict)
    {'accuracy': 0.9}
    >>> store.load(("cora", 0), "another key", dict) is None
    True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"cannot keep results in {folder}: {error}") from error

    def load(self, name: Sequence[Any], key: str, make: Callable[..., Kept]) -> Kept | None:
        """Return ``make(**result)`` if the run was kept and has the same key, else None.

        The key is that of `wavemmf._fingerprint`: of the data, all settings and the code.
        """
        path = self._path(name)
        if not path.is_file():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["key"] != key or not _all_numbers(content["result"]):
                return None
            return make(**content["result"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return None  # damaged or foreign: computed again and replaced

    def save(self, name: Sequence[Any], key: str, result: dict[str, Any]) -> None:
        """Keep the result of a run, as plain values, if the disk allows it."""
        content = {"run": list(name), "key": key, "result": result}
        path = self._path(name)
        with warn_if_not_kept(f"the run {path.stem}"), atomic_write(path) as stream:
            stream.write(json_text(content).encode("utf-8"))

    def _path(self, name: Sequence[Any]) -> Path:
        return self.folder / ("_".join(map(str, name)).replace("/", "-") + ".json")


def _all_numbers(result: Any) -> bool:
    """Whether results are finite numbers and lists of them, which all outcomes are made of."""
    if isinstance(result, dict):
        return all(map(_all_numbers, result.values()))
    if isinstance(result, list):
        return all(map(_all_numbers, result))
    return type(result) in (int, float) and math.isfinite(result)


def compared(results: Sequence[Any]) -> list[dict[str, Any]]:
    """Return what is told of each result; if there are several, also how much better the first is.

    Parameters
    ----------
    results : sequence of NodeClassification or of GraphClassification
        On the same data.
    """
    told: list[dict[str, Any]] = [result.to_json() for result in results]
    if len(results) > 1:
        for result, entry in zip(results, told, strict=True):
            mean, error = results[0].better_by(result)
            entry["difference_mean"], entry["difference_standard_error"] = mean, error
    return told


def mean_and_error(differences: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of paired differences and its standard error, 0 for a single one.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    if differences.size == 1:
        return float(differences[0]), 0.0
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(differences.size))
