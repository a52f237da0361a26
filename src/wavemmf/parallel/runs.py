"""Many runs of one function, on all threads or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import TypeVar

from .._progress import Progress
from .executor import current_mapper
from .threads import run_all

__all__ = ["in_parallel"]

A = TypeVar("A")
B = TypeVar("B")


def in_parallel(
    function: Callable[[A], B], arguments: Iterable[A], progress: Progress, note: str
) -> list[B]:
    """Call `function` with every argument; results in order, whatever the number of threads.

    On a cluster, if `use_executor` has chosen one, run only functions that can be sent there: a
    `functools.partial` of a function of a module.

    Examples
    --------
    >>> in_parallel(abs, [1, -2], lambda done, total, note: print(done, total, note), "runs")
    1 2 runs
    2 2 runs
    [1, 2]
    """
    calls = [(argument,) for argument in arguments]
    run = current_mapper() if isinstance(function, partial) else run_all
    done = count(1)
    return run(function, calls, finished=lambda _, result: progress(next(done), len(calls), note))
