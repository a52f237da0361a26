"""The decision process: rewards against dense algebra, and actions of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import oracle
import wavemmf as wm
from wavemmf.errors import InvalidInputError
from wavemmf.rl import MMFEnvironment, returns
from wavemmf.rl._episodes import Episodes
from wavemmf.rl._problem import Problem

MATRIX = oracle.random_symmetric(9, seed=3, density=0.6)


def play(environment, rng):
    """Take random valid actions to the end; return rewards, infos and actions."""
    observation, _ = environment.reset()
    rewards, infos, terminated = [], [], False
    while not terminated:
        level = observation.level
        active = np.flatnonzero(observation.active)
        group = rng.permutation(active)[: environment.schedule.sizes[level]]
        action = group, group[: environment.schedule.drops[level]]
        observation, reward, terminated, truncated, info = environment.step(action)
        assert "invalid" not in info
        assert not truncated
        rewards.append(reward)
        infos.append(info)
    return rewards, infos


def off_core(environment, f, a):
    """Compute the error from the definition, densely."""
    return np.linalg.norm(a - oracle.best_approximation(f, a))


@pytest.mark.parametrize("name", sorted(oracle.MATRICES))
@pytest.mark.parametrize(("core", "k", "drop"), [(0, 4, 1), (1, 4, 3), (3, 2, 1)])
def test_rewards_are_errors(name, core, k, drop, rng):
    a = oracle.MATRICES[name]
    core = min(core, len(a))
    environment = MMFEnvironment(a, core=core, k=k, drop=drop, intermediate=True)
    if not environment.num_levels:
        assert environment.terminated
        return
    rewards, infos = play(environment, rng)
    f = environment.factorization()
    oracle.check_constraints(f)
    assert f.core_size == core
    expected = off_core(environment, f, a)
    scale = np.linalg.norm(a) + 1e-300
    assert infos[-1]["error"] == pytest.approx(expected, abs=1e-7 * scale)
    assert rewards[-1] == -infos[-1]["error"]
    residuals = [info["residual"] for info in infos]
    assert sum(residuals) == pytest.approx(expected**2, abs=1e-10 * scale**2)
    assert rewards[:-1] == [-residual for residual in residuals[:-1]]


@pytest.mark.parametrize("survivors", ["eigenvectors", "nearest"])
@pytest.mark.parametrize("drop", [1, 2])
def test_it_is_a_batch_of_one_of_what_training_plays(survivors, drop, rng):
    environment = MMFEnvironment(MATRIX, core=2, k=4, drop=drop, survivors=survivors)
    problem = Problem(MATRIX, environment.schedule, scored=False)
    problem.nearest = survivors == "nearest"
    batch = Episodes(problem, 3)
    observation, _ = environment.reset()
    costs = []
    for size, count in zip(environment.schedule.sizes, environment.schedule.drops, strict=True):
        np.testing.assert_array_equal(batch.active[1].numpy(), observation.active)
        groups = [rng.permutation(np.flatnonzero(active))[:size] for active in batch.active]
        padded = np.full((3, 4), -1)
        padded[:, :size] = groups
        batch.take(padded, anywhere=False)
        # The same rows are dropped, wherever they stand in the group.
        observation, *_, info = environment.step((groups[1], groups[1][:count]))
        costs.append(info["residual"])
    assert batch.costs[:, 1].tolist() == costs
    assert batch.errors()[1] == info["error"]
    ours, theirs = environment.rotations(), batch.rotations(1)
    for part in ("groups", "blocks", "wavelets"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


def test_residual_of_one_level():
    environment = MMFEnvironment(MATRIX, core=4, k=4, drop=2, intermediate=True)
    _, reward, *_, info = environment.step(([5, 2, 7, 0], [2, 7]))
    level = environment.current_matrix
    u = np.eye(9)
    u[np.ix_([5, 2, 7, 0], [5, 2, 7, 0])] = environment._episode.blocks[0, 0]
    rotated = u @ MATRIX @ u.T
    rest = [0, 1, 3, 4, 5, 6, 8]
    expected = 2 * (rotated[np.ix_([2, 7], rest)] ** 2).sum() + 2 * rotated[2, 7] ** 2
    assert -reward == info["residual"] == pytest.approx(expected)
    np.testing.assert_allclose(level[np.ix_(rest, rest)], rotated[np.ix_(rest, rest)], atol=1e-12)
    assert not level[[2, 7]].any()


@given(st.data())
@settings(max_examples=60)
def test_any_action_is_taken_or_refused(data):
    """Whatever is proposed, the state is valid, and stays the same if it was refused."""
    environment = MMFEnvironment(MATRIX, core=2, k=3, drop=2)
    indices = st.lists(st.integers(-2, 10), max_size=4)
    for _ in range(6):
        before = environment._observe()
        matrix = environment.current_matrix
        group, dropped = data.draw(indices), data.draw(indices)
        observation, reward, terminated, _, info = environment.step((group, dropped))
        if "invalid" in info:
            assert reward == 0.0
            assert isinstance(info["invalid"], str)
            assert observation.level == before.level
            np.testing.assert_array_equal(observation.active, before.active)
            np.testing.assert_array_equal(environment.current_matrix, matrix)
        else:
            assert set(dropped) <= set(group) <= set(np.flatnonzero(before.active))
            assert observation.level == before.level + 1
            assert set(np.flatnonzero(before.active - observation.active)) == set(dropped)
        assert terminated == (observation.level == environment.num_levels)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (([0, 1], [0]), "2 coordinates are rotated, this level takes 3"),
        (([0, 1, 1], [0]), "twice"),
        (([0, 1, 9], [0]), "outside 0..8"),
        (([0, 1, -1], [0]), "outside 0..8"),
        (([0, 1, 2], [3]), "coordinate 3 is dropped but not rotated"),
        (([0, 1, 2], []), "0 coordinates are dropped, this level takes 1"),
        (([0, 1, 2], [1, 1]), "dropped twice"),
    ],
)
def test_reasons(action, reason):
    environment = MMFEnvironment(MATRIX, core=2, k=3)
    assert reason in environment.step(action)[-1]["invalid"]


@pytest.mark.parametrize("action", [5, ([0, 1, 2],), ("ab", [0]), ([0.5, 1, 2], [1]), None])
def test_malformed_actions_raise(action):
    with pytest.raises(InvalidInputError, match="an action is a pair"):
        MMFEnvironment(MATRIX, core=2, k=3).step(action)


def test_after_the_end(rng):
    environment = MMFEnvironment(MATRIX, core=7, k=3)
    with pytest.raises(InvalidInputError, match="2 levels are left"):
        environment.factorization()
    play(environment, rng)
    _, reward, terminated, _, info = environment.step(([0, 1, 2], [0]))
    assert (reward, terminated, info) == (0.0, True, {"invalid": "the episode is over"})
    observation, _ = environment.reset(seed=1)
    assert (observation.active.sum(), observation.level) == (9, 0)


def test_wavelets_may_be_left_to_the_environment():
    environment = MMFEnvironment(wm.graphs.karate(), core=32, k=8)
    observation, *_, info = environment.step((range(8), None))
    assert "invalid" not in info
    assert observation.active.sum() == 33


def test_stiefel_rewards(rng):
    settings = {"core": 3, "k": 3}
    plain = MMFEnvironment(MATRIX, **settings)
    play(plain, np.random.default_rng(1))
    better = MMFEnvironment(MATRIX, **settings, rewards="stiefel", steps=50)
    rewards, infos = play(better, np.random.default_rng(1))
    assert infos[-1]["error"] < plain.factorization().error()
    assert better.factorization().error() == pytest.approx(infos[-1]["error"], rel=1e-6)
    assert rewards[:-1] == [0.0] * (len(rewards) - 1)


def test_returns():
    rewards = [1.0, -2.0, 4.0]
    expected = [sum(0.5**j * rewards[l + j] for j in range(3 - l)) for l in range(3)]
    assert returns(rewards, 0.5).tolist() == expected
    assert MMFEnvironment(MATRIX, core=2, k=3, discount=0.5).returns(rewards).tolist() == expected
    with pytest.raises(InvalidInputError, match="discount"):
        MMFEnvironment(MATRIX, core=2, discount=0.0)
