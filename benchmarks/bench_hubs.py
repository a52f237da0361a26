"""How time grows on graphs with hubs.

    python benchmarks/bench_hubs.py [--only star] [--largest 100000] [--k 4] [--record FILE]

Stars, caterpillars (a path with five leaves at every vertex, and one whose leaves hang on four of
them) and Barabási-Albert graphs with three edges a vertex. Prints processor seconds, and the
exponent of the power of n that fits them best: 1 is proportional to the edges.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

SIZES = (1000, 3000, 10_000, 30_000, 100_000)


def adjacency(n: int, first: Any, last: Any) -> sp.csr_array:
    half = sp.coo_array((np.ones(len(first)), (first, last)), shape=(n, n))
    return sp.csr_array(half + half.T)


def star(n: int) -> sp.csr_array:
    return adjacency(n, np.zeros(n - 1, int), np.arange(1, n))


def caterpillar(n: int, spine: int, bearers: Any) -> sp.csr_array:
    """Return a path whose vertices `bearers` bear the leaves in turn."""
    leaves = np.arange(spine, n)
    first = np.concatenate([np.arange(spine - 1), bearers[(leaves - spine) % len(bearers)]])
    return adjacency(n, first, np.concatenate([np.arange(1, spine), leaves]))


GRAPHS: dict[str, Callable[[int], Any]] = {
    "star": star,
    "caterpillar": lambda n: caterpillar(n, n // 6, np.arange(n // 6)),
    "four hubs": lambda n: caterpillar(n, n // 2, n // 2 * np.arange(1, 5) // 5),
    "barabasi_albert": lambda n: wm.graphs.barabasi_albert(n, 3, seed=0).adjacency,
}


def measure(name: str, sizes: list[int], k: int) -> dict[str, Any]:
    """Return the seconds of one kind of graph, by its size, and the exponent of their growth."""
    seconds = {}
    for n in sizes:
        matrix = GRAPHS[name](n)
        start = time.process_time()
        wm.factorize(matrix, core=64, k=k)
        seconds[str(n)] = time.process_time() - start
    exponent = None
    if len(sizes) > 1:
        exponent = float(np.polyfit(np.log(sizes), np.log(list(seconds.values())), 1)[0])
    return {"graph": name, "seconds": seconds, "exponent": exponent}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(GRAPHS))
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--k", type=int, default=4)
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    sizes = [n for n in SIZES if n <= arguments.largest]
    names = arguments.only or list(GRAPHS)
    print(f"| graph | {' | '.join(map(str, sizes))} | grows like |")
    print("|---" * (len(sizes) + 2) + "|")
    for n in (500, 1500, 21_000):  # compile what each engine uses
        wm.factorize(star(n), core=8, k=arguments.k)
    rows = []
    for name in names:
        rows.append(row := measure(name, sizes, arguments.k))
        cells = " | ".join(f"{seconds:.1f}" for seconds in row["seconds"].values())
        growth = "" if row["exponent"] is None else f"n^{row['exponent']:.2f}"
        print(f"| {name} | {cells} | {growth} |", flush=True)
    keep("bench_hubs", names, {"k": arguments.k, "sizes": sizes}, [], rows)


if __name__ == "__main__":
    main()
