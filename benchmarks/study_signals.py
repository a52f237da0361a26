"""How few coefficients say a signal: wavelets of diffusions, and other bases; and large graphs.

    python benchmarks/study_signals.py [--only terms] [--only tuning] [--only size] [--record F]

terms   relative error of the largest 5, 10, 20 and 30 % of the coefficients, Toronto intersections
        with streets of weight 1/length
tuning  the same for settings of the diffusion, mean over random signals on other graphs: this is
        what the defaults were chosen by
size    seconds, memory and non-zeros of the wavelets of large graphs, each in a process of its own
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.experiments.signals import eigenvector_basis, haar_basis, toronto

SHARES = (0.05, 0.1, 0.2, 0.3)
SETTINGS = [
    {"time": t, "ratio": r, "tolerance": e}
    for t, r, e in (
        (2, 0.7, 0.01), (2, 0.7, 0.003), (4, 0.6, 0.003), (8, 0.5, 0.003),
        (8, 0.6, 0.003), (8, 0.7, 0.003), (16, 0.6, 0.003), (8, 0.85, 0.003), (8, 0.6, 0.03),
    )
]  # fmt: skip
LARGE = ("luxembourg_osm", "amsterdam-roads", "grid-300")
Row = dict[str, Any]


def errors(coefficients: Any) -> list[float]:
    """Relative errors of the largest coefficients, the mean of all columns."""
    energy = np.sort(coefficients.reshape(len(coefficients), -1) ** 2, axis=0)[::-1]
    whole = energy.sum(axis=0)
    kept = [round(share * len(energy)) for share in SHARES]
    return [float(np.sqrt(energy[count:].sum(axis=0) / whole).mean()) for count in kept]


def terms() -> list[Row]:
    graph, signals = toronto()
    graph = wm.graphs.weights_from_lengths(graph, "coordinates")
    bases: dict[str, Any] = {
        "diffusion, k = 2": wm.wavelets(graph).analyze,
        "diffusion, k = 4": wm.wavelets(graph, k=4).analyze,
        "Laplacian MMF, k = 2": wm.factorize(graph, core=8, k=2).analyze,
        "Haar": haar_basis(graph).__matmul__,
        "eigenvectors": eigenvector_basis(graph).__matmul__,
    }
    return [
        {"what": "terms", "basis": name, "signal": of, "errors": errors(analyze(x))}
        for of, x in signals.items()
        for name, analyze in bases.items()
    ]


def tuning() -> list[Row]:
    rng = np.random.default_rng(0)
    roads = wm.graphs.minnesota()
    shortest = 1e-3 * float(np.ptp(roads.coordinates))
    graphs = [wm.graphs.weights_from_lengths(roads, "coordinates", at_least=shortest)]
    graphs += [wm.graphs.grid(40, 40), sparse_triangulation(1500, rng)]
    problems = [(graph, random_signals(graph, rng)) for graph in graphs]
    rows = []
    for settings in SETTINGS:
        select = wm.select.Diffusion(**settings)
        found = [errors(wm.wavelets(g, select=select).analyze(x)) for g, x in problems]
        mean = np.mean(found, axis=0).tolist()
        rows.append({"what": "tuning", "basis": json.dumps(settings), "errors": mean})
    return rows


def sparse_triangulation(n: int, rng: np.random.Generator) -> wm.graphs.Graph:
    """Return random points with six of ten edges of their triangulation."""
    from scipy.spatial import Delaunay

    points = rng.random((n, 2))
    corners = Delaunay(points).simplices
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]))
    edges = np.unique(edges, axis=0)
    tails, heads = edges[rng.random(len(edges)) < 0.6].T
    graph = wm.graphs.graph_from_edges(n, tails, heads, coordinates=points)
    return wm.graphs.weights_from_lengths(graph, "coordinates", at_least=1e-3)


def random_signals(graph: wm.graphs.Graph, rng: np.random.Generator) -> Any:
    """Return smooth fields with noise, their exponentials (heavy tails), and patches."""
    matrix = wm.graphs.normalized_laplacian(graph).toarray()
    values, vectors = np.linalg.eigh(matrix)
    signals = []
    for draw in range(6):
        decay = np.maximum(values, 1e-3) ** -(0.5 if draw % 2 else 1.0)
        field = vectors @ (decay * (vectors.T @ rng.normal(size=graph.n)))
        field, rough = field / field.std(), rng.normal(size=graph.n)
        patches = np.argmax(vectors[:, :30] @ rng.normal(size=(30, 6)), axis=1)
        signals += [np.exp(field + 0.4 * rough), field + 0.2 * rough]
        signals += [rng.normal(size=6)[patches] + 0.1 * rough]
    return np.stack(signals, axis=1)


def measure(name: str) -> Row:
    """Measure one large graph in this process."""
    wm.wavelets(wm.graphs.grid(150, 150))  # compiles
    side = int(name.partition("-")[2]) if name.startswith("grid-") else 0
    graph = wm.graphs.grid(side, side) if side else wm.datasets.snap(name)
    matrix: sp.csr_array = wm.graphs.normalized_laplacian(graph)
    start = time.perf_counter()
    f = wm.wavelets(matrix)
    seconds = time.perf_counter() - start
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    x = np.random.default_rng(0).normal(size=f.n)
    return {
        "what": "size", "graph": name, "rows": f.n, "seconds": seconds, "gigabytes": gigabytes,
        "nonzeros": f.basis(threshold=1e-3).nnz / f.n,
        "reconstruction": float(np.abs(f.synthesize(f.analyze(x)) - x).max()),
    }  # fmt: skip


def size() -> list[Row]:
    rows = []
    for name in LARGE:
        command = [sys.executable, __file__, "--graph", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout))
    return rows


def show(row: Row) -> None:
    if row["what"] == "size":
        print(
            f"| {row['graph']} | {row['rows']} | {row['seconds']:.1f} s | "
            f"{row['gigabytes']:.2f} GB | {row['nonzeros']:.1f} non-zeros per wavelet | "
            f"reconstruction {row['reconstruction']:.1e} |"
        )
        return
    figures = " | ".join(f"{error:.3f}" for error in row["errors"])
    print(f"| {row.get('signal', 'synthetic')} | {row['basis']} | {figures} |")


def main() -> int:
    studies = {"terms": terms, "tuning": tuning, "size": size}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=list(studies))
    parser.add_argument("--graph", help=argparse.SUPPRESS)
    add_record_option(parser)
    given = parser.parse_args()
    if given.graph:
        print(json.dumps(measure(given.graph)))
        return 0
    keep = Recorder(given.record)
    chosen = given.only or list(studies)
    rows = []
    for name in chosen:
        for row in studies[name]():
            show(row)
            rows.append(row)
        sys.stdout.flush()
    keep("study_signals", chosen, {"shares": SHARES}, [0], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
