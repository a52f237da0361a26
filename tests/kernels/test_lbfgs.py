"""The parts of L-BFGS, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

import dense
from wavemmf.kernels.gradient import loss_and_gradient
from wavemmf.kernels.lbfgs import (
    DESCENDED,
    STUCK,
    _descent,
    _keep,
    _search,
    _stalled,
    lbfgs_steps,
    settle,
)
from wavemmf.kernels.linesearch import _shorter
from wavemmf.kernels.simd import LANES
from wavemmf.parallel.threads import aligned_zeros

MEMORY = 5


def pairs(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make moves, changes of the gradient with positive curvature, and their products."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(LANES, LANES))
    hessian = factor @ factor.T / LANES + np.eye(LANES)
    moves, changes = aligned_zeros((MEMORY, LANES)), aligned_zeros((MEMORY, LANES))
    moves[:] = rng.normal(size=moves.shape)
    changes[:] = moves @ hessian
    return moves, changes, (moves * changes).sum(axis=1)


@pytest.mark.parametrize(("kept", "place"), [(0, 0), (1, 1), (2, 0), (3, 4), (4, 2)])
def test_direction_is_that_of_the_inverse_hessian(kept: int, place: int) -> None:
    moves, changes, products = pairs(MEMORY)
    gradient, out = aligned_zeros((2, LANES))
    gradient[:] = np.random.default_rng(1).normal(size=LANES)
    identity = np.eye(LANES)
    order = [(place - kept + i) % MEMORY for i in range(kept)]  # oldest first
    inverse = identity
    if kept:
        newest = order[-1]
        inverse = identity * products[newest] / (changes[newest] @ changes[newest])
    for i in order:
        left = identity - np.outer(moves[i], changes[i]) / products[i]
        inverse = left @ inverse @ left.T + np.outer(moves[i], moves[i]) / products[i]
    _descent(gradient, moves, changes, products, np.array([kept, place, 0]), out)
    np.testing.assert_allclose(out, -inverse @ gradient, atol=1e-10)


@pytest.mark.parametrize(("kept", "place"), [(0, 0), (2, 4), (4, 1)])
def test_pairs_are_kept_in_a_ring_if_their_curvature_is_positive(kept: int, place: int) -> None:
    moves, changes, products = pairs(MEMORY)
    before = products.copy()
    products[:], counts = 7.0, np.array([kept, place, 3])
    _keep(moves, changes, products, counts)
    assert products[place] == pytest.approx(before[place])
    assert counts.tolist() == [min(kept + 1, MEMORY - 1), (place + 1) % MEMORY, 3]
    for sign in (-1.0, 0.0):
        changes[place] = sign * moves[place]
        counts = np.array([kept, place, 3])
        _keep(moves, changes, products, counts)
        assert counts.tolist() == [kept, place, 3]


def test_a_search_without_a_step_forgets_what_led_to_it() -> None:
    moves, changes, products = pairs(MEMORY)
    gradient, counts = np.zeros(LANES), np.array([3, 3, 0])
    memory = (moves, changes, products, counts)
    assert settle(0.0, gradient, gradient, *memory) == DESCENDED
    assert counts.tolist() == [0, 3, 0]
    assert settle(0.0, gradient, gradient, *memory) == STUCK


def test_a_step_is_remembered_with_the_change_of_the_gradient() -> None:
    moves, changes, products = pairs(MEMORY)
    direction, before, after = moves[3].copy(), np.ones(LANES), 1.0 + changes[3]
    counts = np.array([2, 3, 0])
    assert settle(0.5, after, before, moves, changes, products, counts) == DESCENDED
    np.testing.assert_allclose(moves[3], 0.5 * direction)
    np.testing.assert_allclose(changes[3], after - before)
    assert products[3] == pytest.approx(moves[3] @ changes[3])
    assert counts.tolist() == [3, 4, 0]


def test_when_values_stall() -> None:
    values = np.array([8.0, 4.0, 3.9, 3.9, 3.9, 0.0, 0.0])
    assert not _stalled(values, 3, 3, 0.1)  # too early to tell
    assert not _stalled(values, 4, 3, 0.1)
    assert _stalled(values, 5, 3, 0.1)
    assert not _stalled(values, 5, 3, 0.02)
    assert not _stalled(values, 6, 3, 0.1)
    assert not _stalled(values, 5, 3, 0.0)  # no tolerance, no end
    assert _stalled(np.array([4.0, 9.0, 9.0]), 3, 2, 1e-9)  # getting worse is no progress


@pytest.mark.parametrize("low", [0.0, 1.0])
@pytest.mark.parametrize("reached", [-9.0, 0.0, 1.0, 5.0, 20.0, 100.0])
def test_a_shorter_step_is_the_minimum_of_a_parabola(low: float, reached: float) -> None:
    # The parabola has the value 1 and the slope -2 at zero, and `reached` at 2.
    curvature = (reached - 1.0 + 4.0) / 4.0
    minimum = 1.0 / curvature if curvature > 0.0 else 1.0  # none: half of the step
    shortest, longest = low + 0.1 * (2.0 - low), low + 0.5 * (2.0 - low)
    expected = min(max(minimum, shortest), longest)
    assert _shorter(1.0, -2.0, low, 2.0, reached) == pytest.approx(expected)


def test_a_shorter_step_where_numbers_overflow() -> None:
    assert _shorter(1.0, -2.0, 0.0, 2.0, np.inf) == pytest.approx(0.2)
    assert _shorter(1.0, -1e308, 1.0, 101.0, 5.0) == pytest.approx(11.0)
    assert 0.2 <= _shorter(1.0, -2.0, 0.0, 2.0, np.nan) <= 1.0


class Small:
    """A small matrix with levels, as the kernels take it."""

    def __init__(self, seed: int = 0) -> None:
        n, drops = 8, [1, 2, 1, 1]
        self.levels = dense.random_levels(n, [3, 4, 2, 3], drops, seed, last_first=True)
        self.matrix, core = dense.random_symmetric(n, seed), n - sum(drops)
        dropped = np.full(n, 4)
        for level in range(4):
            dropped[self.levels.dropped(level)] = level + 1
        self.sizes, offsets = np.diff(self.levels.offsets), self.levels.block_offsets
        self.problem = (
            self.matrix, np.empty((n, n)), core, np.zeros(n), dropped, *self.levels[:3],
        )  # fmt: skip
        below = [np.tril_indices(size, -1) for size in self.sizes]
        lower = [o + i * s + j for o, s, (i, j) in zip(offsets, self.sizes, below, strict=False)]
        upper = [o + j * s + i for o, s, (i, j) in zip(offsets, self.sizes, below, strict=False)]
        self.lower, self.upper = np.concatenate(lower), np.concatenate(upper)

    def evaluate(self, blocks: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient, filled up to whole vectors."""
        full, gradient = np.zeros(blocks.size), aligned_zeros((1, LANES))[0]
        loss = loss_and_gradient(*self.problem, blocks, full)
        gradient[: self.lower.size] = full[self.lower]
        return loss, gradient

    def loss(self, blocks: np.ndarray) -> float:
        """Return the loss by dense algebra."""
        return float(sum(self.levels._replace(blocks=blocks).losses(self.matrix)[1]))

    def search(
        self, value: float, slope: float, direction: np.ndarray, first: float
    ) -> tuple[float, float, tuple[np.ndarray, np.ndarray], int]:
        """Search from the blocks; return step, value, point and number of trials."""
        blocks = self.levels.blocks.copy()
        scratch = np.empty_like(blocks), np.zeros_like(blocks), np.empty_like(blocks)
        trial, best = (
            (np.empty_like(blocks), aligned_zeros((1, LANES))[0]) for _ in range(2)
        )  # fmt: skip
        counts = np.zeros(3, np.int64)
        step, reached = _search(
            self.problem, self.sizes, self.lower, self.upper, blocks, value, slope, direction,
            first, counts, scratch, trial, best,
        )  # fmt: skip
        return step, reached, best, int(counts[2])

    def moved(self, direction: np.ndarray, step: float) -> np.ndarray:
        """Return the blocks after a step along the Cayley curves of a direction."""
        skew = np.zeros(self.levels.blocks.size)
        skew[self.lower], skew[self.upper] = direction, -direction
        result = []
        for size, first in zip(self.sizes, self.levels.block_offsets, strict=False):
            x, block = (
                each[first : first + size * size].reshape(size, size)
                for each in (skew, self.levels.blocks)
            )
            identity = np.eye(size)
            turn = np.linalg.solve(identity - 0.5 * step * x, identity + 0.5 * step * x)
            result.append((turn @ block).ravel())
        return np.concatenate(result)


