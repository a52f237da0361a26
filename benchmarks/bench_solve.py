"""Conjugate gradients on (L + 0.01 I) x = b with and without preconditioners, in one table.

    python benchmarks/bench_solve.py [--only grid] [--method plain] [--record FILE]

L is the combinatorial and the normalized Laplacian of the Minnesota roads (needs the data folder,
WAVEMMF_DATA) and of a 100x100 grid. "products" counts products with the matrix, those inside
the preconditioner included; for pyamg a cycle counts as its work divided by that of a product.
Seconds are those of one run after a warm-up on a small grid (compiling is not counted).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

import wavemmf as wm
from wavemmf.errors import WavemmfError
from wavemmf.experiments.records import Recorder, add_record_option

SHIFT = 0.01
TOLERANCE = 1e-8
Preconditioner = tuple[Any, float]  # the operator, and the products one application takes


def none(a: sp.csr_array) -> Preconditioner:
    return None, 0.0


def jacobi(a: sp.csr_array) -> Preconditioner:
    return sp.diags_array(1.0 / a.diagonal()), 0.0


def inverse_alone(a: sp.csr_array) -> Preconditioner:
    return wm.precondition.from_factorization(wm.factorize(a, k=8)), 0.0


def inverse_smoothed(a: sp.csr_array) -> Preconditioner:
    return wm.precondition.from_factorization(wm.factorize(a, k=8), matrix=a, smooth=2), 4.0


def chosen_for_it(k: int, smooth: int) -> Callable[[sp.csr_array], Preconditioner]:
    return lambda a: (wm.precondition.preconditioner(a, k=k, smooth=smooth), 2.0 * smooth)


def pyamg_cycle(a: sp.csr_array) -> Preconditioner:
    import pyamg

    levels = pyamg.smoothed_aggregation_solver(sp.csr_matrix(a))
    return levels.aspreconditioner(), float(levels.cycle_complexity())


# Quick ones first: a run that is cut off has them.
METHODS: dict[str, Callable[[sp.csr_array], Preconditioner]] = {
    "plain": none,
    "Jacobi": jacobi,
    "pyamg, smoothed aggregation": pyamg_cycle,
    "wm.precondition.preconditioner": chosen_for_it(4, 1),
    "wm.precondition.preconditioner, k=8": chosen_for_it(8, 1),
    "wm.precondition.preconditioner, smooth=2": chosen_for_it(4, 2),
    "inverse of the factorization, k=8": inverse_alone,
    "the same, two Jacobi steps": inverse_smoothed,
}


LAPLACIANS = {
    "combinatorial": wm.graphs.laplacian,
    "normalized": wm.graphs.normalized_laplacian,
}


def run(method: Callable[[sp.csr_array], Preconditioner], a: sp.csr_array) -> tuple[Any, ...]:
    """Return iterations, products, and seconds of set-up and of the iterations."""
    b = np.random.default_rng(0).standard_normal(a.shape[0])
    iterations = []
    start = time.perf_counter()
    operator, per_application = method(a)
    ready = time.perf_counter()
    x, failed = cg(a, b, rtol=TOLERANCE, M=operator, callback=iterations.append)
    done = time.perf_counter()
    assert not failed
    assert np.linalg.norm(a @ x - b) <= 2 * TOLERANCE * np.linalg.norm(b)
    count = len(iterations)
    return count, count * (1.0 + per_application), ready - start, done - ready


def table(name: str, laplacian: sp.csr_array, methods: dict[str, Any]) -> list[dict[str, Any]]:
    a = sp.csr_array(laplacian + SHIFT * sp.eye_array(laplacian.shape[0]))
    print(f"\n{name}, n = {a.shape[0]}")
    print(f"{'':34} iterations products set-up   solve   total")
    rows = []
    for label, method in methods.items():
        try:
            count, products, setup, solve = run(method, a)
        except ModuleNotFoundError as error:
            print(f"{label:34} left out: {error}")
            continue
        print(
            f"{label:34} {count:10} {products:8.0f} {setup:6.2f} {solve:7.3f} {setup + solve:7.3f}",
            flush=True,
        )
        row = {"data": name, "method": label, "iterations": count, "products": products}
        rows.append({**row, "seconds_setup": setup, "seconds_solve": solve})
    return rows


def warm_up(methods: dict[str, Any]) -> None:
    """Compile what both engines need."""
    small = wm.graphs.laplacian(wm.graphs.grid(60, 60))
    a = sp.csr_array(small + SHIFT * sp.eye_array(3600))
    for method in methods.values():
        try:
            operator, _ = method(a)
        except ModuleNotFoundError:
            continue
        if isinstance(operator, LinearOperator):
            operator @ np.ones(3600)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="tables whose title holds this text")
    parser.add_argument("--method", choices=METHODS, action="append", help="rows of the tables")
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    methods = {name: METHODS[name] for name in given.method or METHODS}
    graphs = {"100x100 grid": wm.graphs.grid(100, 100)}
    try:
        graphs = {"Minnesota": wm.graphs.minnesota(), **graphs}
    except WavemmfError as error:
        print(f"Minnesota is left out: {error}")
    warm_up(methods)
    rows = []
    for name, graph in graphs.items():
        for kind, make in LAPLACIANS.items():
            title = f"{name}, {kind} Laplacian"
            if given.only in title:
                rows += table(title, make(graph), methods)
    settings = {"shift": SHIFT, "tolerance": TOLERANCE, "methods": list(methods)}
    keep("bench_solve", list(dict.fromkeys(row["data"] for row in rows)), settings, [0], rows)


if __name__ == "__main__":
    main()
