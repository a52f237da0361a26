"""Compiled kernels on disk: damaged, not writable, or not to be compiled at all."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import CacheImpl

import wavemmf
from wavemmf.kernels import _disk_cache, _jit

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def function(tmp_path, monkeypatch):
    """Return a plain function in a file of its own, beside which its compiled forms are kept."""
    path = tmp_path / "doubling.py"
    path.write_text("def double(x):\n    return 2.0 * x\n")
    spec = importlib.util.spec_from_file_location("doubling", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "doubling", module)
    return module.double


@pytest.fixture(autouse=True)
def warn_again():
    """Let this test have the warnings that come once per process."""
    _disk_cache._warn_uncached.cache_clear()
    yield
    _disk_cache._warn_uncached.cache_clear()


def kept(folder, suffix):
    return sorted((folder / "__pycache__").glob(f"*.{suffix}"))


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


@compiled_only
def test_a_kernel_is_found_again(function, tmp_path):
    for expected in (0, 1):
        kernel = _jit.jit(function)
        assert kernel(3.0) == 6.0
        assert hits(kernel) == expected
    assert len(kept(tmp_path, "nbi")) == len(kept(tmp_path, "nbc")) == 1


DAMAGE = {
    "emptied": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "cut at the end": lambda content: content[:-1],
    "zeros at the end": lambda content: content[:-512] + bytes(512),
    "one bit": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "other content": lambda content: b"nothing of the kind",
}


@compiled_only
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_kernels_are_dropped_and_compiled_again(function, tmp_path, suffix, damage):
    _jit.jit(function)(3.0)
    (path,) = kept(tmp_path, suffix)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    kernel = _jit.jit(function)
    with pytest.warns(UserWarning, match="were damaged: they are dropped and compiled again"):
        result = kernel(3.0)
    assert result == 6.0
    assert hits(kernel) == 0
    again = _jit.jit(function)  # without a warning
    assert again(3.0) == 6.0
    assert hits(again) == 1


@compiled_only
def test_a_damaged_kernel_is_not_unpickled(function, tmp_path):
    """What is not what was written is not looked at any further."""
    _jit.jit(function)(3.0)
    code = (
        "import sys, importlib.util, warnings\n"
        "from wavemmf.kernels import _jit\n"
        "spec = importlib.util.spec_from_file_location('doubling', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "kernel = _jit.jit(module.double)\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, what: seen.append(what) if 'pickle' in event else None)\n"
        "cache = kernel._cache\n"
        "try: cache._cache_file._load_index()\n"
        "except ValueError as error: print(error)\n"
        "print(seen)\n"
    )
    (path,) = kept(tmp_path, "nbi")
    path.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR." + path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "doubling.py")],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == f"{path} is damaged\n[]\n"
    assert not (tmp_path / "pwned").exists()


@compiled_only
def test_a_full_disk_costs_only_the_cache(function, tmp_path, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(_disk_cache._CheckedFiles, "_open_for_write", full)
    kernel = _jit.jit(function)
    with pytest.warns(UserWarning, match="not kept.*No space left") as caught:
        results = [kernel(3.0), kernel(3)]
    assert results == [6.0, 6.0]
    assert len(caught) == 1


@compiled_only
def test_without_a_folder_nothing_is_kept_and_one_warning_says_so(function, tmp_path, monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    kernels = [_jit.jit(function), _jit.inline_jit(function)]
    with pytest.warns(UserWarning, match="no folder.*NUMBA_CACHE_DIR") as caught:
        results = [kernel(3.0) for kernel in kernels]
    assert results == [6.0, 6.0]
    assert len(caught) == 1
    assert not kept(tmp_path, "nbi")


def test_a_read_only_installation_without_a_home(tmp_path):
    """Folders for compiled code cannot be made: files are in their places."""
    package = tmp_path / "wavemmf"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(wavemmf.__file__).parent, package, ignore=ignored)
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONWARNINGS")
    }
    environment |= {"PYTHONPATH": str(tmp_path), "HOME": os.devnull, "LOCALAPPDATA": os.devnull}
    code = (
        "import numpy as np, wavemmf, wavemmf.kernels.vectors as vectors\n"
        "print(wavemmf.__file__, vectors.dot(np.ones(8), np.ones(8)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{package / '__init__.py'} 8.0\n"
    if not numba.config.DISABLE_JIT:
        assert done.stderr.count("compiled kernels are not kept") == 1


UNCOMPILED = """
import numpy as np, wavemmf as wm
from wavemmf.errors import CompilationDisabledError, WavemmfError
graph = wm.graphs.karate()
f = wm.factorize(graph, core=8, k=4)
for ask in (
    lambda: f.analyze(np.ones(34)),
    lambda: wm.factorize(graph, core=8, k=4, optimize="lbfgs"),
    lambda: wm.refine(f, graph),
):
    try:
        ask()
    except CompilationDisabledError as error:
        assert isinstance(error, NotImplementedError)
        print(error)
"""


def test_without_a_compiler_it_is_said_what_needs_one():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], env=environment, capture_output=True, text=True,
        check=True, timeout=300,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("unset NUMBA_DISABLE_JIT" in line for line in lines)
    assert "optimize='lbfgs'" in lines[1]


def test_without_a_compiler_the_command_ends_with_a_line():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "wavemmf", "factorize", "karate", "--core", "8", "--optimize",
         "lbfgs"],
        env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: optimize='lbfgs' needs vector instructions")
    assert done.stderr.count("\n") == 1
