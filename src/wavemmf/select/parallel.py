"""Many runs of a selector on all threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from .._progress import Report
from ..kernels.threads import run_all

__all__ = ["in_parallel"]

A = TypeVar("A")
B = TypeVar("B")

# Calls handed to the threads together: Ctrl-C and the progress display get a turn in between.
_BATCH = 16


def in_parallel(
    function: Callable[[A], B], arguments: Iterable[A], report: Report, note: str
) -> list[B]:
    """Call `function` with every argument; results in order, whatever the number of threads.

    Examples
    --------
    >>> in_parallel(abs, [1, -2], lambda done, total, note: print(done, total, note), "runs")
    2 2 runs
    [1, 2]
    """
    calls = [(argument,) for argument in arguments]
    results: list[B] = []
    for first in range(0, len(calls), _BATCH):
        results += run_all(function, calls[first : first + _BATCH])
        report(len(results), len(calls), note)
    return results
