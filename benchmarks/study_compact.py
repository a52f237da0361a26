"""Full blocks and compact levels at equal multiplications and at equal numbers.

A full level of k rows takes k^2 multiplications and as many numbers, a compact one 2k
multiplications and k numbers: so full blocks with k = 4 are compared with compact levels of 8 rows
(multiplications) and 16 rows (numbers). Errors are relative to the norm of the matrix.

    python benchmarks/study_compact.py karate les_miserables cayley grid minnesota [--optimize]
"""

from __future__ import annotations

import argparse

import networkx as nx

import wavemmf as wm

#: Graph and size of the core.
GRAPHS = {
    "karate": (wm.graphs.karate, 8),
    "les_miserables": (nx.les_miserables_graph, 12),
    "cayley": (lambda: wm.graphs.cayley_tree(4, 4), 16),
    "grid": (lambda: wm.graphs.grid(32, 32), 102),
    "minnesota": (wm.datasets.minnesota, 264),
}
SETTINGS = [("full", 4), ("compact", 8), ("compact", 16), ("full", 8), ("compact", 32)]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", choices=GRAPHS)
    parser.add_argument("--optimize", action="store_true", help="500 steps of L-BFGS")
    options = parser.parse_args()
    optimize = "lbfgs" if options.optimize else None
    print("| matrix, core | levels | k | relative error | numbers | multiplications |")
    print("|---|---|---|---|---|---|")
    for name in options.graphs:
        graph, core = GRAPHS[name]
        for rotations, k in SETTINGS:
            f = wm.factorize(graph(), core=core, k=k, rotations=rotations, optimize=optimize)
            print(
                f"| {name}, {core} | {rotations} | {k} | {f.relative_error():.4f} | "
                f"{f.stored_numbers} | {f.multiplications} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
