"""Full blocks and compact levels at equal multiplications and at equal numbers.

A full level of k rows takes k^2 multiplications and as many numbers, a compact one 2k
multiplications and k numbers: so full blocks with k = 4 are compared with compact levels of 8 rows
(multiplications) and 16 rows (numbers). Errors are relative to the norm of the matrix.

    python benchmarks/study_compact.py karate les_miserables cayley grid protein minnesota
        [--optimize] [--rivals] [--rounded] [--record F]

With --rivals each row also has the errors of a truncated Jacobi iteration and of a truncated
eigendecomposition, each with as many multiplications, and with as many numbers. With --rounded it
has what single precision and 16 bits cost, and the bytes of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option


def protein() -> Any:
    """Return the first protein of D&D."""
    return wm.datasets.tu_dataset("DD").graphs[0]


#: Graph and size of the core.
GRAPHS: dict[str, tuple[Callable[[], Any], int]] = {
    "karate": (wm.graphs.karate, 8),
    "les_miserables": (nx.les_miserables_graph, 12),
    "cayley": (lambda: wm.graphs.cayley_tree(4, 4), 16),
    "grid": (lambda: wm.graphs.grid(32, 32), 102),
    "protein": (protein, 33),
    "minnesota": (wm.datasets.minnesota, 264),
    "kronecker": (lambda: wm.graphs.kronecker(9), 16),
}
SETTINGS = [("full", 4), ("compact", 8), ("compact", 16), ("full", 8), ("compact", 32)]
_RIVALS = ["Jacobi, multiplications", "Jacobi, numbers"]
_RIVALS += ["eigenvectors, multiplications", "eigenvectors, numbers"]
_DIGITS = ("float32", "int16")


class Rivals:
    """Other approximations of one matrix, by what they may cost."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        matrix = wm.graphs.as_matrix(graph)
        dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
        squares = np.sort(np.linalg.eigvalsh(dense) ** 2)
        self.n, self._left = len(dense), np.append(np.cumsum(squares)[::-1], 0.0)

    def jacobi(self, rotations: int) -> float:
        """Return the error of so many Givens rotations."""
        if rotations < 1:
            return float("nan")
        return wm.baselines.truncated_jacobi(self.graph, rotations).relative_error()

    def eigenvectors(self, rank: int) -> float:
        """Return the error of the best approximation of that rank."""
        return float(np.sqrt(self._left[min(rank, self.n)] / self._left[0]))

    def errors(self, f: wm.Factorization) -> list[float]:
        """Return the errors at the multiplications and at the numbers of a factorization."""
        n = self.n
        return [
            self.jacobi((f.multiplications - n) // 8),
            self.jacobi((f.stored_numbers - n) // 2),
            self.eigenvectors(f.multiplications // (2 * n + 1)),
            self.eigenvectors(f.stored_numbers // (n + 1)),
        ]


def rounded(f: wm.Factorization, graph: Any) -> list[float]:
    """Return errors and bytes of what has fewer digits."""
    values: list[float] = [f.stored_bytes]
    for digits in _DIGITS:
        r = f.rounded(graph, digits)
        values += [r.relative_error(), r.stored_bytes]
    return values


def titles(options: argparse.Namespace) -> list[str]:
    """Return the names of the columns."""
    found = ["matrix, core", "levels", "k", "relative error", "numbers", "multiplications"]
    found += _RIVALS if options.rivals else []
    if options.rounded:
        found += ["bytes", *(f"{digits}{what}" for digits in _DIGITS for what in ("", ", bytes"))]
    return found


def row(
    name: str, graph: Any, rivals: Rivals | None, setting: tuple[str, int], options: Any
) -> Any:
    """Factorize, and return the values of a row by the names of the columns."""
    core, (rotations, k) = GRAPHS[name][1], setting
    optimize = "lbfgs" if options.optimize else None
    f = wm.factorize(graph, core=core, k=k, rotations=rotations, optimize=optimize)
    values: list[Any] = [f"{name}, {core}", rotations, k, f.relative_error()]
    values += [f.stored_numbers, f.multiplications]
    values += rivals.errors(f) if rivals else []
    values += rounded(f, graph) if options.rounded else []
    return dict(zip(titles(options), values, strict=True))


def line(cells: Any) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(f"{c:.6g}" if isinstance(c, float) else str(c) for c in cells) + " |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", choices=GRAPHS)
    parser.add_argument("--optimize", action="store_true", help="500 steps of L-BFGS")
    parser.add_argument("--rivals", action="store_true", help="errors of other methods")
    parser.add_argument("--rounded", action="store_true", help="levels with fewer digits")
    add_record_option(parser)
    options = parser.parse_args()
    keep = Recorder(options.record)
    print(line(titles(options)), line("---" for _ in titles(options)), sep="\n")
    rows = []
    for name in options.graphs:
        graph = GRAPHS[name][0]()
        rivals = Rivals(graph) if options.rivals else None
        for setting in SETTINGS:
            rows.append(row(name, graph, rivals, setting, options))
            print(line(rows[-1].values()), flush=True)
    settings = {name: getattr(options, name) for name in ("optimize", "rivals", "rounded")}
    keep("study_compact", options.graphs, settings, [0], rows)


if __name__ == "__main__":
    main()
