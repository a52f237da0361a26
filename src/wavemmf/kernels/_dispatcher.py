"""A kernel as Python calls it: compiled when first called, in Numba's usual way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from ._compile_time import compiling
from ._disk_cache import make_cache

__all__ = ["KernelDispatcher"]


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled for the arguments it is called with, and kept on disk."""

    _compiler_class: type[Compiler] = Compiler

    def __init__(
        self, py_func: Callable[..., Any], targetoptions: dict[str, Any], constants: bool = False
    ) -> None:
        super().__init__(py_func, {}, targetoptions, self._compiler_class)
        del self._cache  # Numba's, which keeps nothing

    @cached_property
    def _cache(self) -> Any:
        # There are hundreds of kernels, of which a program calls a few.
        return make_cache(self.py_func)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        with compiling():
            return super()._compile_for_args(*args, **kws)
