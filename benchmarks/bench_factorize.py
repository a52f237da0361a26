"""Speed of the greedy factorization and of the fast transform, as ratios in one run.

    python benchmarks/bench_factorize.py [--record FILE|FOLDER]

The Cora part needs the data folder (WAVEMMF_DATA); without it a 52-by-52 grid of the
same size stands in.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.linalg
from timing import alternate

import wavemmf as wm
from wavemmf.errors import WavemmfError
from wavemmf.experiments.records import Recorder, add_record_option

Row = dict[str, Any]


def test_matrix() -> tuple[str, object]:
    try:
        return "cora", wm.graphs.named("cora")
    except WavemmfError as error:
        print(f"Cora is not available ({error}); using a grid instead")
        return "grid 52x52", wm.graphs.grid(52, 52)


def greedy_against_eigh(name: str, graph: object) -> tuple[wm.Factorization, Row]:
    dense = wm.graphs.normalized_laplacian(graph).toarray()
    times = alternate(
        {
            "greedy": lambda: wm.factorize(graph, core=100, k=8),
            "eigh": lambda: scipy.linalg.eigh(dense),
        },
        repeats=3,
    )
    f = wm.factorize(graph, core=100, k=8)
    print(
        f"{name}, k=8, core 100: greedy {times['greedy']:.2f} s, "
        f"scipy.linalg.eigh {times['eigh']:.2f} s, ratio {times['eigh'] / times['greedy']:.2f}; "
        f"error {f.error():.3f} ({100 * f.relative_error():.1f} %)"
    )
    seconds = {"seconds": times["greedy"], "eigh_seconds": times["eigh"]}
    return f, {"case": f"greedy, {name}, k=8, core 100", "error": f.error(), **seconds}


def transform_against_product(f: wm.Factorization) -> list[Row]:
    w = f.basis().toarray()
    rows = []
    flops = f.n**2 / f.transform_multiplications
    for columns in (1, 64, 512):
        x = np.random.default_rng(0).normal(size=(f.n, columns))
        times = alternate(
            {"analyze": lambda x=x: f.analyze(x), "W @ X": lambda x=x: w @ x}, repeats=41
        )
        print(
            f"{columns} signals: analyze {1e3 * times['analyze']:.2f} ms, W @ X "
            f"{1e3 * times['W @ X']:.2f} ms, ratio {times['W @ X'] / times['analyze']:.1f} "
            f"(multiplications: {flops:.0f})"
        )
        seconds = {"seconds": times["analyze"], "product_seconds": times["W @ X"]}
        rows.append({"case": f"transform of {columns} signals", **seconds})
    return rows


def growth_on_grids() -> list[Row]:
    sizes, seconds, rows = [], [], []
    for side in (22, 32, 45, 63, 89):
        graph = wm.graphs.grid(side, side)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            f = wm.factorize(graph, core=graph.n // 10, k=4)
            best = min(best, time.perf_counter() - start)
        sizes.append(graph.n)
        seconds.append(best)
        print(f"grid n={graph.n}: {best:.3f} s, relative error {f.relative_error():.4f}")
        row = {"case": f"grid n={graph.n}", "relative_error": f.relative_error(), "seconds": best}
        rows.append(row)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"greedy on grids, k=4, core n/10: time grows like n^{exponent:.2f}")
    return [*rows, {"case": "growth on grids", "exponent": exponent}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_record_option(parser)
    keep = Recorder(parser.parse_args().record)
    name, graph = test_matrix()
    f, row = greedy_against_eigh(name, graph)
    rows = [row, *transform_against_product(f), *growth_on_grids()]
    keep("bench_factorize", [name, "grids"], {}, [0], rows)


if __name__ == "__main__":
    main()
