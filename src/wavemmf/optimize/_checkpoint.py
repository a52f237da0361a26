"""Keep the state of a long optimisation on disk, and take it up again exactly."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from .._files import atomic_write, check_regular
from ..errors import FileFormatError, InvalidInputError
from ..factorization._archive import read_archive, write_archive

__all__ = ["Checkpoint", "check_checkpoint", "check_state"]

_FORMAT = "wavemmf-checkpoint"
_VERSION = 1
_RECORDS = ("values", "errors", "seconds")


def check_state(state: dict[str, Any], like: dict[str, Any]) -> None:
    """Refuse a state whose arrays do not fit: kernels trust the sizes they are told.

    Parameters
    ----------
    state : dict
        What a file held.
    like : dict
        The state of a run that has just begun. Its records have one entry and grow together; what
        an optimiser remembers grows from nothing; all other arrays keep their shapes.

    Raises
    ------
    ValueError, TypeError, KeyError
        With what does not fit.

    Examples
    --------
    >>> begun = {"blocks": np.zeros(4), "values": np.zeros(1)}
    >>> check_state({"blocks": np.zeros(4), "values": np.zeros(7)}, begun)
    >>> check_state({"blocks": np.zeros(3), "values": np.zeros(7)}, begun)
    Traceback (most recent call last):
    ...
    ValueError: blocks must be float64 of shape (4,), got float64 of shape (3,)
    """
    steps = np.shape(state["values"])
    if len(steps) != 1 or steps[0] < 1:
        raise ValueError(f"values must be a list of at least one number, got shape {steps}")
    for name, own in like.items():
        if not isinstance(own, np.ndarray):
            float(state[name])
            continue
        given = np.asarray(state[name])
        fits = own.shape
        if name in _RECORDS:
            fits = steps
        elif own.shape[0] == 0:
            fits = (*given.shape[:1], *own.shape[1:])
        if given.dtype != own.dtype or given.shape != fits:
            raise ValueError(
                f"{name} must be {own.dtype} of shape {fits}, got {given.dtype} of shape "
                f"{given.shape}"
            )


def check_checkpoint(path: str | os.PathLike[str] | None, seconds: Any) -> None:
    """Explain before any long work why there cannot be such a checkpoint, if one is wanted.

    Examples
    --------
    >>> check_checkpoint("state.ckpt", 30.0)
    """
    if not (isinstance(seconds, (int, float)) and np.isfinite(seconds) and seconds >= 0):
        raise InvalidInputError(f"checkpoint_seconds must be a finite number >= 0, got {seconds!r}")
    if path is not None:
        check_regular(path)


class Checkpoint:
    """A file that is rewritten now and then, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file.
    identity : str
        Fingerprint of the problem and the settings; a file of another problem is refused.
    seconds : float
        Time between two writes.
    """

    def __init__(self, path: str | os.PathLike[str], identity: str, seconds: float = 30.0) -> None:
        check_checkpoint(path, seconds)
        self.path = Path(path)
        self.identity = identity
        self.seconds = seconds
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the saved state, or None if there is none yet."""
        if not self.path.exists():
            return None
        header, arrays = read_archive(Path(self.path), _FORMAT, _VERSION)
        if header.get("identity") != self.identity:
            raise InvalidInputError(
                f"the checkpoint {self.path} belongs to another matrix, other indices or other "
                "settings, or to another version of wavemmf; remove it or name another file"
            )
        try:
            return {**header["values"], **arrays}
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"{self.path} is damaged: {error}") from error

    def save_if_due(self, state: dict[str, Any]) -> None:
        """Write the state if enough time has passed since the last write."""
        if time.monotonic() - self._last >= self.seconds:
            self.save(state)

    def save(self, state: dict[str, Any]) -> None:
        """Write the state now."""
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        values = {name: value for name, value in state.items() if name not in arrays}
        header = {"identity": self.identity, "values": values}
        with atomic_write(self.path) as stream:
            write_archive(stream, _FORMAT, _VERSION, header, arrays)
        self._last = time.monotonic()

    def remove(self) -> None:
        """Delete the file, not a link to it: the work is done."""
        self.path.resolve().unlink(missing_ok=True)
