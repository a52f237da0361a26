"""Selectors as objects: what `factorize` makes of them, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import wavemmf as wm
from wavemmf import _restarts as restarts
from wavemmf.errors import InvalidInputError
from wavemmf.optimize import LBFGS
from wavemmf.select import Explicit, Greedy, Neighbors, Random, Regular, Selector, Task, greedy

A = oracle.MATRICES["grid"]
CALLS = [Random(), Neighbors(), Greedy(), Regular(), wm.select.Evolution(budget=8)]


class Fake:
    """Passes on what the greedy selector chooses, and remembers what it was asked."""

    name = "fake"

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Task, int | None]] = []

    def select(self, matrix: Any, task: Task) -> wm.Rotations:
        self.asked.append((matrix, task, None))
        return greedy(matrix, task)

    def sample(self, matrix: Any, task: Task, count: int) -> list[wm.Rotations]:
        self.asked.append((matrix, task, count))
        return Greedy().sample(matrix, task, count)


def test_a_selector_of_the_user_is_asked_once() -> None:
    fake = Fake()
    f = wm.factorize(A, core=5, k=4, drop=2, seed=7, select=fake)
    ((matrix, task, count),) = fake.asked
    np.testing.assert_array_equal(matrix, A)
    assert (task.core, task.k, task.drop, task.seed, count) == (5, 4, 2, 7, None)
    assert f.parameters["select"] == f.history.method == "fake"
    assert f.error() == wm.factorize(A, core=5, k=4, drop=2).error()


def test_restarts_are_samples_of_the_selector() -> None:
    fake = Fake()
    arguments: dict[str, Any] = {"core": 5, "restarts": wm.Search(9, 3), "seed": 2}
    f = wm.factorize(A, select=fake, optimize="lbfgs", steps=10, **arguments)
    assert [count for _, _, count in fake.asked] == [9]
    assert f.history.details["restarts"] == f.parameters["restarts"] == 9
    assert len(f.history.details["optimized_errors"]) == 3
    expected = wm.factorize(A, optimize="lbfgs", steps=10, **arguments)
    np.testing.assert_array_equal(f.rotations.blocks, expected.rotations.blocks)
    best = wm.factorize(A, select=fake, **arguments)
    assert best.history.method == "fake"
    assert best.error() == best.history.details["closed_form_errors"]["best"]


def test_large_sparse_matrices_reach_a_selector_as_they_are() -> None:
    fake = Fake()
    wm.factorize(wm.graphs.grid(40, 40), core=1590, select=fake)
    assert sp.issparse(fake.asked[0][0])


@pytest.mark.parametrize("selector", CALLS, ids=lambda selector: selector.name)
def test_a_name_stands_for_the_selector_with_its_defaults(selector: Selector) -> None:
    assert isinstance(selector, Selector)
    restarts = {"restarts": 8} if selector.name == "evolution" else {}
    named = wm.factorize(A, core=5, select=selector.name, seed=1, **restarts)
    given = wm.factorize(A, core=5, select=selector, seed=1, **restarts)
    np.testing.assert_array_equal(named.rotations.blocks, given.rotations.blocks)
    assert named.parameters == given.parameters


@pytest.mark.parametrize("name", ["random", "neighbors"])
def test_random_selectors_can_be_restarted(name: str) -> None:
    spread = wm.factorize(A, core=5, select=name, restarts=12).history.details
    assert spread["closed_form_errors"]["best"] < spread["closed_form_errors"]["worst"]


@pytest.mark.parametrize("select", ["regular", ([[0, 1]], [[1]])])
def test_selectors_without_chance_cannot_be_restarted(select: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"restarts=3 .*one sequence only"):
        wm.factorize(A, select=select, restarts=3)


class NoSample:
    name = "half"

    def select(self, matrix: Any, task: Task) -> wm.Rotations:
        return greedy(matrix, task)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (NoSample(), "NoSample is not a selector: it has no sample"),
        (Greedy, r"class Greedy; give an object of it: Greedy\("),
        (7, r"'greedy'.*'evolution'.*name, select and sample.*pair \(I, T\); got int"),
        ([1, 2], r"pair \(I, T\)"),
    ],
)
def test_what_is_neither_name_selector_nor_indices(select: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        wm.factorize(A, core=5, select=select)


def test_what_a_selector_returns_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake()
    wrong_core = greedy(A, Task(6, 4, 1))
    wrong_size = greedy(A[:9, :9], Task(5, 4, 1))
    for wrong, message in (
        ("indices", r"'fake' must return Rotations or a pair \(I, T\), got str"),
        (wrong_core, "asked for a core of 5 of 30 rows, and chose one of 6 of 30"),
        (wrong_size, "chose one of 5 of 9"),
    ):
        monkeypatch.setattr(fake, "select", lambda matrix, task, wrong=wrong: wrong)
        monkeypatch.setattr(fake, "sample", lambda matrix, task, n, wrong=wrong: [wrong] * n)
        for count in (0, 2):
            with pytest.raises(InvalidInputError, match=message):
                wm.factorize(A, core=5, select=fake, restarts=count)
    monkeypatch.setattr(fake, "sample", lambda matrix, task, n: [])
    with pytest.raises(InvalidInputError, match="asked for 2 samples and gave 0"):
        wm.factorize(A, core=5, select=fake, restarts=2)


def test_explicit_indices_as_an_object() -> None:
    indices = ([[0, 1, 2], [2, 3]], [[1], [2]])
    given, named = (wm.factorize(A, select=select) for select in (Explicit(indices), indices))
    assert given.parameters["select"] == "explicit"
    np.testing.assert_array_equal(given.rotations.blocks, named.rotations.blocks)


def test_finalists_are_no_copies_and_not_all_of_one_family() -> None:
    def candidate(error: float, *groups: list[int]) -> restarts.Candidate:
        blocks = [np.eye(len(group)) for group in groups]
        wavelets = [group[:1] for group in groups]
        return restarts.Candidate(wm.Rotations.from_levels(9, groups, blocks, wavelets), error)

    best = candidate(1.0, [0, 1], [2, 3], [4, 5])
    copy = candidate(1.1, [0, 1], [2, 3], [4, 5])
    sister = candidate(1.2, [0, 1], [3, 2], [6, 7])
    other = candidate(1.3, [0, 2], [4, 3], [6, 7])
    ranked = [best, copy, sister, other]
    assert best.relatedness(sister) == 0.5
    assert restarts._different(ranked, 3, 1.0) == [best, sister, other]
    assert restarts._different(ranked, 2, 0.4) == [best, other]
    assert restarts._different(ranked, 3, 0.4) == [best, other, sister]
    assert restarts._different(ranked, 2, 0.5) == [best, sister]


@pytest.mark.parametrize("finalists", [1, 2, 3, 4, 7, 15, 16, 40])
@pytest.mark.parametrize("steps", [0, 1, 2, 9, 500])
def test_rounds_spend_the_steps_of_all_on_fewer_and_fewer(finalists: int, steps: int) -> None:
    plan = restarts.rounds(finalists, steps)
    assert plan[0] == (1, steps) if finalists == 1 else plan[0] == (finalists, (steps + 1) // 2)
    counts = [count for count, _ in plan]
    assert counts == sorted(set(counts), reverse=True)
    assert sum(count * each for count, each in plan) == finalists * steps
    assert sum(each for _, each in plan) >= steps


def test_the_winner_has_one_history_of_all_its_rounds() -> None:
    seen: list[int] = []

    def watch(step: int, error: float) -> None:
        seen.append(step)

    f = wm.factorize(
        A, core=5, restarts=wm.Search(9, 4), optimize=LBFGS(steps=20, tolerance=0, callback=watch)
    )
    assert restarts.rounds(4, 20) == [(4, 10), (2, 10), (1, 20)]
    assert len(seen) == 80
    assert max(seen) == 40
    assert f.history.stopped == "40 steps were taken"
    assert len(f.history.errors) == len(f.history.seconds) == 41
    assert np.all(np.diff(f.history.errors) <= 0)
    assert np.all(np.diff(f.history.seconds) >= 0)
    assert f.history.details["evaluations"] > 40
    assert f.error() == pytest.approx(f.history.errors[-1])


def test_finalists_that_are_finished_take_no_further_steps() -> None:
    seen: list[int] = []

    def enough(step: int, error: float) -> bool:
        seen.append(step)
        return True

    f = wm.factorize(A, core=5, restarts=wm.Search(9, 4), optimize=LBFGS(steps=20, callback=enough))
    assert seen == [1, 1, 1, 1]
    assert f.history.stopped == "the callback asked to stop"
