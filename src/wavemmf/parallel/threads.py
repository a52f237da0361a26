"""Run kernel calls on a few threads of this process.

Kernels release the GIL, so ordinary threads are enough. The pool belongs to one process: after a
fork the child makes its own. A process may be forked while its threads compute: what they held at
that moment is made anew in the child, where they do not exist, and a fork waits for a compilation
to end. That goes for wavemmf alone. Libraries with threads of their own, torch above all, may hang
in a child; "spawn" and "forkserver" of `multiprocessing` are the ways that suit everybody.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core.compiler_lock import global_compiler_lock
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
    with _one_blas_thread:
        if workers <= 1:
            return _collect((function(*arguments) for arguments in calls), finished)
        key = (os.getpid(), workers)
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(workers, _NAME, _limit_worker)
        futures = [_pools[key].submit(function, *arguments) for arguments in calls]
        try:
            return _collect((future.result() for future in futures), finished)
        finally:
            for future in futures:
                future.cancel()


@cache
def _blas_libraries() -> tuple[list[Any], list[Any]]:
    """Return what sets the threads of BLAS: of the whole process, and of the thread that calls."""
    found = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
    own = [lib for lib in found if getattr(lib, "threading_layer", None) == "openmp"]
    return [lib for lib in found if lib not in own], own


def _set_threads(counts: Sequence[tuple[Any, int | None]]) -> None:
    for library, count in counts:
        if count is not None:
            # Some versions of threadpoolctl let only the thread that set a number restore it.
            getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


def _limit(libraries: Sequence[Any]) -> list[tuple[Any, int | None]]:
    """Set libraries to one thread; return how many they had."""
    before = [(library, library.num_threads) for library in libraries]
    _set_threads([(library, 1) for library in libraries])
    return before


def _limit_worker() -> None:
    _limit(_blas_libraries()[1])


class _OneBlasThread:
    """Keeps BLAS to one thread as long as any thread asks for it.

    The number of threads belongs to the process: were it set and put back by every call, a call
    that begins during another would take the limit for the number that was there before. Only with
    OpenMP every thread has a number of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: list[tuple[Any, int | None]] = []
        self._own = threading.local()

    def __enter__(self) -> None:
        shared, own = _blas_libraries()
        with self._lock:
            if self._users == 0:
                self._before = _limit(shared)
            self._users += 1
        self._own.before = [*getattr(self._own, "before", []), _limit(own)]

    def __exit__(self, *_: object) -> None:
        _set_threads(self._own.before.pop())
        with self._lock:
            self._users = max(0, self._users - 1)
            if self._users == 0:
                self._restore()

    def begin_anew(self) -> None:
        """Forget, in a child process, the calls of threads that do not exist there."""
        self._lock = threading.Lock()
        self._users = 0
        self._restore()

    def _restore(self) -> None:
        _set_threads(self._before)
        self._before = []


_one_blas_thread = _OneBlasThread()


def _renew_locks() -> None:
    """Replace, in a child process, the locks that threads of the parent may have held.

    Up to Python 3.11 a cached property has a lock, one for all objects of its class.
    """
    _one_blas_thread.begin_anew()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "wavemmf":
            for made in vars(module).values():
                for member in vars(made).values() if isinstance(made, type) else ():
                    if isinstance(member, cached_property) and hasattr(member, "lock"):
                        member.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # A child of a process that was compiling would wait for ever for the end of it.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
    os.register_at_fork(after_in_child=_renew_locks)


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
