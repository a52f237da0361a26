"""What is gained if rows that are wavelets as they are wait for levels that cost.

    python benchmarks/study_room.py [--steps 500] [--record FILE]

Trees, caterpillars, lollipops: graphs with twins, whose differences are such rows. Each is
factorized (core 8), and all rotations are optimised: of the levels as they were chosen, and of
those that `factorize` hands to the optimiser. The closed-form error is the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import networkx as nx
import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.select import Task, greedy

# Errors below this, relative to the matrix, count as zero.
_ZERO = 1e-5


def graphs() -> Iterator[tuple[str, nx.Graph]]:
    for seed in range(3):
        n = 50 + 20 * seed
        sequence = np.random.default_rng(seed).integers(0, n, n - 2).tolist()
        yield f"random tree {seed}", nx.from_prufer_sequence(sequence)
    for seed in range(6):
        n = 60 if seed < 3 else 50
        yield f"scale-free tree {seed}", nx.barabasi_albert_graph(n, 1, seed=seed)
    for seed in range(3):
        yield f"caterpillar {seed}", _caterpillar(np.random.default_rng(seed).integers(0, 10, 28))
    yield "caterpillar", _caterpillar(np.repeat(np.arange(10), 3))
    for branching, height in ((2, 4), (2, 5), (2, 6), (3, 3), (3, 4), (4, 3), (5, 3)):
        yield f"tree {branching}, {height}", nx.balanced_tree(branching, height)
    yield "lollipop 12, 14", nx.lollipop_graph(12, 14)
    yield "lollipop 8, 20", nx.lollipop_graph(8, 20)
    yield "barbell 9, 12", nx.barbell_graph(9, 12)


def _caterpillar(legs: np.ndarray) -> nx.Graph:
    body = nx.path_graph(10)
    body.add_edges_from((int(leg), 10 + number) for number, leg in enumerate(legs))
    return body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    measured = []
    print(f"{'graph':<18} k  closed form   as chosen   with room")
    for name, graph in graphs():
        for k in (4, 8):
            matrix = wm.graphs.as_matrix(graph).toarray()
            rotations = greedy(matrix, Task(8, k, 1), "exhaustive", "auto")  # makes no room
            chosen = wm.Factorization.from_rotations(matrix, rotations)
            before = wm.refine(chosen, matrix, steps=arguments.steps)
            after = wm.factorize(graph, core=8, k=k, optimize="lbfgs", steps=arguments.steps)
            if before.rotations.groups.tolist() == after.rotations.groups.tolist():
                continue  # no such rows
            errors = [f.relative_error() for f in (chosen, before, after)]
            print(f"{name:<18}{k:2}" + "".join(f"{error:12.6f}" for error in errors), flush=True)
            measured.append({"graph": name, "k": k, "errors": errors})
    ratios = np.array([max(m["errors"][2], _ZERO) / max(m["errors"][1], _ZERO) for m in measured])
    print(
        f"\n{ratios.size} cases: {(ratios < 0.99).sum()} better by more than 1 %, "
        f"{(ratios > 1.01).sum()} worse; median {np.median(ratios):.2f}, "
        f"geometric mean {np.exp(np.log(ratios).mean()):.2f}"
    )
    keep("study_room", [m["graph"] for m in measured], {"steps": arguments.steps}, [], measured)


if __name__ == "__main__":
    main()
