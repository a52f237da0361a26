"""What is said to be needed is never less than what is taken, and no limit is ignored."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import TooLargeError
from wavemmf.factorization._fill import estimated_fill

# Peaks are read in a process of its own: whatever ran before has left memory that is used again.
SCRIPT = """
import copy, gc, json, sys
from dataclasses import replace
import numpy as np, scipy.sparse as sp
import wavemmf as wm
from wavemmf import _validation as validation

claims = []
real = validation.check_memory

def recorded(needed, what):
    claims.append(needed)
    real(needed, what)

def watch():
    for name, module in list(sys.modules.items()):
        if name.startswith("wavemmf") and getattr(module, "check_memory", None) is real:
            module.check_memory = recorded

def status(key):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))

def measured(work):
    gc.collect()
    claims.clear()
    with open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")  # the peak starts again from what is in use
    before = status("VmRSS:")
    result = work()
    return max(claims, default=0.0), status("VmHWM:") - before

def problems(n):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, n))
    graph = wm.graphs.normalized_laplacian(wm.graphs.grid(n // 40, 40))
    return noise + noise.T + 1e3 * np.eye(n), graph

def operations(n):
    dense, graph = problems(n)
    few, most = n // 10, n - 40
    small = wm.factorize(graph, core=few, k=4)
    large = wm.factorize(dense, core=n - 300, k=4)
    fresh = lambda f: replace(f, h=copy.copy(f.h))
    for name, core in (("few", few), ("most", most)):
        # All levels of a dense matrix take long, and as much memory as the first ones.
        rows = min(n, 800) if core == few else n
        part, sparse = dense[:rows, :rows].copy(), graph[:rows][:, :rows]
        core = min(core, rows - 40)
        yield f"dense {name}", lambda: wm.factorize(part, core=core, k=4)
        yield f"dense of sparse {name}", lambda: wm.factorize(
            sparse, core=core, k=4, engine="dense"
        )
        for select in ("random", "neighbors", "regular"):
            yield f"{select} {name}", lambda: wm.factorize(sparse, core=core, select=select)
        yield f"pairs {name}", lambda: wm.factorize(part, core=core, k=2)
    for method in ("lbfgs", "adam", "stiefel"):
        yield method, lambda: wm.factorize(graph, core=most, optimize=method, steps=2)
    yield "refine", lambda: wm.refine(small, graph, steps=2)
    yield "sparse", lambda: wm.factorize(graph, core=most)
    wide = wm.graphs.grid(n // 20, 40)
    yield "large sparse", lambda: wm.factorize(wide, core=2 * n - 400)
    yield "basis", small.basis
    yield "diagonal", small.diagonal
    yield "scaling functions", small.scaling_functions
    yield "samples", lambda: small.shifted(1.0).sample(0, n // 2)
    yield "dense copy", small.to_dense
    yield "scaling functions of a large core", large.scaling_functions
    yield "diagonal with a large core", large.diagonal
    yield "eigenvalues", fresh(large).eigvalsh
    yield "function", lambda: fresh(large).apply(np.sqrt)
    yield "solve", lambda: fresh(large).solve(np.ones(n), shift=1.0)
    yield "shift", lambda: large.shifted(1.0)
    yield "samples with a large core", lambda: fresh(large).sample(0, n // 2)
    yield "dense copy with a large core", large.to_dense
    yield "h", large.h.to_sparse
    yield "nystrom", lambda: wm.baselines.nystrom(dense, 300)
    yield "eigenvectors", lambda: wm.baselines.truncated_eigh(dense, 300)

watch()
for name, work in operations(400):
    work()  # compiles what is to be measured
watch()
found = {name: measured(work) for name, work in operations(int(sys.argv[1]))}
print(json.dumps(found))
"""


def test_claims_are_upper_bounds() -> None:
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not tell the peak of a process")
    # Arrays are given back as soon as they are freed, so that peaks are those of the work.
    environment = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), "2000"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) > 25
    # The interpreter itself takes a little now and then, whatever is computed.
    short = {name: figures for name, figures in found.items() if figures[0] + 2e6 < figures[1]}
    assert short == {}
    assert all(claim > 0 for claim, _ in found.values())


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.factorize(wm.graphs.grid(10, 10), core=20, k=3).shifted(1.0)


OPERATIONS: dict[str, Callable[[wm.Factorization], Any]] = {
    "basis": lambda f: f.basis(),
    "basis_nonzeros": lambda f: f.basis_nonzeros,
    "diagonal": lambda f: f.diagonal(),
    "sample": lambda f: f.sample(0, 50),
    "scaling_functions": lambda f: f.scaling_functions(),
    "wavelet": lambda f: f.wavelet(1),
    "to_dense": lambda f: f.to_dense(),
    "h.to_sparse": lambda f: f.h.to_sparse(),
    "apply": lambda f: f.apply(np.exp),
    "solve": lambda f: f.solve(np.ones(f.n)),
    "shifted": lambda f: f.shifted(1.0),
    "eigvalsh": lambda f: f.eigvalsh(),
    "refine": lambda f: wm.refine(f, f.to_dense()),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_limit_is_ignored(
    name: str, f: wm.Factorization, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = replace(f, h=copy.copy(f.h))  # whose core was not decomposed yet
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "1000")
    with pytest.raises(TooLargeError, match="WAVEMMF_MAX_MEMORY"):
        OPERATIONS[name](fresh)


def test_files_obey_the_limit(
    f: wm.Factorization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    f.save(tmp_path / "f.mmf")
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "1000")
    with pytest.raises(TooLargeError):
        wm.load(tmp_path / "f.mmf")
    with pytest.raises(TooLargeError):
        wm.factorize(wm.graphs.grid(10, 10), core=20)


def test_a_sparse_basis_needs_less_than_a_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a dense one would not fit, the fill is estimated, and never too low."""
    f = wm.factorize(wm.graphs.grid(45, 45), core=1000, k=3)
    fill = estimated_fill(f.rotations)
    assert f.basis_nonzeros <= fill < f.n**2 / 5
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(int(52 * fill + 400 * f.n)))
    assert f.basis().nnz == f.basis_nonzeros
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(int(30 * fill)))
    with pytest.raises(TooLargeError, match="the basis of 2025 coordinates"):
        f.basis()


@pytest.mark.parametrize("seed", range(8))
def test_the_fill_is_never_estimated_too_low(seed: int) -> None:
    for graph, core in ((wm.graphs.grid(9, 11), 12), (wm.graphs.barabasi_albert(150, 2), 3)):
        f = wm.factorize(graph, core=core, k=4)
        assert f.basis_nonzeros <= estimated_fill(f.rotations, seed) <= 3.0 * f.n**2