@pytest.mark.parametrize("first", [1e-5, 1e-4, 0.01, 0.05, 1.0, 50.0])
def test_steps_found_satisfy_the_wolfe_conditions(first: float) -> None:
    small = Small()
    value, gradient = small.evaluate(small.levels.blocks.copy())
    direction, slope = -gradient, -2.0 * float(gradient @ gradient)
    step, reached, best, trials = small.search(value, slope, direction, first)
    assert step > 0.0
    used = direction[: small.lower.size]
    np.testing.assert_allclose(best[0], small.moved(used, step), atol=1e-10)
    assert reached == pytest.approx(small.loss(best[0]), rel=1e-10)
    assert reached <= value + 1e-4 * step * slope
    h = 1e-6
    rate = (small.loss(small.moved(used, step + h)) - small.loss(small.moved(used, step - h))) / (
        2 * h
    )
    assert rate >= 0.9 * slope - 1e-5
    np.testing.assert_allclose(best[1], small.evaluate(best[0])[1], atol=1e-10)
    assert 1 <= trials <= 30
    if first == 0.05:
        assert trials < 10


def test_no_step_is_found_uphill() -> None:
    small = Small()
    value, gradient = small.evaluate(small.levels.blocks.copy())
    slope = -2.0 * float(gradient @ gradient)
    step, _, _, trials = small.search(value, slope, gradient.copy(), 0.1)
    assert step < 1e-12  # at most one that changes nothing but the last digits
    assert trials > 10


