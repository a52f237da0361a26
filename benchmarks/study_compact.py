"""Full blocks and compact levels at equal multiplications and at equal numbers.

A full level of k rows takes k^2 multiplications and as many numbers, a compact one 2k
multiplications and k numbers: so full blocks with k = 4 are compared with compact levels of 8 rows
(multiplications) and 16 rows (numbers). Errors are relative to the norm of the matrix.

    python benchmarks/study_compact.py karate les_miserables cayley [--optimize] [--record F]
"""

from __future__ import annotations

import argparse
from typing import Any

import networkx as nx

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

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
    add_record_option(parser)
    options = parser.parse_args()
    keep = Recorder(options.record)
    optimize = "lbfgs" if options.optimize else None
    print("| matrix, core | levels | k | relative error | numbers | multiplications |")
    print("|---|---|---|---|---|---|")
    rows = [
        measured(name, rotations, k, optimize)
        for name in options.graphs
        for rotations, k in SETTINGS
    ]
    keep("study_compact", options.graphs, {"optimize": optimize}, [0], rows)


def measured(name: str, rotations: str, k: int, optimize: str | None) -> dict[str, Any]:
    """Factorize, and print a row of the table."""
    graph, core = GRAPHS[name]
    f = wm.factorize(graph(), core=core, k=k, rotations=rotations, optimize=optimize)
    row = {
        "graph": name, "core": core, "rotations": rotations, "k": k,
        "relative_error": f.relative_error(), "stored_numbers": f.stored_numbers,
        "multiplications": f.multiplications,
    }  # fmt: skip
    print(
        f"| {name}, {core} | {rotations} | {k} | {f.relative_error():.4f} | "
        f"{f.stored_numbers} | {f.multiplications} |",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
