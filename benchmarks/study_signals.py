"""How few coefficients say a signal: wavelets of diffusions, and other bases; and large graphs.

    python benchmarks/study_signals.py [--only terms] [--only tuning] [--only size] [--record F]

terms   relative error of the largest 5, 10, 20 and 30 % of the coefficients, Toronto intersections
        with streets of weight 1/length
tuning  the same for settings of the diffusion, on the graphs and signals of tuning_signals.py
size    seconds, memory and non-zeros of the wavelets of large graphs, each in a process of its own
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from tuning_signals import PROBLEMS, problem

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.experiments.signals import eigenvector_basis, haar_basis, toronto
from wavemmf.select import _diffusion

SHARES = (0.05, 0.1, 0.2, 0.3)
# How each is made, and whether by squaring, as larger graphs are.
SETTINGS: dict[str, tuple[dict[str, Any], bool]] = {
    "default": ({}, False),
    "not balanced": ({"balanced": False}, False),
    "time = 1000": ({"time": 1e3}, False),
    "time = 100000": ({"time": 1e5}, False),
    "squared": ({}, True),
    "squared, not balanced": ({"balanced": False}, True),
}
# Rows from which graphs are not squared any more where squaring is tried.
FEW = 100
LARGE = ("grid-100", "grid-300", "luxembourg_osm", "moscow-roads", "grid-1000", "email-Enron")
Row = dict[str, Any]


def errors(coefficients: Any) -> list[float]:
    """Relative errors of the largest coefficients, the mean of all columns."""
    energy = np.sort(coefficients.reshape(len(coefficients), -1) ** 2, axis=0)[::-1]
    whole = energy.sum(axis=0)
    kept = [round(share * len(energy)) for share in SHARES]
    return [float(np.sqrt(energy[count:].sum(axis=0) / whole).mean()) for count in kept]


def terms() -> Iterator[Row]:
    graph, signals = toronto()
    graph = wm.graphs.weights_from_lengths(graph, "coordinates")
    degrees = wm.select.Diffusion(balanced=False)
    bases: dict[str, Callable[[], Any]] = {
        "diffusion, k = 2": lambda: wm.wavelets(graph).analyze,
        "not balanced, k = 2": lambda: wm.wavelets(graph, select=degrees).analyze,
        "Haar": lambda: haar_basis(graph).__matmul__,
        "eigenvectors": lambda: eigenvector_basis(graph).__matmul__,
        "Laplacian MMF, k = 2": lambda: wm.factorize(graph, core=8, k=2).analyze,
        "diffusion, k = 4": lambda: wm.wavelets(graph, k=4).analyze,
        "not balanced, k = 4": lambda: wm.wavelets(graph, k=4, select=degrees).analyze,
    }
    for name, make in bases.items():
        analyze = make()
        for of, x in signals.items():
            yield {"what": "terms", "basis": name, "signal": of, "errors": errors(analyze(x))}


def tuning() -> Iterator[Row]:
    for name in PROBLEMS:
        graph, x = problem(name)
        for basis, (settings, by_squares) in SETTINGS.items():
            select = wm.select.Diffusion(**settings)
            with squared_down_to(FEW if by_squares else None):
                engine = "sparse" if by_squares else "dense"
                f = wm.factorize(graph, core=8, k=2, select=select, engine=engine)
            found = errors(f.analyze(x))
            yield {"what": "tuning", "signal": name, "basis": basis, "errors": found}


@contextmanager
def squared_down_to(rows: int | None) -> Iterator[None]:
    """Make graphs of this study go the way of large ones, until few rows are left."""
    with patch.object(_diffusion, "_ALL_TIMES_UP_TO", rows or _diffusion._ALL_TIMES_UP_TO):
        yield


def measure(name: str) -> Row:
    """Measure one large graph in this process."""
    wm.wavelets(wm.graphs.grid(60, 60), core=3000)  # compiles
    wm.wavelets(wm.graphs.grid(8, 8))
    side = int(name.partition("-")[2]) if name.startswith("grid-") else 0
    graph = wm.graphs.grid(side, side) if side else wm.datasets.snap(name)
    matrix: sp.csr_array = wm.graphs.normalized_laplacian(graph)
    start, started = time.perf_counter(), time.process_time()
    f = wm.wavelets(matrix)
    seconds = time.perf_counter() - start
    busy = time.process_time() - started
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    x = np.random.default_rng(0).normal(size=f.n)
    c = f.analyze(x)
    started = time.process_time()
    f.analyze(x)
    analyzed = time.process_time() - started
    return {
        "what": "size", "graph": name, "rows": f.n, "seconds": seconds,
        "busy": busy, "analyze": analyzed, "gigabytes": gigabytes,
        "nonzeros": f.basis(threshold=1e-3).nnz / f.n,
        "reconstruction": float(np.abs(f.synthesize(c) - x).max()),
    }  # fmt: skip


def size() -> Iterator[Row]:
    for name in LARGE:
        command = [sys.executable, __file__, "--graph", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        yield json.loads(done.stdout)


def show(row: Row) -> None:
    if row["what"] == "size":
        print(
            f"| {row['graph']} | {row['rows']} | {row['seconds']:.1f} s | "
            f"{row['busy']:.1f} s of processor time | "
            f"{row['analyze']:.2f} s to analyze | {row['gigabytes']:.2f} GB | "
            f"{row['nonzeros']:.1f} non-zeros per wavelet | "
            f"reconstruction {row['reconstruction']:.1e} |"
        )
        return
    figures = " | ".join(f"{error:.3f}" for error in row["errors"])
    print(f"| {row.get('signal', 'synthetic')} | {row['basis']} | {figures} |")


def main() -> int:
    studies = {"terms": terms, "tuning": tuning, "size": size}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=list(studies))
    parser.add_argument("--graph", help=argparse.SUPPRESS)
    add_record_option(parser)
    given = parser.parse_args()
    if given.graph:
        print(json.dumps(measure(given.graph)))
        return 0
    keep = Recorder(given.record)
    chosen = given.only or list(studies)
    rows = []
    for name in chosen:
        for row in studies[name]():
            show(row)
            rows.append(row)
            sys.stdout.flush()
    keep("study_signals", chosen, {"shares": SHARES}, [0], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
