"""How every kernel is compiled, and the one-line notice when a compilation starts.

Kernels are compiled on first use, cached on disk, and release the GIL so that plain Python
threads can run them side by side. Numba's own thread pool is not used: its OpenMP layer
aborts a child process that was forked after a parallel kernel ran, which is exactly what
data loaders and `multiprocessing` do.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

__all__ = ["inline_jit", "jit"]

logger = logging.getLogger("wavemmf")

Kernel = Callable[..., Any]

# Sums are added up as they are written, and products are fused with them only where a kernel says so
# (`simd.fused`). Otherwise the digits, and with them every choice between equals, would depend on the
# processor, and on which of several compiled forms of a function was loaded first.
_FAST_MATH = {"nsz"}


def jit(function: Kernel) -> Kernel:
    """Compile `function` to machine code, cached on disk, without holding the GIL."""
    return _compile(function, inline="never")


def inline_jit(function: Kernel) -> Kernel:
    """Like `jit`, and inlined before optimisation: constant arguments are constants inside."""
    return _compile(function, inline="always")


def _compile(function: Kernel, inline: str) -> Kernel:
    compiled: Kernel = numba.njit(
        cache=True,
        nogil=True,
        fastmath=_FAST_MATH,
        error_model="numpy",
        inline=inline,
    )(function)
    return compiled


class _CompilationNotice(event.Listener):  # type: ignore[misc]
    """Tell the user, once per process, that the first call compiles."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, event: event.Event) -> None:
        dispatcher = event.data["dispatcher"]
        if self._told or not dispatcher.py_func.__module__.startswith("wavemmf"):
            return
        self._told = True
        message = "compiling numerical kernels (first run only, cached afterwards) ..."
        logger.info(message)
        if sys.stderr.isatty():
            print(f"wavemmf: {message}", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        """Nothing to do; the base class asks for it."""


event.register("numba:compile", _CompilationNotice())
