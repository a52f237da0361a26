"""Search for good indices: a selector chooses many times, the best few are optimised.

How good a sequence becomes shows late: after a hundred steps the order of the finalists says little
about the end, and what ends near zero takes a thousand steps or more. So finalists are optimised
in rounds. All of them take half of the steps, the better half of them the other half, and what has
been saved goes to the best.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._progress import silent
from ._validation import check_integer
from .errors import InvalidInputError
from .factorization import Factorization, History, Rotations
from .optimize import Optimizer, optimize_rotations
from .parallel.runs import in_parallel
from .parallel.threads import num_threads, run_all
from .select import Selector, Task, check_chosen

__all__ = ["Candidate", "Search", "as_search", "rounds", "search"]


@dataclass(frozen=True)
class Search:
    """How many index sequences are tried, and how many of them are optimised.

    Parameters
    ----------
    count : int
        Sequences to try: randomised greedy runs, samples of another selector, or sequences bred by
        evolution. None are with 0, the selector chooses once.
    finalists : int
        How many of the best are optimised, in rounds that the better ones survive; see `rounds`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=8, restarts=Search(20), seed=1)
    >>> f.history.details["restarts"]
    20
    """

    count: int
    finalists: int = 15

    def __post_init__(self) -> None:
        check_integer("restarts", self.count, 0)
        check_integer("finalists", self.finalists, 1)


def as_search(restarts: int | Search) -> Search:
    """Return the search that `restarts` stands for.

    Examples
    --------
    >>> as_search(30)
    Search(count=30, finalists=15)
    """
    return restarts if isinstance(restarts, Search) else Search(restarts)


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


@dataclass(frozen=True)
class Finalist:
    """Rotations as far as they are optimised, the record of that, and whether they can improve."""

    rotations: Rotations
    history: History
    finished: bool

    @property
    def objective(self) -> float:
        """The objective that was reached."""
        return float(self.history.details["objective"])


def search(
    matrix: Any,
    selector: Selector,
    task: Task,
    plan: Search,
    optimizer: Optimizer | None,
) -> tuple[Rotations, History]:
    """Let the selector choose many times, and optimise the best.

    Parameters
    ----------
    matrix : ndarray or csr_array
        The symmetric matrix.
    selector : Selector
        Where the candidates come from.
    task : Task
        Sizes, seed and progress.
    plan : Search
        How many candidates, and how many of them, by closed-form error, are optimised.
    optimizer : Optimizer, optional
        How they are optimised; ``steps`` is what they take on average, see `rounds`. Without
        one the best candidate is returned as it is.

    Returns
    -------
    rotations : Rotations
        The best found.
    history : History
        That of the winner; ``details`` tells the spread of all candidates.
    """
    candidates = _ranked(matrix, selector, task, plan.count)
    spread = {
        "restarts": plan.count,
        "closed_form_errors": _summary([candidate.error for candidate in candidates]),
    }
    if optimizer is None:
        first = candidates[0]
        history = History(selector.name, (first.error,), (0.0,), "all runs done", spread)
        return first.rotations, history
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    chosen = _different(candidates, plan.finalists, getattr(selector, "relatedness", 1.0))
    reached, interrupted = _optimise(dense, chosen, task, optimizer)
    best = min(reached, key=lambda finalist: finalist.objective)
    errors = sorted(finalist.history.errors[-1] for finalist in reached)
    details = {**best.history.details, **spread, "optimized_errors": errors}
    stopped = "interrupted" if interrupted else best.history.stopped
    return best.rotations, replace(best.history, details=details, stopped=stopped)


def rounds(finalists: int, steps: int) -> list[tuple[int, int]]:
    """Return for each round how many finalists take part, and how many steps they take.

    Together they take no more than ``finalists * steps`` steps: all of them the first half, the
    better half of them the second, the better half of those as many again, and the best one what
    is left.

    Examples
    --------
    >>> rounds(15, 500)
    [(15, 250), (7, 250), (3, 500), (1, 500)]
    >>> rounds(2, 500)
    [(2, 250), (1, 500)]
    """
    first = steps - steps // 2
    plan = [(finalists, first)]
    left = finalists * (steps - first)
    for share, wanted in ((2, steps - first), (4, steps), (finalists, left)):
        count = max(1, finalists // share)
        taken = min(wanted, left // count)
        left -= count * taken
        if count == plan[-1][0]:  # the same finalists go on: no reason to stop between
            plan[-1] = count, plan[-1][1] + taken
        elif taken:
            plan.append((count, taken))
    return plan


def _ranked(matrix: Any, selector: Selector, task: Task, count: int) -> list[Candidate]:
    """Return `count` choices of the selector with their exact errors, best first."""
    samples: Sequence[Any] = selector.sample(matrix, task, count)
    if len(samples) != count:
        raise InvalidInputError(
            f"the selector {selector.name!r} was asked for {count} samples and gave {len(samples)}"
        )

    def judge(sample: Any) -> Candidate:
        rotations = check_chosen(selector, sample, matrix, task)
        return Candidate(rotations, Factorization.from_rotations(matrix, rotations).error())

    candidates = in_parallel(judge, samples, silent, "")
    return sorted(candidates, key=lambda candidate: candidate.error)


def _optimise(
    matrix: Any, chosen: list[Candidate], task: Task, optimizer: Optimizer
) -> tuple[list[Finalist], bool]:
    """Optimise in rounds, as many at a time as there are threads; Ctrl-C keeps what is reached."""
    cancelled = threading.Event()
    plan = rounds(len(chosen), optimizer.most_steps)
    total, done = sum(count for count, _ in plan), 0
    field: list[Candidate | Finalist] = list(chosen)

    def go_on(runner: Candidate | Finalist, steps: int) -> Finalist:
        return _advance(matrix, runner, steps, optimizer, cancelled)

    try:
        for count, steps in plan:
            field.sort(key=_standing)
            for first in range(0, count, num_threads()):
                batch = slice(first, min(count, first + num_threads()))
                field[batch] = run_all(go_on, [(runner, steps) for runner in field[batch]])
                done += len(field[batch])
                task.progress(done, total, "optimising")
                if any(each.history.stopped == "interrupted" for each in _reached(field)):
                    return _reached(field), True
    except KeyboardInterrupt:
        cancelled.set()  # workers end after their present step
        if not _reached(field):
            raise
        return _reached(field), True
    return _reached(field), False


def _standing(runner: Candidate | Finalist) -> float:
    """Return what finalists are ranked by; candidates keep their order."""
    return runner.objective if isinstance(runner, Finalist) else 0.0


def _reached(field: list[Candidate | Finalist]) -> list[Finalist]:
    return [runner for runner in field if isinstance(runner, Finalist)]


def _advance(
    matrix: Any,
    runner: Candidate | Finalist,
    steps: int,
    optimizer: Optimizer,
    cancelled: threading.Event,
) -> Finalist:
    """Take up to `steps` more steps."""
    before = runner.history if isinstance(runner, Finalist) else None
    if isinstance(runner, Finalist) and runner.finished:
        return runner
    taken = len(before.errors) - 1 if before else 0

    def stop(step: int, error: float) -> bool:
        asked = optimizer.callback is not None and optimizer.callback(taken + step, error)
        return bool(asked) or cancelled.is_set()

    stoppable = replace(optimizer, steps=steps, callback=stop)
    rotations, history = optimize_rotations(matrix, runner.rotations, stoppable)
    finished = len(history.errors) <= steps
    return Finalist(rotations, _joined(before, history) if before else history, finished)


def _joined(before: History, after: History) -> History:
    """Return the record of a run that was continued; both parts hold the point in between."""
    errors = before.errors + after.errors[1:]
    seconds = before.seconds + tuple(before.seconds[-1] + time for time in after.seconds[1:])
    evaluations = before.details["evaluations"] + after.details["evaluations"]
    taken = f"{len(errors) - 1} steps were taken"
    stopped = taken if after.stopped.endswith("steps were taken") else after.stopped
    details = {**after.details, "evaluations": evaluations}
    return replace(after, errors=errors, seconds=seconds, stopped=stopped, details=details)


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
