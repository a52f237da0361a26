"""How every kernel is compiled.

Kernels are compiled on first use, cached on disk, and release the GIL so that plain Python
threads can run them side by side.

Numba's own thread pool is not used: its OpenMP layer aborts a child process that was forked after
a parallel kernel ran, which is exactly what data loaders and `multiprocessing` do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba

from ..errors import CompilationDisabledError
from ._compile_time import watch_compilations
from ._dispatcher import KernelDispatcher

__all__ = ["check_compiler", "inline_jit", "jit"]


Kernel = Callable[..., Any]

# Sums are added up as they are written, and products are fused with them only where a kernel says
# so (`simd.fused`). Otherwise the digits, and with them every choice between equals, would depend
# on the processor, and on which of several compiled forms of a function was loaded first.
_FAST_MATH = {"nsz"}

# Releases of Numba whose inner parts `_linked.py` was run with. Others compile in the usual way.
_LINKED_WITH = {(0, 68)}

_NEEDS_COMPILER = (
    "{what} needs vector instructions, which exist in compiled code only: unset NUMBA_DISABLE_JIT"
)


def _best_dispatcher() -> type[KernelDispatcher]:
    """Return what compiles quickly with the releases of Numba it was tried with, or the usual."""
    release = tuple(int(part) for part in numba.__version__.split(".")[:2] if part.isdecimal())
    if release not in _LINKED_WITH:
        return KernelDispatcher
    try:
        from ._linked import LinkedDispatcher
    except (ImportError, AttributeError):  # it has moved within Numba
        return KernelDispatcher
    return LinkedDispatcher


_DISPATCHER = _best_dispatcher()


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
    kernel: Kernel = _DISPATCHER(function, options, constants)
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


watch_compilations()
