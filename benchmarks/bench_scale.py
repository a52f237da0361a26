"""Large sparse graphs: error, time and memory, and how time and memory grow.

    python benchmarks/bench_scale.py [--only grid] [--large] [--record FILE]

Every case runs in a process of its own, after a small one that loads the compiled kernels, so that
its peak memory is its own. Normalized Laplacians, core n/10 unless told. The error is exact or a
guaranteed bound ("<="); beside a bound stands Hutchinson's estimate. `--large` adds ten million
vertices. Graphs that are not in the data folder are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from typing import Any

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

Case = dict[str, Any]

GRIDS: list[Case] = [{"graph": "grid", "side": side, "k": 4} for side in (100, 316, 1000)]
HUBS: list[Case] = [{"graph": "barabasi_albert", "n": n, "k": 4} for n in (10_000, 100_000)]
CASES: dict[str, list[Case]] = {
    "grid": GRIDS,
    "k8": [{"graph": "grid", "side": 316, "k": 8}],
    "learned": [
        {"graph": "grid", "side": side, "k": 4, "optimize": "lbfgs"} for side in (316, 1000)
    ]
    + [{"graph": "minnesota", "k": 4, "core": 264, "optimize": "lbfgs"}],
    "hubs": HUBS,
    "minnesota": [{"graph": "minnesota", "k": k, "core": 264} for k in (2, 4, 8)],
    "snap": [
        {"graph": name, "k": 4, **core}
        for name, core in (
            ("luxembourg_osm", {}),
            ("email-Enron", {"core": 4431}),
            ("moscow-roads", {}),
            ("dblp-2010", {}),
            ("cnr-2000", {}),
        )
    ],
    "threads": [{"graph": "grid", "side": 316, "k": 4, "threads": t} for t in (1, 2)],
    "large": [{"graph": "grid", "side": 3163, "k": 4}],
}


def graph_of(case: Case) -> wm.graphs.Graph:
    name = case["graph"]
    if name == "grid":
        return wm.graphs.grid(case["side"], case["side"])
    if name == "barabasi_albert":
        return wm.graphs.barabasi_albert(case["n"], 3, seed=0)
    return wm.graphs.minnesota() if name == "minnesota" else wm.datasets.snap(name)


def measure(case: Case) -> Case:
    optimize = case.get("optimize")
    engine = "sparse" if optimize else "auto"
    for side in (70, 150):  # below and above the size from which matrices are cut into parts
        wm.factorize(wm.graphs.grid(side, side), k=case["k"], optimize=optimize, engine="sparse")
    matrix = wm.graphs.normalized_laplacian(graph_of(case))
    n = matrix.shape[0]
    start, used = time.perf_counter(), time.process_time()
    f = wm.factorize(
        matrix, core=case.get("core", n // 10), k=case["k"], optimize=optimize, engine=engine
    )
    seconds = time.perf_counter() - start
    estimate = f.history.details.get("estimated_error")
    return {
        **case,
        "rows": n,
        "entries": matrix.nnz,
        "error": f.relative_error(),
        "exact": f.error_is_exact,
        "estimate": None if estimate is None else estimate[0] / f.matrix_norm,
        "seconds": seconds,
        "processor_seconds": time.process_time() - used,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def in_own_process(case: Case) -> Case | None:
    environment = dict(os.environ)
    if "threads" in case:
        environment["WAVEMMF_NUM_THREADS"] = str(case["threads"])
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"| {case['graph']} | left out: {done.stderr.strip().splitlines()[-1]} |")
        return None
    result: Case = json.loads(done.stdout)
    return result


def show(result: Case) -> None:
    name = result["graph"]
    if "threads" in result:
        name += f", {result['threads']} thread(s)"
    if result.get("optimize"):
        name += ", learned"
    error = f"{result['error']:.4f}" if result["exact"] else f"<= {result['error']:.4f}"
    if result["estimate"] is not None:
        error += f" (estimate {result['estimate']:.4f})"
    print(
        f"| {name} | {result['rows']} | {result['k']} | {error} | {result['seconds']:.1f} | "
        f"{result['processor_seconds']:.1f} | {result['gigabytes']:.2f} |",
        flush=True,
    )


def growth(results: list[Case], what: str) -> str:
    first, last = results[0], results[-1]
    exponent = math.log(last[what] / first[what]) / math.log(last["rows"] / first["rows"])
    return f"{what} n^{exponent:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(CASES))
    parser.add_argument("--large", action="store_true", help="ten million vertices as well")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    add_record_option(parser)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(json.loads(arguments.case))))
        return
    keep = Recorder(arguments.record)
    chosen = arguments.only or [name for name in CASES if name != "large" or arguments.large]
    print("| graph | rows | k | relative error | seconds | processor seconds | GB |")
    print("|---|---|---|---|---|---|---|")
    measured: list[Case] = []
    for name in chosen:
        results = []
        for case in CASES[name]:
            result = in_own_process(case)
            if result is not None:
                show(result)
                results.append(result)
        measured += results
        if name in ("grid", "hubs") and len(results) > 1:
            figures = ("seconds", "processor_seconds", "gigabytes")
            print(f"{name}: " + ", ".join(growth(results, what) for what in figures))
        if name == "threads" and len(results) == 2:
            print(f"two threads: {results[0]['seconds'] / results[1]['seconds']:.2f} x one")
    keep("bench_scale", chosen, {}, [0], measured)


if __name__ == "__main__":
    main()
