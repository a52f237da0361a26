"""Speed of the greedy factorization and of the fast transform, as ratios in one run.

    python benchmarks/bench_factorize.py

The Cora part needs the data folder (WAVEMMF_DATA); without it a 52-by-52 grid of the
same size stands in.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.linalg
from timing import alternate

import wavemmf as wm
from wavemmf.errors import WavemmfError


def test_matrix() -> tuple[str, object]:
    try:
        return "cora", wm.graphs.named("cora")
    except WavemmfError as error:
        print(f"Cora is not available ({error}); using a grid instead")
        return "grid 52x52", wm.graphs.grid(52, 52)


def greedy_against_eigh(name: str, graph: object) -> wm.Factorization:
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
    return f


def transform_against_product(f: wm.Factorization) -> None:
    w = f.basis().toarray()
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


def growth_on_grids() -> None:
    sizes, seconds = [], []
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
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"greedy on grids, k=4, core n/10: time grows like n^{exponent:.2f}")


if __name__ == "__main__":
    f = greedy_against_eigh(*test_matrix())
    transform_against_product(f)
    growth_on_grids()
