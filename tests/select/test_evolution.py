"""Evolutionary search: valid whatever is inherited, repeatable, and never worse than its start."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.select import Evolution, Given, Task, greedy
from wavemmf.select import _evolution as evolution
from wavemmf.select._greedy import greedy_in_order
from wavemmf.select._order import in_canonical_order

KARATE = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()


def random_matrix(n: int, density: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
    return np.tril(a) + np.tril(a, -1).T


def check(a: np.ndarray, rotations: wm.Rotations, task: Task) -> None:
    f = wm.Factorization.from_rotations(a, rotations)
    oracle.check_constraints(f)
    assert f.core_size == task.core
    assert rotations.sizes.max(initial=0) <= task.k


sizes = st.tuples(st.integers(1, 14), st.integers(2, 6), st.integers(0, 10**6)).flatmap(
    lambda drawn: st.tuples(
        st.just(drawn[0]), st.integers(0, drawn[0]), st.just(drawn[1]),
        st.integers(1, drawn[1] - 1), st.just(drawn[2]),
    )
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(sizes, st.sampled_from([0.0, 0.2, 1.0]), st.data())
def test_any_groups_may_be_given(size: tuple, density: float, data: st.DataObject) -> None:
    """Groups that are stale, small, repeated or missing never lead to an invalid sequence."""
    n, core, k, drop, seed = size
    a = random_matrix(n, density, seed)
    group = st.lists(st.integers(0, n - 1), unique=True, max_size=k)
    drawn = data.draw(st.lists(group, max_size=n + 2))
    groups = np.zeros((len(drawn), k), np.int64)
    for level, members in enumerate(drawn):
        groups[level, : len(members)] = members
    lengths = np.array([len(members) for members in drawn], np.int64)
    task = Task(core, k, drop, seed, score_noise=0.3, given=Given(groups, lengths))
    survivors = data.draw(st.sampled_from(["eigenvectors", "nearest"]))
    check(a, greedy(a, task, survivors=survivors), task)


@settings(deadline=None, max_examples=40)
@given(sizes, st.sampled_from([0.0, 0.2, 1.0]), st.floats(0, 1))
def test_every_child_is_valid(size: tuple, density: float, crossover: float) -> None:
    n, core, k, drop, seed = size
    a = random_matrix(n, density, seed)
    task = Task(core, k, drop, seed)
    children = Evolution(crossover=crossover, parents=3, children=4).sample(a, task, 14)
    assert len(children) == 14
    for rotations in children:
        check(a, rotations, task)


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (4, 1), (5, 3), (8, 7)])
@pytest.mark.parametrize("survivors", ["eigenvectors", "nearest"])
def test_a_sequence_given_completely_is_repeated(k: int, drop: int, survivors: str) -> None:
    task = Task(8, k, drop, seed=3, score_noise=0.5, correlation_noise=0.1)
    first = greedy(KARATE, task, survivors=survivors)
    again = Task(8, k, drop, seed=4, score_noise=1.0, given=Given.from_rotations(first, k))
    second = greedy(KARATE, again, survivors=survivors)
    np.testing.assert_array_equal(first.groups, second.groups)
    np.testing.assert_array_equal(first.wavelets, second.wavelets)
    np.testing.assert_array_equal(first.blocks, second.blocks)


def test_children_keep_the_beginning_of_their_parent() -> None:
    task = Task(8, 8, 1)
    parent = greedy(KARATE, task, survivors="eigenvectors")
    kept = Given.from_rotations(parent, 8).until(10)
    child = greedy(KARATE, Task(8, 8, 1, 5, score_noise=1.0, given=kept), survivors="eigenvectors")
    shared = int(parent.offsets[10])
    np.testing.assert_array_equal(child.groups[:shared], parent.groups[:shared])
    assert not np.array_equal(child.groups, parent.groups)


def test_crossover_takes_the_later_levels_of_the_other_parent() -> None:
    first = Given(np.arange(6).reshape(3, 2), np.array([2, 2, 2]))
    second = Given(10 + np.arange(8).reshape(4, 2), np.array([2, 1, 2, 2]))
    both = first.followed_by(second, 1)
    assert both.groups.tolist() == [[0, 1], [12, 13], [14, 15], [16, 17]]
    assert both.sizes.tolist() == [2, 1, 2, 2]


def test_same_seed_same_result_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for threads, seed in (("1", 0), ("2", 0), ("3", 0), ("1", 1)):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        samples = Evolution().sample(KARATE, Task(8, 4, 1, seed), 40)
        found[threads, seed] = b"".join(each.blocks.tobytes() for each in samples)
    assert found["1", 0] == found["2", 0] == found["3", 0]
    assert found["1", 0] != found["1", 1]


@pytest.mark.parametrize("budget", [1, 2, 3, 10, 37])
@pytest.mark.parametrize("variant", [Evolution(), Evolution.directed(), Evolution(founders=1.0)])
def test_the_budget_is_the_number_of_runs(
    variant: Evolution, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    def counting(*arguments: Any) -> wm.Rotations:
        runs.append(arguments)
        return greedy_in_order(*arguments)

    monkeypatch.setattr(evolution, "greedy_in_order", counting)
    assert len(variant.sample(KARATE, Task(20, 4, 1), budget)) == len(runs) == budget


@pytest.mark.parametrize("variant", [Evolution(), Evolution.directed()])
def test_children_are_better_than_founders(variant: Evolution) -> None:
    samples = variant.sample(KARATE, Task(8, 8, 1), 160)
    errors = [wm.Factorization.from_rotations(KARATE, each).error() for each in samples]
    founders, children = errors[:40], errors[40:]
    assert min(children) < min(founders)
    assert np.mean(children) < 0.7 * np.mean(founders)
    ordered, _ = in_canonical_order(KARATE)
    for founder, survivors in zip(samples, ("eigenvectors", "nearest"), strict=False):
        expected = greedy_in_order(ordered, Task(8, 8, 1), "exhaustive", survivors)
        np.testing.assert_array_equal(founder.blocks, expected.blocks)


def test_select_returns_the_best_of_its_budget() -> None:
    task = Task(8, 4, 1, seed=2)
    errors = [
        wm.Factorization.from_rotations(KARATE, each).error()
        for each in Evolution().sample(KARATE, task, 30)
    ]
    best = Evolution(budget=30).select(KARATE, task)
    found = wm.Factorization.from_rotations(KARATE, best).error()
    assert found == pytest.approx(min(errors), rel=1e-12)


def test_factorize_spends_the_budget_and_tells_the_spread() -> None:
    evolved = wm.factorize(KARATE, core=8, k=8, select="evolution")
    details = evolved.history.details
    assert (evolved.history.method, details["restarts"]) == ("evolution", 400)
    assert evolved.error() == details["closed_form_errors"]["best"]
    assert evolved.error() < wm.factorize(KARATE, core=8, k=8, restarts=400).error()
    learned = wm.factorize(
        KARATE,
        core=8,
        k=8,
        select=Evolution(budget=40),
        optimize="lbfgs",
        steps=20,
        restarts=wm.Search(0, 4),
    )
    assert learned.parameters["restarts"] == 40
    assert len(learned.history.details["optimized_errors"]) == 4


def test_small_components_keep_small_groups() -> None:
    graph = nx.disjoint_union_all([nx.complete_graph(3)] * 4 + [nx.empty_graph(2)])
    for drop in (1, 4):
        f = wm.factorize(graph, core=0, k=8, drop=drop, select="evolution", restarts=20)
        oracle.check_constraints(f)
        assert f.rotations.sizes.max() <= 3
        assert f.error() == pytest.approx(0.0, abs=1e-12)


def test_progress_is_reported() -> None:
    seen: list[tuple[int, int, str]] = []
    wm.factorize(
        KARATE, core=8, select="evolution", restarts=30, progress=lambda *told: seen.append(told)
    )
    assert any(note.startswith("evolving, error 0.") for _, _, note in seen)
    assert max(done for done, total, _ in seen if total == 30) == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget"),
        ({"parents": 0}, "parents"),
        ({"children": 2.5}, "children"),
        ({"crossover": 1.5}, "crossover must be a number from 0 to 1, got 1.5"),
        ({"founders": "half"}, "founders"),
        ({"relatedness": -0.1}, "relatedness"),
        ({"pairs": "some"}, "pairs"),
    ],
)
def test_settings_that_are_not_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidInputError, InputTypeError), match=message):
        Evolution(**arguments)


def test_checkpoints_are_for_refining_the_result() -> None:
    with pytest.raises(InvalidInputError, match=r"checkpoint.*evolution.*refine"):
        wm.factorize(KARATE, select="evolution", optimize=wm.optimize.LBFGS(checkpoint="x"))
