"""Search for good indices: many randomised greedy runs, the best few optimised."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._progress import silent
from .factorization import Factorization, History, Rotations
from .kernels.threads import num_threads, run_all
from .optimize import Settings, optimize
from .select import Task, greedy

__all__ = ["Candidate", "search"]

# Combinations of noise the runs go through; the first is the plain greedy.
_SCORE_NOISE = (0.0, 0.2, 0.5, 1.0)
_CORRELATION_NOISE = (0.0, 0.05, 0.15, 0.3)
_SURVIVORS = ("eigenvectors", "nearest")


@dataclass(frozen=True)
class Candidate:
    """Rotations and the error they have."""

    rotations: Rotations
    error: float


def search(
    matrix: Any, task: Task, pairs: str, restarts: int, finalists: int, settings: Settings | None
) -> tuple[Rotations, History]:
    """Run the greedy selector `restarts` times with noise, and optimise the best.

    Parameters
    ----------
    matrix : ndarray
        The symmetric matrix, dense.
    task : Task
        Sizes, seed and progress.
    pairs : str
        For k = 2, how partners are found.
    restarts : int
        Number of randomised runs.
    finalists : int
        How many of them, by closed-form error, are optimised.
    settings : Settings, optional
        How they are optimised; without it the best run is returned as it is.

    Returns
    -------
    rotations : Rotations
        The best found.
    history : History
        That of the winner; ``details`` tells the spread of all runs.
    """
    candidates = _randomised_runs(matrix, task, pairs, restarts)
    candidates.sort(key=lambda candidate: candidate.error)
    spread = {
        "restarts": restarts,
        "closed_form_errors": _summary([candidate.error for candidate in candidates]),
    }
    if settings is None:
        best = candidates[0]
        return best.rotations, History("greedy", (best.error,), (0.0,), "all runs done", spread)
    results, interrupted = _optimise_finalists(
        matrix, _distinct(candidates)[:finalists], task, settings
    )
    rotations, history = min(results, key=lambda result: float(result[1].details["objective"]))
    errors = sorted(history.errors[-1] for _, history in results)
    details = {**history.details, **spread, "optimized_errors": errors}
    stopped = "interrupted" if interrupted else history.stopped
    return rotations, replace(history, details=details, stopped=stopped)


def _optimise_finalists(
    matrix: Any, chosen: list[Candidate], task: Task, settings: Settings
) -> tuple[list[tuple[Rotations, History]], bool]:
    """Optimise as many at a time as there are threads; Ctrl-C keeps those that are done."""
    cancelled = threading.Event()

    def stop(step: int, error: float) -> bool:
        asked = settings.callback is not None and settings.callback(step, error)
        return bool(asked) or cancelled.is_set()

    quiet = replace(settings, report=silent, callback=stop)
    results: list[tuple[Rotations, History]] = []
    batch = num_threads()
    try:
        for first in range(0, len(chosen), batch):
            calls = [(matrix, each.rotations, quiet) for each in chosen[first : first + batch]]
            results += run_all(optimize, calls)
            task.report(len(results), len(chosen), "optimising")
            if any(history.stopped == "interrupted" for _, history in results):
                return results, True
    except KeyboardInterrupt:
        cancelled.set()  # workers end after their present step
        if not results:
            raise
        return results, True
    return results, False


def _randomised_runs(matrix: Any, task: Task, pairs: str, restarts: int) -> list[Candidate]:
    def run(index: int) -> Candidate:
        noisy = replace(
            task,
            seed=task.seed * 1_000_003 + index,
            report=silent,
            score_noise=_SCORE_NOISE[index // 2 % 4],
            correlation_noise=_CORRELATION_NOISE[index // 8 % 4],
        )
        rotations = greedy(matrix, noisy, pairs, _SURVIVORS[index % 2])
        return Candidate(rotations, Factorization.from_rotations(matrix, rotations).error())

    calls = [(index,) for index in range(restarts)]
    runs: list[Candidate] = _with_progress(run, calls, task, "greedy runs")
    return runs


def _with_progress(function: Any, calls: list[tuple[Any, ...]], task: Task, note: str) -> list[Any]:
    """Run the calls on all threads, a batch at a time so that Ctrl-C and progress get a turn."""
    results: list[Any] = []
    batch = 16
    for first in range(0, len(calls), batch):
        results += run_all(function, calls[first : first + batch])
        task.report(len(results), len(calls), note)
    return results


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Drop candidates with the same index sets as a better one."""
    seen: set[bytes] = set()
    kept = []
    for candidate in candidates:
        r = candidate.rotations
        key = r.groups.tobytes() + r.wavelets.tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(candidate)
    return kept


def _summary(errors: list[float]) -> dict[str, float]:
    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
    return {
        "best": float(min(errors)),
        "tenth": float(low),
        "median": float(middle),
        "ninetieth": float(high),
        "worst": float(max(errors)),
    }