@pytest.mark.parametrize("memory", [2, 6])
def test_steps_reach_a_stationary_point(memory: int) -> None:
    small = Small(seed=1)
    blocks = small.levels.blocks.copy()
    values = np.full(200, np.nan)
    values[0], gradient = small.evaluate(blocks)
    moves, changes = aligned_zeros((memory, LANES)), aligned_zeros((memory, LANES))
    counts = np.zeros(3, np.int64)
    state = (small.problem, small.sizes, small.lower, small.upper, blocks, gradient)
    ring = (moves, changes, np.zeros(memory), counts)
    done, outcome = lbfgs_steps(*state, *ring, values, 1, 4, 20, 0.0, 0.0)
    assert (done, outcome) == (4, DESCENDED)
    assert counts[0] == min(3, memory - 1)
    done, outcome = lbfgs_steps(*state, *ring, values, done, 200, 20, 0.0, 1e-6)
    assert 4 < done < 200
    assert outcome in (DESCENDED, STUCK)
    assert (np.diff(values[:done]) <= 0.0).all()
    assert values[done - 1] < 0.9 * values[0]
    assert values[done - 1] == pytest.approx(small.loss(blocks), rel=1e-9)
    np.testing.assert_allclose(gradient, small.evaluate(blocks)[1], atol=1e-10)
    assert np.sqrt(2.0 * (gradient @ gradient)) <= 1e-6
    assert counts[2] >= done - 1


def test_steps_end_when_values_stall() -> None:
    small = Small(seed=2)
    blocks = small.levels.blocks.copy()
    values = np.full(100, np.nan)
    values[0], gradient = small.evaluate(blocks)
    ring = (
        aligned_zeros((4, LANES)), aligned_zeros((4, LANES)), np.zeros(4), np.zeros(3, np.int64),
    )  # fmt: skip
    done, outcome = lbfgs_steps(
        small.problem, small.sizes, small.lower, small.upper, blocks, gradient, *ring, values,
        1, 100, 3, 0.5, 0.0,
    )  # fmt: skip
    assert outcome == DESCENDED
    assert done < 100
    assert _stalled(values, done, 3, 0.5)
    assert not _stalled(values, done - 1, 3, 0.5)
