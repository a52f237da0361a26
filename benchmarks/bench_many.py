"""Factorize a data set of small graphs: `factorize_many` against a loop over `factorize`.

    python benchmarks/bench_many.py [--steps 500] [--name NCI1] [--record FILE]

Needs the data folder (WAVEMMF_DATA). Times are after compilation; the loop runs on every 20th
graph and is scaled up.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

SAMPLE = 20
Row = dict[str, Any]


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    result = run()
    return result, time.perf_counter() - wall, time.process_time() - processor


def compare(graphs: list[wm.graphs.Graph], title: str, settings: dict[str, Any]) -> Row:
    some = graphs[::SAMPLE]
    wm.factorize_many(graphs[:64], **settings)  # compile
    wm.factorize(graphs[0], **settings)
    together, wall, processor = timed(lambda: wm.factorize_many(graphs, **settings))
    alone, one_wall, one_processor = timed(
        lambda: [wm.factorize(graph, **{**settings, "core": min(2, graph.n)}) for graph in some]
    )
    scale = len(graphs) / len(some)
    error = np.mean([f.relative_error() for f in together])
    assert all(a.error() == b.error() for a, b in zip(together[::SAMPLE], alone, strict=True))
    print(
        f"{title}: {wall:.1f} s ({processor:.1f} s of processor time), mean relative error "
        f"{error:.4f}; a loop over factorize {scale * one_wall:.0f} s "
        f"({scale * one_processor:.0f} s), ratio {scale * one_wall / wall:.1f}"
    )
    seconds = {"seconds": wall, "processor_seconds": processor, "loop_seconds": scale * one_wall}
    return {"case": title, "relative_error": error, **seconds}


def cached(graphs: list[wm.graphs.Graph], settings: dict[str, Any]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        wm.factorize_many(graphs, **settings, cache=folder)
        _, wall, _ = timed(lambda: wm.factorize_many(graphs, **settings, cache=folder))
    print(f"the same from the cache: {wall:.1f} s")
    return {"case": "from the cache", "seconds": wall}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="NCI1")
    parser.add_argument("--steps", type=int, nargs="*", default=[200, 500])
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    data = wm.datasets.tu_dataset(arguments.name)
    print(f"{data}, {np.mean([g.n for g in data.graphs]):.1f} nodes on average")
    pairs = {"core": 2, "k": 2}
    rows = [
        compare(data.graphs, "k=2, core 2", pairs),
        cached(data.graphs, pairs),
        compare(data.graphs, "k=8, core 2", {"core": 2, "k": 8}),
    ]
    for steps in arguments.steps:
        learned = {"core": 2, "k": 8, "optimize": "lbfgs", "steps": steps}
        rows.append(compare(data.graphs, f"k=8, core 2, L-BFGS, {steps} steps", learned))
    keep("bench_many", [arguments.name], {"steps": arguments.steps}, [], rows)


if __name__ == "__main__":
    main()
