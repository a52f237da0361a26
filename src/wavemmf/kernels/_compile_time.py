"""When kernels are compiled: a notice, once, and stopwatches that do not count it."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

from .._progress import is_terminal

__all__ = ["Stopwatch", "compiling", "compiling_seconds", "watch_compilations"]

logger = logging.getLogger("wavemmf")

#: ``WAVEMMF_NOTICE=0`` silences the notice, 1 shows it wherever standard error leads.
NOTICE = "WAVEMMF_NOTICE"
_MESSAGE = (
    "compiling numerical kernels, once (some 20 seconds; `wavemmf warmup` compiles all of them)"
)


class _Clock:
    """Adds up the time during which at least one thread compiles, or waits for it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._running = 0
        self._started = 0.0

    def start(self) -> None:
        with self._lock:
            if self._running == 0:
                self._started = time.perf_counter()
            self._running += 1

    def stop(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self.seconds += time.perf_counter() - self._started


_CLOCK = _Clock()


@contextmanager
def compiling() -> Iterator[None]:
    """Count the time of the block as spent compiling, or loading what was compiled.

    Examples
    --------
    >>> before = compiling_seconds()
    >>> with compiling():
    ...     pass
    >>> compiling_seconds() > before
    True
    """
    _CLOCK.start()
    try:
        yield
    finally:
        _CLOCK.stop()


class _Notice(event.Listener):  # type: ignore[misc]
    """Tell the user, once per process, that something is compiled."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, event: event.Event) -> None:
        """Tell, if it is a kernel."""
        if not self._told and event.data["dispatcher"].py_func.__module__.startswith("wavemmf"):
            self._told = True
            _tell()

    def on_end(self, event: event.Event) -> None:
        """Nothing to do; the base class asks for it."""


@functools.cache
def watch_compilations() -> None:
    """Listen to Numba; a second call does nothing."""
    event.register("numba:compile", _Notice())


def compiling_seconds() -> float:
    """Return how long this process has spent compiling.

    Examples
    --------
    >>> compiling_seconds() >= 0.0
    True
    """
    return _CLOCK.seconds


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
