"""Run kernel calls on a few threads of this process.

Kernels release the GIL, so ordinary threads are enough. The pool belongs to one process: after a
fork the child makes its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

__all__ = ["aligned_zeros", "num_threads", "run_all", "scratch"]

# Scratch arrays up to this many bytes are kept for the next call of the same thread.
_KEEP = 8 * 2**20
_CACHE_LINE = 64
_NAME = "wavemmf-worker"
_kept = threading.local()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def num_threads() -> int:
    """Threads to use: ``WAVEMMF_NUM_THREADS`` if set, else the processors this process may use.

    Examples
    --------
    >>> num_threads() >= 1
    True
    """
    setting = os.environ.get("WAVEMMF_NUM_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    worth_it: bool = True,
    finished: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """Call ``function(*arguments)`` for every entry of `calls`; results in order.

    The calls run in parallel if that is `worth_it`: handing work to a thread takes about as long
    as a hundred thousand multiplications. `finished` is called with the position of a result and
    the result. After an exception, Ctrl-C included, no further call is begun.

    Examples
    --------
    >>> run_all(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    # Work handed out from inside a worker would wait for the worker it blocks.
    nested = threading.current_thread().name.startswith(_NAME)
    if nested or not worth_it:
        return _collect((function(*arguments) for arguments in calls), finished)
    workers = min(num_threads(), len(calls))
    # Threads that call BLAS routines, each with threads of its own, are many times slower.
    with _blas().limit(limits=1, user_api="blas"):
        if workers <= 1:
            return _collect((function(*arguments) for arguments in calls), finished)
        key = (os.getpid(), workers)
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(workers, thread_name_prefix=_NAME)
        futures = [_pools[key].submit(function, *arguments) for arguments in calls]
        try:
            return _collect((future.result() for future in futures), finished)
        finally:
            for future in futures:
                future.cancel()


@cache
def _blas() -> ThreadpoolController:
    """Return what sets the threads of the BLAS libraries that are loaded."""
    return ThreadpoolController()


def _collect(results: Iterator[Any], finished: Callable[[int, Any], None] | None) -> list[Any]:
    collected: list[Any] = []
    for result in results:
        collected.append(result)
        if finished is not None:
            finished(len(collected) - 1, result)
    return collected


def scratch(size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an uninitialised array of this thread, the same memory as last time if it fits.

    Fresh memory is mapped page by page as it is first touched, which takes longer than a small
    transform itself.

    Examples
    --------
    >>> scratch(3, np.float32).shape
    (3,)
    """
    bytes_needed = size * np.dtype(dtype).itemsize
    memory: npt.NDArray[np.uint8] | None = getattr(_kept, "memory", None)
    if memory is None or memory.size < bytes_needed:
        memory = _aligned(bytes_needed)
        if bytes_needed <= _KEEP:
            _kept.memory = memory
    return memory[:bytes_needed].view(dtype)


def _aligned(size: int) -> npt.NDArray[np.uint8]:
    """Bytes that start at a cache line, so that vector loads do not straddle two of them."""
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % _CACHE_LINE
    return memory[first : first + size]


def aligned_zeros(shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return an array of zeros that starts at a cache line.

    Examples
    --------
    >>> aligned_zeros((2, 3)).shape
    (2, 3)
    """
    size = int(np.prod(shape, dtype=np.int64))
    array = _aligned(size * np.dtype(np.float64).itemsize).view(np.float64).reshape(shape)
    array[:] = 0.0
    return array
