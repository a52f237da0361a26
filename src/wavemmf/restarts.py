"""Search for good indices: a selector chooses many times, the best few are optimised."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._progress import silent
from .errors import InvalidInputError
from .factorization import Factorization, History, Rotations
from .kernels.threads import num_threads, run_all
from .optimize import Settings, optimize
from .select import Selector, Task, check_chosen
from .select.parallel import in_parallel

__all__ = ["Candidate", "search"]


@dataclass(frozen=True)
class Candidate:
    """Rotations and the error they have."""

    rotations: Rotations
    error: float

    @cached_property
    def indices(self) -> bytes:
        """What tells its index sets from others."""
        return self.rotations.groups.tobytes() + self.rotations.wavelets.tobytes()

    @cached_property
    def groups(self) -> frozenset[frozenset[int]]:
        """The groups of all levels, in no order."""
        levels = range(1, self.rotations.num_levels + 1)
        return frozenset(frozenset(self.rotations.group(level).tolist()) for level in levels)

    def relatedness(self, other: Candidate) -> float:
        """Return the share of their groups that both have."""
        return len(self.groups & other.groups) / max(1, len(self.groups | other.groups))


def search(
    matrix: Any,
    selector: Selector,
    task: Task,
    restarts: int,
    finalists: int,
    settings: Settings | None,
) -> tuple[Rotations, History]:
    """Let the selector choose `restarts` times, and optimise the best.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    selector : Selector
        Where the candidates come from.
    task : Task
        Sizes, seed and progress.
    restarts : int
        Number of candidates.
    finalists : int
        How many of them, by closed-form error, are optimised.
    settings : Settings, optional
        How they are optimised; without it the best candidate is returned as it is.

    Returns
    -------
    rotations : Rotations
        The best found.
    history : History
        That of the winner; ``details`` tells the spread of all candidates.
    """
    candidates = _ranked(matrix, selector, task, restarts)
    spread = {
        "restarts": restarts,
        "closed_form_errors": _summary([candidate.error for candidate in candidates]),
    }
    if settings is None:
        best = candidates[0]
        reached = "all runs done"
        return best.rotations, History(selector.name, (best.error,), (0.0,), reached, spread)
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    chosen = _different(candidates, finalists, getattr(selector, "relatedness", 1.0))
    results, interrupted = _optimise_finalists(dense, chosen, task, settings)
    rotations, history = min(results, key=lambda result: float(result[1].details["objective"]))
    errors = sorted(history.errors[-1] for _, history in results)
    details = {**history.details, **spread, "optimized_errors": errors}
    stopped = "interrupted" if interrupted else history.stopped
    return rotations, replace(history, details=details, stopped=stopped)


def _ranked(matrix: Any, selector: Selector, task: Task, count: int) -> list[Candidate]:
    """Return `count` choices of the selector with their exact errors, best first."""
    samples: Sequence[Any] = selector.sample(matrix, task, count)
    if len(samples) != count:
        raise InvalidInputError(
            f"the selector {selector.name!r} was asked for {count} samples and gave {len(samples)}"
        )

    def judge(sample: Any) -> Candidate:
        rotations = check_chosen(selector, sample, matrix.shape[0], task)
        return Candidate(rotations, Factorization.from_rotations(matrix, rotations).error())

    candidates = in_parallel(judge, samples, silent, "")
    return sorted(candidates, key=lambda candidate: candidate.error)


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


def _different(ranked: list[Candidate], count: int, relatedness: float) -> list[Candidate]:
    """Return the best that are no copies and not too closely related, then the best of the rest."""
    distinct: dict[bytes, Candidate] = {}
    for candidate in ranked:
        distinct.setdefault(candidate.indices, candidate)
    if relatedness >= 1.0:
        return list(distinct.values())[:count]
    chosen: list[Candidate] = []
    relatives: list[Candidate] = []
    for candidate in distinct.values():
        if len(chosen) == count:
            break
        related = any(candidate.relatedness(other) > relatedness for other in chosen)
        (relatives if related else chosen).append(candidate)
    return (chosen + relatives)[:count]


def _summary(errors: list[float]) -> dict[str, float]:
    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
    return {
        "best": float(min(errors)),
        "mean": float(np.mean(errors)),
        "tenth": float(low),
        "median": float(middle),
        "ninetieth": float(high),
        "worst": float(max(errors)),
    }
