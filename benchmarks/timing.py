"""Timing shared by the benchmarks: alternate the contenders, report medians and ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def alternate(contenders: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each contender, run in turn so that a noisy machine is fair to all."""
    for run in contenders.values():
        run()  # compile and warm up
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}
