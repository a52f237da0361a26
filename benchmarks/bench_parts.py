"""Size of the pieces of work that a large sparse matrix falls into, for planning a cluster.

    python benchmarks/bench_parts.py [side of the grid] [--record FILE]

For every stage: parts, seconds of one part on one thread, bytes sent and returned per part, and
the time that the process that cuts and joins spends between the stages.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.large import reduce_in_stages
from wavemmf.parallel.executor import use_executor
from wavemmf.select._part import Method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("side", type=int, nargs="?", default=512, help="of the grid")
    add_record_option(parser)
    given = parser.parse_args()
    keep, side = Recorder(given.record), given.side
    matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(side, side))
    n = matrix.shape[0]
    inside = 0.0
    rows = []

    def run(function: Any, calls: Sequence[tuple[Any, ...]], finished: Any) -> list[Any]:
        nonlocal inside
        start = time.perf_counter()
        results, seconds, sent, returned = [], [], [], []
        for call in calls:
            before = time.process_time()
            results.append(function(*call))
            seconds.append(time.process_time() - before)
            sent.append(len(pickle.dumps(call, protocol=5)))
            returned.append(len(pickle.dumps(results[-1], protocol=5)))
        size = np.mean([call[0].matrix.shape[0] for call in calls])
        rows.append((len(calls), size, np.mean(seconds), np.mean(sent), np.mean(returned)))
        inside += time.perf_counter() - start
        return results

    method = Method(4, 1, False, True, 1e-5)
    reduce_in_stages(matrix[:500][:, :500], 50, method)  # compile
    start = time.perf_counter()
    with use_executor(run):
        reduce_in_stages(matrix, n // 10, method)
    total = time.perf_counter() - start
    print(f"grid {side} x {side}, n = {n}, k = 4, core n/10")
    print("parts  rows/part  s/part  MB sent  MB returned")
    for parts, size, seconds, sent, returned in rows:
        print(f"{parts:5d}  {size:9.0f}  {seconds:6.2f}  {sent / 1e6:7.2f}  {returned / 1e6:11.2f}")
    work = sum(row[0] * row[2] for row in rows)
    moved = sum(row[0] * (row[3] + row[4]) for row in rows)
    print(
        f"in all {work:.1f} s of work, {moved / 1e6:.0f} MB moved; per million rows "
        f"{work / n * 1e6:.1f} s and {moved / n:.0f} MB; cutting and joining "
        f"{(total - inside) / n * 1e6:.1f} s per million rows"
    )
    names = ("parts", "rows_per_part", "seconds_per_part", "bytes_sent", "bytes_returned")
    stages = [dict(zip(names, row, strict=True)) for row in rows]
    keep("bench_parts", [f"grid {side}x{side}"], {"k": 4, "core": n // 10}, [], stages)


if __name__ == "__main__":
    main()
