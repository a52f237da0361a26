"""L-BFGS takes the same steps whether a problem counts as small or as large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.kernels.stiefel import cayley_step
from wavemmf.optimize import LBFGS
from wavemmf.optimize._descent import Rules
from wavemmf.optimize._lbfgs import LBFGSDescent
from wavemmf.optimize._objective import Objective

KARATE = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()


def begun(large: bool = False, memory: int = 20, **shape: int) -> LBFGSDescent:
    objective = Objective(KARATE, wm.factorize(KARATE, **shape).rotations)
    assert objective.suits_one_thread
    objective.suits_one_thread = not large
    return LBFGSDescent(objective, objective.rotations.blocks, memory)


@pytest.mark.parametrize(
    "shape",
    [
        {"core": 8, "k": 8},
        {"core": 2, "k": 2},
        {"core": 0, "k": 5, "drop": 4},
        {"core": 3, "k": 20},
        {"core": 33, "k": 4},
    ],
    ids=str,
)
def test_the_same_steps(shape) -> None:
    slow, fast = begun(large=True, **shape), begun(**shape)
    assert fast.point.value == slow.point.value
    for _ in range(12):
        for each in (slow, fast):
            made = each.advance([each.point.value], 1, Rules())
            assert made.values == [each.point.value]
        np.testing.assert_allclose(fast.point.value, slow.point.value, rtol=1e-9)
        np.testing.assert_allclose(fast.point.blocks, slow.point.blocks, atol=1e-6)
        np.testing.assert_allclose(fast.point.gradient, slow.point.gradient, atol=1e-6)
    assert fast.objective.evaluations == slow.objective.evaluations


def test_many_steps_at_once_are_the_same_steps() -> None:
    together, alone = begun(core=8, k=8), begun(core=8, k=8)
    made = together.advance([together.point.value], 40, Rules())
    values = [alone.point.value]
    for _ in range(40):
        values += alone.advance(values, 1, Rules()).values
    assert made.values == values[1:]
    np.testing.assert_array_equal(together.point.blocks, alone.point.blocks)


def test_the_same_error_in_the_end() -> None:
    slow = begun(large=True, core=8, k=4)
    for _ in range(400):
        slow.step()
    fast = wm.factorize(KARATE, core=8, k=4, optimize=LBFGS(steps=400, tolerance=0))
    assert abs(fast.error() ** 2 - slow.point.value) <= 0.02 * slow.point.value


@pytest.mark.parametrize("large", [False, True])
def test_state_moves_between_runs(large) -> None:
    first, second = (begun(large, memory=5, core=8, k=8) for _ in range(2))
    for _ in range(23):
        first.advance([first.point.value], 1, Rules())
    second.restore(first.state())
    for optimizer in (first, second):
        optimizer.advance([optimizer.point.value], 10, Rules())
    np.testing.assert_array_equal(first.point.blocks, second.point.blocks)
    assert first.point.value == second.point.value


@settings(max_examples=30)
@given(
    st.integers(2, 14), st.integers(2, 6), st.integers(0, 2**31), st.sampled_from([0.0, 1e-7, 0.1])
)
def test_it_descends_and_stays_orthogonal(n, k, seed, tolerance) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
    matrix = matrix + matrix.T
    start = wm.factorize(matrix, core=1, k=k)
    f = wm.factorize(matrix, core=1, k=k, optimize=LBFGS(steps=25, tolerance=tolerance))
    scale = 1e-12 * np.linalg.norm(matrix)
    assert f.error() <= start.error() + scale
    assert abs(f.error() - np.linalg.norm(matrix - f.to_dense())) <= 1e3 * scale
    errors = np.array(f.history.errors)
    assert (np.diff(errors) <= scale).all()
    assert len(f.history.seconds) == errors.size <= 26


def test_stops_for_the_same_reasons() -> None:
    stopped = wm.factorize(KARATE, core=8, k=2, optimize="lbfgs", steps=7).history
    assert stopped.stopped == "7 steps were taken"
    assert len(stopped.errors) == 8
    loose = wm.factorize(KARATE, core=8, k=4, optimize=LBFGS(tolerance=0.5)).history
    assert "steps gained less than 0.5" in loose.stopped
    assert len(loose.errors) == 11
    easy = wm.factorize(np.ones((6, 6)), core=1, k=2, optimize="lbfgs").history
    assert "gradient" in easy.stopped


@pytest.mark.parametrize("step", [1e-9, 30.0, 1e4])
def test_steps_of_any_length_stay_orthogonal(step, rng) -> None:
    rotations = wm.factorize(KARATE, core=3, k=8).rotations
    skew = rng.normal(size=rotations.blocks.size)
    skew -= skew[rotations.transposed_entries]
    out = np.empty_like(skew)
    cayley_step(rotations.blocks, rotations.sizes, rotations.block_offsets, skew, step, out)
    for level in range(rotations.num_levels):
        first, last = rotations.block_offsets[level], rotations.block_offsets[level + 1]
        size = rotations.sizes[level]
        block = out[first:last].reshape(size, size)
        np.testing.assert_allclose(block @ block.T, np.eye(size), atol=1e-11)
        half = 0.5 * step * skew[first:last].reshape(size, size)
        eye = np.eye(size)
        expected = np.linalg.solve(eye - half, eye + half) @ rotations.block(level + 1)
        np.testing.assert_allclose(block, expected, atol=1e-9)
