"""Many optimisations of one matrix: the same as one after the other, and fewer with halving."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.optimize import LBFGS, halvings, optimize_many, optimize_rotations
from wavemmf.select import Greedy, Task

KARATE = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()


@pytest.fixture(scope="module")
def starts():
    return Greedy().sample(KARATE, Task(8, 6, 1), 7)


def test_like_one_after_the_other(starts):
    together = optimize_many(KARATE, starts, [12])
    for start, reached in zip(starts, together, strict=True):
        rotations, history = optimize_rotations(KARATE, start, LBFGS(steps=12))
        np.testing.assert_array_equal(reached.rotations.blocks, rotations.blocks)
        assert reached.error == pytest.approx(history.errors[-1], rel=1e-12)
        assert reached.steps == len(history.errors) - 1
        exact = wm.Factorization.from_rotations(KARATE, reached.rotations).error()
        assert reached.error == pytest.approx(exact, rel=1e-6)


def test_the_better_half_goes_on(starts):
    first = optimize_many(KARATE, starts, [4])
    reached = optimize_many(KARATE, starts, [4, 8, 12])
    assert sorted(each.steps for each in reached) == [4, 4, 4, 8, 8, 12, 12]
    order = np.argsort([each.error for each in first])
    assert all(reached[b].steps > 4 for b in order[:4])
    whole = optimize_many(KARATE, starts, [12])
    for one, other in zip(reached, whole, strict=True):
        if one.steps == 12:  # what was learned of the curvature is kept between rounds
            np.testing.assert_array_equal(one.rotations.blocks, other.rotations.blocks)


def test_the_same_on_any_number_of_threads(starts, monkeypatch):
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        results.append([each.error for each in optimize_many(KARATE, starts, [3, 6])])
    assert results[0] == results[1] == results[2]


def test_stops_where_nothing_is_gained():
    reached = optimize_many(np.eye(5), [wm.factorize(np.eye(5), core=2, k=2).rotations], [50])
    assert (reached[0].error, reached[0].steps < 50) == (0.0, True)
    assert optimize_many(KARATE, [], [5]) == []


def test_halvings():
    assert halvings(100) == [25, 50, 100]
    assert halvings(1) == [1]
    assert halvings(2) == [1, 2]
