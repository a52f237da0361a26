"""How much the error of the greedy selector depends on the order of the rows.

    python benchmarks/study_orders.py [--orders 50] [--only karate] [--engine sparse] [--record F]

Every matrix is factorized in its own order and in random ones, the same for every version of the
library. One line for each matrix and k: the relative error in the order the matrix came with, the
smallest, the median and the largest over all orders, and their ratio.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

# Which molecules: every 211th of NCI1, chosen for no other reason.
MOLECULES = range(10, 4110, 211)
SIZES = (2, 4, 8)


def matrices(only: list[str] | None) -> Iterator[tuple[str, int, Any]]:
    """Yield names, sizes of the core, and normalized Laplacians."""
    for name, core, load in (
        ("karate", 8, wm.graphs.karate),
        ("cayley", 8, lambda: wm.graphs.cayley_tree(4, 4)),
        ("les-miserables", 12, lambda: nx.to_scipy_sparse_array(nx.les_miserables_graph())),
        ("minnesota", 264, lambda: wm.graphs.named("minnesota")),
    ):
        if only is None or name in only:
            yield name, core, wm.graphs.normalized_laplacian(load())
    if only is None or "molecules" in only:
        graphs = wm.datasets.tu_dataset("NCI1").graphs
        for index in MOLECULES:
            laplacian = wm.graphs.normalized_laplacian(graphs[index])
            yield f"NCI1-{index}", max(2, laplacian.shape[0] // 8), laplacian


def errors(matrix: Any, core: int, k: int, orders: int, **options: Any) -> list[float]:
    """Return the relative errors, that of the matrix as it is first."""
    rng = np.random.default_rng(0)
    n = matrix.shape[0]
    found = [wm.factorize(matrix, core=core, k=k, **options).relative_error()]
    for _ in range(orders):
        order = rng.permutation(n)
        shuffled = matrix[order][:, order]
        found.append(wm.factorize(shuffled, core=core, k=k, **options).relative_error())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--orders", type=int, default=50, help="random orders of the rows")
    parser.add_argument("--only", action="append", help="name of a matrix, or: molecules")
    parser.add_argument("--k", type=int, action="append", help="sizes of the rotations")
    parser.add_argument("--engine", default="auto", help="dense, sparse or auto")
    parser.add_argument("--optimize", help="optimise the rotations, for example with lbfgs")
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    options = {"engine": given.engine, "optimize": given.optimize}
    rows = []
    for name, core, matrix in matrices(given.only):
        for k in given.k or SIZES:
            found = errors(matrix, core, k, given.orders, **options)
            rows.append({"data": name, "core": core, "k": k, "relative_errors": found})
            low, middle, high = min(found), float(np.median(found)), max(found)
            ratio = high / low if low > 1e-12 else 1.0
            print(
                f"{name:16} n={matrix.shape[0]:<5} core={core:<4} k={k}  as given {found[0]:.5f}  "
                f"min {low:.5f}  median {middle:.5f}  max {high:.5f}  max/min {ratio:.4f}",
                flush=True,
            )
    names = list(dict.fromkeys(str(row["data"]) for row in rows))
    settings = {**options, "orders": given.orders, "k": given.k or SIZES}
    keep("study_orders", names, settings, [0], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
