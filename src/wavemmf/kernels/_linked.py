"""Compile kernels quickly: machine code once for each that Python calls, with all it needs.

Numba compiles every function to machine code before it compiles those that call it, and optimises
it again inside each of them: with ten levels of calls the innermost function is translated ten
times. Here a function that is called by another is only translated to LLVM's language. What Python
calls gathers all of that, optimises it together and makes machine code once.

This reaches into Numba; `_jit.py` says with which releases, and does without it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from numba import _dynfunc
from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering
from numba.core.types.misc import unliteral

from ._dispatcher import KernelDispatcher

__all__ = ["LinkedDispatcher"]


class LinkedDispatcher(KernelDispatcher):
    """A function as Python calls it; `inner` is the same function as other kernels call it."""

    def __init__(
        self, py_func: Callable[..., Any], targetoptions: dict[str, Any], constants: bool = False
    ) -> None:
        self._compiler_class = _KernelCompiler
        super().__init__(py_func, targetoptions)
        _use_quick_flags(self)
        self._constants = constants

    @cached_property
    def inner(self) -> _InnerDispatcher:
        """The function as other kernels call it."""
        unwrapped = {**self.targetoptions, "no_cpython_wrapper": True}
        return _InnerDispatcher(self.py_func, {}, unwrapped, _InnerCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a kernel that calls this one must know of it.

        Unless it asks for constants, a number written in the source is like any other: Numba
        would translate the function anew for each.
        """
        if not self._constants:
            args = [unliteral(kind) for kind in args]
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the function as a kernel calls it."""
        return self.inner.get_overload(sig)


class _InnerDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A function as other kernels call it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        _use_quick_flags(self)

    def compile(self, sig: Any) -> Any:
        """Translate it for these arguments, without Numba's stopwatches and caches."""
        args, return_type = sigutils.normalize_signature(sig)
        with global_compiler_lock, self._compiling_counter:
            if tuple(args) not in self.overloads:
                self.add_overload(self._compiler.compile(args, return_type))
            return self.overloads[tuple(args)].entry_point


class _QuickFlags(Flags):  # type: ignore[misc]
    """Numba's flags, compared by what was set: it looks them up for every operation it types."""

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._values)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._values == other._values


def _use_quick_flags(dispatcher: Any) -> None:
    dispatcher._compiler._customize_flags = _QuickFlags


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function in LLVM's language, waiting to be linked."""

    def finalize(self) -> None:
        """Leave it as it is: whoever links it will optimise it."""
        self._raise_if_finalized()
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def needed(self) -> Iterator[Any]:
        """Yield the libraries of what it calls."""
        yield from self._linking_libraries


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function with everything it calls, to be optimised together."""

    def finalize(self) -> None:
        """Gather what is called, directly or not, and make machine code."""
        pending: list[Any] = list(self._linking_libraries)
        found: list[Any] = []
        while pending:
            library = pending.pop()
            if library not in found:
                found.append(library)
                if isinstance(library, _InnerLibrary):
                    pending.extend(library.needed())
        self._linking_libraries: list[Any] = found
        super().finalize()


class _KernelCompiler(Compiler):  # type: ignore[misc]
    def define_pipelines(self) -> list[PassManager]:
        _use_library(self.state, _KernelLibrary)
        pipelines: list[PassManager] = super().define_pipelines()
        return pipelines


class _InnerCompiler(Compiler):  # type: ignore[misc]
    def define_pipelines(self) -> list[PassManager]:
        _use_library(self.state, _InnerLibrary)
        self.state.flags.no_compile = True
        pipelines: list[PassManager] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(_OfferForLinking, NativeLowering)
            pipeline.finalize()
        return pipelines


def _use_library(state: Any, kind: type[JITCodeLibrary]) -> None:
    state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()


@register_pass(mutates_CFG=False, analysis_only=True)
class _OfferForLinking(AnalysisPass):  # type: ignore[misc]
    """Let other kernels call a function that has no machine code of its own."""

    _name = "wavemmf_offer_for_linking"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Register the function under a name that only stands for it."""
        lowered = state["cr"]
        name = lowered.fndesc.qualname.split(".")[-1]
        module = lowered.fndesc.lookup_module()
        standin = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(standin, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=standin)
        return False
