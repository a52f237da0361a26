"""Progress on standard error: a bar on a terminal, silence anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["Progress", "is_terminal", "progress_bar", "silent"]

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

        def progress(done: int, total: int, note: str = "") -> None:
            if note.endswith("\n"):
                bar.console.print(note, end="", markup=False, highlight=False)
                note = ""
            bar.update(task, completed=done, total=total, note=note)

        yield progress
