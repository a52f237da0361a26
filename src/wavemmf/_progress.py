"""Progress on standard error: a bar on a terminal and in notebooks, silence anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

__all__ = ["Progress", "is_notebook", "is_terminal", "progress_bar", "progress_shown", "silent"]

# Seconds that work may take before a bar appears, and between two lines of text.
_PATIENCE = 2.0
_EVERY = 0.2
_WIDTH = 30
# A terminal has room for one bar.
_one_at_a_time = threading.Lock()

#: ``progress(done, total, note)`` is called now and then by long computations. A note that ends in
#: a newline stays on the screen, others are replaced by the next.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Progress nothing."""


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream of this process is a terminal; one that was closed is not.

    Examples
    --------
    >>> is_terminal(None)
    False
    """
    return stream is not None and not stream.closed and stream.isatty()


def is_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook.

    Examples
    --------
    >>> is_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def progress_shown(description: str, progress: Progress | bool | None) -> Iterator[Progress]:
    """Yield the `Progress` that a user asked for.

    Parameters
    ----------
    description : str
        What is being done.
    progress : callable, bool or None
        What is called instead of a bar; a bar, or none; None for one that appears when the work
        takes longer than two seconds, on a terminal or in a notebook.

    Examples
    --------
    >>> with progress_shown("factorizing", False) as progress:
    ...     progress(1, 10, "")
    """
    if callable(progress):
        yield progress
        return
    if progress is None:
        wait, wanted = _PATIENCE, is_notebook() or is_terminal(sys.stderr)
    else:
        wait, wanted = 0.0, bool(progress)
    if not wanted:
        yield silent
        return
    with ExitStack() as bars:
        yield _Late(bars, description, wait)


class _Late:
    """Draws a bar once the work has taken a while."""

    def __init__(self, bars: ExitStack, description: str, wait: float) -> None:
        self.bars, self.description = bars, description
        self.due = time.monotonic() + wait
        self.bar: Progress | None = None

    def __call__(self, done: int, total: int, note: str = "") -> None:
        if self.bar is None and time.monotonic() >= self.due:
            self.bar = self.bars.enter_context(progress_bar(self.description, True))
        if self.bar is not None:
            self.bar(done, total, note)


@contextmanager
def _line_of_text(description: str) -> Iterator[Progress]:
    """Yield a `Progress` that writes one line over and over, as notebooks and files show it."""
    began = time.monotonic()
    written = -1.0

    def progress(done: int, total: int, note: str = "") -> None:
        nonlocal written
        now = time.monotonic()
        if now - written < _EVERY and done < total:
            return
        written = now
        left = (now - began) / max(done, 1) * (total - done)
        filled = _WIDTH * done // max(total, 1)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        line = f"{description} {bar} {done}/{total}, {left:.0f} s left {note.strip()}"
        print(f"\r{line:<100}", end="", file=sys.stderr, flush=True)

    try:
        yield progress
    finally:
        print(file=sys.stderr)


@contextmanager
def progress_bar(description: str, enabled: bool | None = None) -> Iterator[Progress]:
    """Yield a `Progress` that draws a progress bar while the block runs.

    Parameters
    ----------
    description : str
        What is being done.
    enabled : bool, optional
        Whether to draw; by default only if standard error is a terminal.

    Examples
    --------
    >>> with progress_bar("factorizing", enabled=False) as progress:
    ...     progress(1, 10, "")
    """
    if not (is_terminal(sys.stderr) if enabled is None else enabled):
        yield silent
        return
    if not _one_at_a_time.acquire(blocking=False):
        yield silent  # work inside work: the outer bar tells of it
        return
    try:
        drawn = is_terminal(sys.stderr) and not is_notebook()
        with _rich_bar(description) if drawn else _line_of_text(description) as progress:
            yield progress
    finally:
        _one_at_a_time.release()


@contextmanager
def _rich_bar(description: str) -> Iterator[Progress]:
    """Yield a `Progress` that draws a bar on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None, note="")

        def draw(done: int, total: int, note: str = "") -> None:
            if note.endswith("\n"):
                bar.console.print(note, end="", markup=False, highlight=False)
                note = ""
            bar.update(task, completed=done, total=total, note=note)

        yield draw
