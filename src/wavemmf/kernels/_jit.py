"""How every kernel is compiled and kept.

Kernels are compiled on first use, cached on disk, and release the GIL so that plain Python
threads can run them side by side. What is kept ends with its digest: a file that was damaged is
neither unpickled nor given to the linker, but dropped, and the kernel is compiled again.

Numba's own thread pool is not used: its OpenMP layer aborts a child process that was forked after
a parallel kernel ran, which is exactly what data loaders and `multiprocessing` do.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from ..errors import CompilationDisabledError
from ._compile_time import logger, watch_compilations
from ._compiler import KernelDispatcher

__all__ = ["check_compiler", "inline_jit", "jit"]


Kernel = Callable[..., Any]

# Sums are added up as they are written, and products are fused with them only where a kernel says
# so (`simd.fused`). Otherwise the digits, and with them every choice between equals, would depend
# on the processor, and on which of several compiled forms of a function was loaded first.
_FAST_MATH = {"nsz"}

_NEEDS_COMPILER = (
    "{what} needs vector instructions, which exist in compiled code only: unset NUMBA_DISABLE_JIT"
)


def jit(function: Kernel) -> Kernel:
    """Compile `function` to machine code, cached on disk, without holding the GIL."""
    return _compile(function, constants=False)


def inline_jit(function: Kernel) -> Kernel:
    """Like `jit`, and inlined before optimisation: constant arguments are constants inside.

    It must not make arrays, other than views. References to arrays are not counted in it: every
    count is an atomic operation that waits for all stores before it, and in loops over levels that
    takes longer than the rotations.
    """
    return _compile(function, constants=True)


def check_compiler(what: str) -> None:
    """Refuse, before any long work, what uses vector instructions if nothing may be compiled."""
    from .simd import copy_row

    if numba.config.DISABLE_JIT and not hasattr(copy_row, "__code__"):
        raise CompilationDisabledError(_NEEDS_COMPILER.format(what=what))


def _compile(function: Kernel, constants: bool) -> Kernel:
    if numba.config.DISABLE_JIT:
        return _uncompiled(function)
    options = {
        "nopython": True,
        "boundscheck": None,
        "nogil": True,
        "fastmath": _FAST_MATH,
        "error_model": "numpy",
        "forceinline": constants,
        "no_cfunc_wrapper": True,  # nothing in C calls kernels
        "_nrt": not constants,
    }
    compiled: Any = KernelDispatcher(function, options, constants)
    try:
        compiled._cache = _KernelCache(function)
    except (RuntimeError, OSError):
        _warn_uncached("there is no folder to keep them in; NUMBA_CACHE_DIR can name one")
    kernel: Kernel = compiled
    return kernel


def _uncompiled(function: Kernel) -> Kernel:
    """Run a kernel as plain Python, and say so where that is impossible."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except CompilationDisabledError:
            raise
        except NotImplementedError as error:
            what = function.__name__.strip("_")
            raise CompilationDisabledError(_NEEDS_COMPILER.format(what=what)) from error

    return run


@functools.cache
def _warn_uncached(reason: str) -> None:
    """Warn, once per process, that every process compiles anew."""
    warnings.warn(
        f"compiled kernels are not kept, and every process compiles them: {reason}", stacklevel=2
    )


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of compiled code, each with its digest at the end.

    Pickles may be followed by anything, so the files are still those that Numba reads.
    """

    def _load_index(self) -> Any:
        _check_digest(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        _check_digest(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        content = io.BytesIO()
        yield content
        written = content.getvalue()
        with super()._open_for_write(filepath) as stream:
            stream.write(written + hashlib.sha256(written).digest())

    def drop(self) -> None:
        """Remove the index: what it listed is compiled again and overwritten."""
        with suppress(OSError):
            os.unlink(self._index_path)


def _check_digest(path: str) -> None:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return  # nothing was kept
    size = hashlib.sha256().digest_size
    if content[-size:] != hashlib.sha256(content[:-size]).digest():
        raise ValueError(f"{path} is damaged")


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Compiled forms of a kernel on disk; whatever is wrong with them, the kernel works."""

    def __init__(self, function: Kernel) -> None:
        super().__init__(function)
        # Under a name of its own: without a digest, what others have kept would seem damaged.
        self._cache_file = _CheckedFiles(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.checked",
            source_stamp=(self._impl.locator.get_source_stamp(), _kernels_stamp()),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except MemoryError:
            raise
        except Exception as error:  # the unpickler and the linker raise anything
            logger.info("dropped %s: %r", self, error)
            self._cache_file.drop()
            warnings.warn(
                f"compiled kernels in {self._cache_path} were damaged: they are dropped and "
                "compiled again",
                stacklevel=2,
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # the disk is full, or has become read-only
            _warn_uncached(str(error))
        except ValueError:  # another process has damaged the index since it was loaded
            self._cache_file.drop()


@functools.cache
def _kernels_stamp() -> tuple[Any, ...]:
    """Tell versions of the kernels apart: code of one file is compiled into that of others."""
    found = [(path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return tuple((name, stat.st_mtime, stat.st_size) for name, stat in found)


watch_compilations()
