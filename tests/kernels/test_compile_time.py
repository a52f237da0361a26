"""The notice that kernels are compiled, and times that do not count it."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest
from numba.core.caching import NullCache

from wavemmf.kernels import _compile_time, _jit
from wavemmf.kernels._compile_time import Stopwatch, compiling, compiling_seconds
from wavemmf.kernels._dispatcher import KernelDispatcher
from wavemmf.kernels._jit import inline_jit, jit

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

_COMPILE = """
import warnings
import numpy as np
warnings.simplefilter("ignore")
from wavemmf.kernels.vectors import dot
dot(np.ones(32), np.ones(32))
"""


def _anew(function):
    """Compile in every process, also if an earlier run of the tests left the kernel on disk."""
    kernel = jit(function)
    kernel._cache = NullCache()
    return kernel


@_anew
def _doubled(x):
    return 2.0 * x


@_anew
def _added(x, count):
    total = 0.0
    for _ in range(count):
        total += _doubled(x)
    return total


@_anew
def _both(x):
    return _added(x, 3) + _added(x, 5)


def test_a_stopwatch_leaves_out_what_compiling_took(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_compile_time.time, "perf_counter", lambda: now[0])
    watch = Stopwatch()
    now[0] = 1.0
    with compiling(), compiling():  # another thread waits for the same kernel
        now[0] = 5.0
    now[0] = 7.0
    assert watch.seconds() == 3.0
    watch.restart()
    assert watch.seconds() == 0.0


@compiled_only
def test_calls_that_compile_are_counted():
    before = compiling_seconds()
    assert _both(1.0) == 16.0
    assert compiling_seconds() > before


@compiled_only
def test_what_only_kernels_call_is_translated_once_for_all_numbers():
    assert _both(1.0) == 16.0
    assert len(_added.inner.overloads) == 1  # 3 and 5 are integers
    assert not _added.overloads  # Python has not called it
    assert _added(1.0, 2) == 4.0
    assert len(_added.overloads) == 1


@pytest.mark.parametrize("release", ["0.59.1", "1.0.0", "0+unknown"])
def test_other_releases_of_numba_compile_in_the_usual_way(release, monkeypatch):
    monkeypatch.setattr(numba, "__version__", release)
    assert _jit._best_dispatcher() is KernelDispatcher


def test_what_has_moved_within_numba_is_done_without(monkeypatch):
    monkeypatch.setitem(sys.modules, "wavemmf.kernels._linked", None)
    assert _jit._best_dispatcher() is KernelDispatcher


@compiled_only
def test_kernels_work_when_compiled_in_the_usual_way(monkeypatch):
    monkeypatch.setattr(_jit, "_DISPATCHER", KernelDispatcher)
    doubled = jit(lambda x: 2.0 * x)
    repeated = inline_jit(lambda x, count: doubled(x) * count)
    before = compiling_seconds()
    assert jit(lambda x: repeated(x, 3))(1.0) == 6.0
    assert compiling_seconds() > before


@compiled_only
@pytest.mark.parametrize(("choice", "told"), [("0", False), ("1", True), (None, False)])
def test_the_notice_can_be_switched(choice, told, tmp_path):
    """Where standard error is no terminal, nothing is said unless asked for."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop(_compile_time.NOTICE, None)
    if choice is not None:
        environment[_compile_time.NOTICE] = choice
    run = subprocess.run(
        [sys.executable, "-c", _COMPILE], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert ("compiling numerical kernels, once" in run.stderr) == told
    assert run.stderr.count("compiling") <= 1
