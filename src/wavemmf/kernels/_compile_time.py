"""When kernels are compiled: a notice, once, and stopwatches that do not count it."""

from __future__ import annotations

import functools
import logging
import os
import sys
import time

from numba.core import event

from .._progress import is_terminal

__all__ = ["Stopwatch", "compiling_seconds", "watch_compilations"]

logger = logging.getLogger("wavemmf")

#: ``WAVEMMF_NOTICE=0`` silences the notice, 1 shows it wherever standard error leads.
NOTICE = "WAVEMMF_NOTICE"
_MESSAGE = (
    "compiling numerical kernels, once (some 20 seconds; `wavemmf warmup` compiles all of them)"
)


class _Compilations(event.Listener):  # type: ignore[misc]
    """Adds up the time spent compiling. One compilation runs at a time, others inside of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._running = 0
        self._started = 0.0
        self._told = False

    def on_start(self, event: event.Event) -> None:
        """Start to count, unless this is part of another compilation."""
        if self._running == 0:
            self._started = time.perf_counter()
        self._running += 1
        if not self._told and event.data["dispatcher"].py_func.__module__.startswith("wavemmf"):
            self._told = True
            _tell()

    def on_end(self, event: event.Event) -> None:
        """Add what the outermost compilation took."""
        self._running -= 1
        if self._running == 0:
            self.seconds += time.perf_counter() - self._started


_COMPILATIONS = _Compilations()


@functools.cache
def watch_compilations() -> None:
    """Listen to Numba; a second call does nothing."""
    event.register("numba:compile", _COMPILATIONS)


def compiling_seconds() -> float:
    """Return how long this process has spent compiling.

    Examples
    --------
    >>> compiling_seconds() >= 0.0
    True
    """
    return _COMPILATIONS.seconds


class Stopwatch:
    """Measures time from when it is made or restarted, without what compiling took.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> watch.seconds() >= 0.0
    True
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin again at zero."""
        self._started = time.perf_counter()
        self._compiled = compiling_seconds()

    def seconds(self) -> float:
        """Return the time since the start."""
        passed = time.perf_counter() - self._started
        return max(passed - (compiling_seconds() - self._compiled), 0.0)


def _tell() -> None:
    logger.info(_MESSAGE)
    chosen = os.environ.get(NOTICE)
    notebook = "ipykernel" in sys.modules
    if chosen == "1" or (chosen != "0" and (notebook or is_terminal(sys.stderr))):
        print(f"wavemmf: {_MESSAGE} ...", file=sys.stderr, flush=True)
