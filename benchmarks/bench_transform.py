"""Speed of the transform and of the gradient beside products of matrices, in one run.

    python benchmarks/bench_transform.py [--threads 1 2] [--record FILE|FOLDER]

All contenders take turns, and the fastest run of each counts: other work on the machine delays runs
but cannot make one faster. GFlop/s count two operations per multiplication of the transform. The
matrix is Cora's Laplacian (the data folder, WAVEMMF_DATA) with a core of 100 rows, and for the
gradient the Kronecker matrix of 512 rows with k = 16 and 62 levels.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_gradient import gradient_flops
from threadpoolctl import threadpool_limits

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.optimize._objective import Objective

SIGNALS = 64
CORE = 100
Row = dict[str, Any]


def fastest(contenders: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Return the shortest time of each contender; they take turns."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(turns):
        for name, run in contenders.items():
            run()
            for _ in range(5):
                start = time.perf_counter()
                run()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def transforms(found: dict[str, wm.Factorization], threads: int, turns: int) -> list[Row]:
    """Time analyze and synthesize of some signals, and the dense product that does the same."""
    rng = np.random.default_rng(0)
    n = next(iter(found.values())).n
    dense = rng.standard_normal((n, n))
    x = rng.standard_normal((n, SIGNALS))
    square = rng.standard_normal((1024, 1024))
    contenders: dict[str, Callable[[], Any]] = {
        "product 1024": lambda: square @ square,
        "dense product": lambda: dense @ x,
        "dense product, float32": _product(dense.astype(np.float32), x.astype(np.float32)),
    }
    flops = {
        "product 1024": 2 * 1024**3,
        "dense product": 2 * n * n * SIGNALS,
        "dense product, float32": 2 * n * n * SIGNALS,
    }
    for name, f in found.items():
        for dtype in (np.float64, np.float32):
            signal = x.astype(dtype)
            for method in ("analyze", "synthesize"):
                label = f"{method}, {name}" + (", float32" if dtype == np.float32 else "")
                contenders[label] = _call(getattr(f, method), signal)
                flops[label] = 2 * f.rotations.multiplications * SIGNALS
        contenders[f"one signal, {name}"] = _call(f.analyze, x[:, 0].copy())
        flops[f"one signal, {name}"] = 2 * f.rotations.multiplications
    return rates(contenders, flops, threads, turns)


def gradients(
    cases: dict[str, tuple[Any, wm.Factorization]], threads: int, turns: int
) -> list[Row]:
    """Time one loss and gradient."""
    contenders: dict[str, Callable[[], Any]] = {}
    flops = {}
    for name, (matrix, f) in cases.items():
        objective = Objective(matrix, f.rotations)
        contenders[f"gradient, {name}"] = _call(objective.value_and_gradient, f.rotations.blocks)
        flops[f"gradient, {name}"] = gradient_flops(f.rotations)
    return rates(contenders, flops, threads, turns)


def rates(
    contenders: dict[str, Callable[[], Any]], flops: dict[str, int], threads: int, turns: int
) -> list[Row]:
    """Run the contenders and print a row for each."""
    os.environ["WAVEMMF_NUM_THREADS"] = str(threads)
    with threadpool_limits(threads, "blas"):
        times = fastest(contenders, turns)
    rows = []
    for name, seconds in times.items():
        rate = flops[name] / seconds / 1e9
        against = times.get("dense product", 0.0) / seconds
        print(f"{threads} | {name:34} | {1e3 * seconds:8.3f} ms | {rate:6.1f} | {against:6.1f}")
        rows.append({"threads": threads, "case": name, "seconds": seconds, "gflops": rate})
    return rows


def _call(function: Callable[[Any], Any], argument: Any) -> Callable[[], Any]:
    return lambda: function(argument)


def _product(left: Any, right: Any) -> Callable[[], Any]:
    return lambda: left @ right


def main() -> None:
    """Print and record a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=10)
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    cora = wm.graphs.named("cora")
    settings = {"full, k = 8": (8, "full"), "compact, k = 8": (8, "compact")}
    found = {
        name: wm.factorize(cora, core=CORE, k=k, rotations=rotations)
        for name, (k, rotations) in settings.items()
    }
    kronecker = wm.graphs.kronecker(9)
    chosen = wm.factorize(kronecker, core=16, k=16, drop=8)
    cases = {"Kronecker, k = 16": (kronecker, chosen)}
    print("threads | what | time | GFlop/s | times as fast as the dense product")
    rows = []
    for threads in given.threads:
        rows += transforms(found, threads, given.turns)
        rows += gradients(cases, threads, given.turns)
    keep("bench_transform", ["cora", "kronecker"], {"signals": SIGNALS}, [0], rows)


if __name__ == "__main__":
    main()
