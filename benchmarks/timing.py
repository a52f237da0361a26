"""Timing shared by the benchmarks: alternate the contenders, report medians and ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def alternate(contenders: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each contender, taking turns so that a noisy machine is fair to all.

    A turn is a few runs in a row after a pause: the worker threads of a BLAS library keep a core
    busy for a while after their last product, which would be charged to whoever comes next.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    in_a_row = max(1, repeats // 5)
    for turn in range(-(-repeats // in_a_row)):
        for name, run in contenders.items():
            time.sleep(0.3)
            if turn == 0:
                run()  # compile and warm up
            for _ in range(in_a_row):
                start = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}
