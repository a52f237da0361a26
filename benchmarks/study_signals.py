"""How few coefficients say a signal: wavelets of diffusions, and other bases; and large graphs.

    python benchmarks/study_signals.py [--only terms] [--only tuning] [--only size] [--record F]

terms   relative error of the largest 5, 10, 20 and 30 % of the coefficients, Toronto intersections
        with streets of weight 1/length
tuning  the same for settings of the diffusion, means over random functions of coordinates on other
        graphs, and over classes of papers on two citation graphs
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
SETTINGS: list[dict[str, Any]] = [
    {},
    {"balanced": True},
    {"time": 32},
    {"time": 512},
    {"ratio": 0.7},
    {"tolerance": 0.003},
]
LARGE = ("luxembourg_osm", "moscow-roads", "grid-100", "grid-300", "grid-1000")
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
    balanced = wm.select.Diffusion(balanced=True)
    bases: dict[str, Any] = {
        "diffusion, k = 2": wm.wavelets(graph).analyze,
        "diffusion, k = 4": wm.wavelets(graph, k=4).analyze,
        "balanced, k = 2": wm.wavelets(graph, select=balanced).analyze,
        "balanced, k = 4": wm.wavelets(graph, k=4, select=balanced).analyze,
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
    graphs = [wm.graphs.grid(28, 28), sparse_triangulation(800, rng)]
    graphs += [part_of(wm.graphs.minnesota(), 500), part_of(wm.datasets.snap("amsterdam-roads"))]
    problems = [(graph, fields(graph, rng)) for graph in graphs]
    problems += [with_labels(name) for name in ("Cora", "CiteSeer")]
    rows = []
    for settings in SETTINGS:
        select = wm.select.Diffusion(**settings)
        found = [errors(wm.wavelets(g, select=select).analyze(x)) for g, x in problems]
        for of, chosen in (("fields", found[:4]), ("labels", found[4:])):
            mean = np.mean(chosen, axis=0).tolist()
            basis = json.dumps(settings)
            rows.append({"what": "tuning", "signal": of, "basis": basis, "errors": mean})
    return rows


def part_of(roads: wm.graphs.Graph, start: int = 1000, count: int = 900) -> wm.graphs.Graph:
    """Return the vertices nearest to one, with weights 1/length."""
    from scipy.sparse.csgraph import breadth_first_order

    whole = wm.graphs.adjacency(roads)
    order = breadth_first_order(whole, start, directed=False, return_predecessors=False)
    nodes = np.sort(order[:count])
    inside = sp.csr_array(whole[nodes][:, nodes])
    points = roads.coordinates[nodes]
    part = wm.graphs.Graph(inside, coordinates=points, name=f"part of {roads.name}")
    shortest = 1e-3 * float(np.ptp(points))
    return wm.graphs.weights_from_lengths(part, "coordinates", at_least=shortest)


def with_labels(name: str) -> tuple[Any, Any]:
    """Return a citation graph, and a signal for each class: which papers belong to it."""
    graph = wm.datasets.planetoid(name).graph
    labels = np.asarray(graph.labels)
    return graph, np.eye(int(labels.max()) + 1)[labels]


def fields(graph: wm.graphs.Graph, rng: np.random.Generator) -> Any:
    """Return random functions of the coordinates: counts, rough and smooth fields, patches."""
    points = np.asarray(graph.coordinates, float)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    signals = []
    for reach in (0.05, 0.15, 0.4):
        scaled = apart / reach
        rough, smooth = np.exp(-scaled), (1 + 3**0.5 * scaled) * np.exp(-(3**0.5) * scaled)
        roots = [np.linalg.cholesky(c + 1e-8 * np.eye(len(c))) for c in (rough, smooth)]
        draws = [root @ rng.normal(size=(len(points), 3)) for root in roots]
        noise = rng.normal(size=(len(points), 3))
        signals += [np.exp(1.2 * draws[0][:, 0] + 0.5 * noise[:, 0])]
        signals += [rng.poisson(3 * np.exp(draws[0][:, 1])).astype(float), draws[0][:, 2]]
        signals += [draws[1][:, 0] + 0.1 * noise[:, 1]]
        centres = rng.random((int(2 / reach) + 2, 2))
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=-1).argmin(axis=1)
        signals += [rng.normal(size=len(centres))[nearest] + 0.1 * noise[:, 2]]
    return np.stack(signals, axis=1)


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


def measure(name: str) -> Row:
    """Measure one large graph in this process."""
    wm.wavelets(wm.graphs.grid(40, 40))  # compiles
    side = int(name.partition("-")[2]) if name.startswith("grid-") else 0
    graph = wm.graphs.grid(side, side) if side else wm.datasets.snap(name)
    matrix: sp.csr_array = wm.graphs.normalized_laplacian(graph)
    start, started = time.perf_counter(), time.process_time()
    f = wm.wavelets(matrix)
    seconds = time.perf_counter() - start
    busy = time.process_time() - started
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    x = np.random.default_rng(0).normal(size=f.n)
    return {
        "what": "size", "graph": name, "rows": f.n, "seconds": seconds,
        "busy": busy, "gigabytes": gigabytes,
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
            f"{row['busy']:.1f} s of processor time | "
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
