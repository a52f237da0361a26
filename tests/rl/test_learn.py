"""The learning algorithm in one call: what it returns, how it ends, how it is taken up again."""

from __future__ import annotations

import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wavemmf as wm  # noqa: E402
from wavemmf.errors import FileFormatError, InvalidInputError  # noqa: E402
from wavemmf.factorization._archive import read_archive, write_archive  # noqa: E402
from wavemmf.rl import learn, train_policy  # noqa: E402
from wavemmf.rl._best import Best  # noqa: E402

KARATE = wm.graphs.karate()
SMALL = {"k": 4, "core": 8, "batch": 4, "episodes": 12, "steps": 8, "finalists": 3}


@pytest.fixture(scope="module")
def found():
    return learn(KARATE, **SMALL)


def same(first, second):
    return np.array_equal(first.history.errors, second.history.errors) and np.array_equal(
        first.factorization.rotations.blocks, second.factorization.rotations.blocks
    )


class TestResult:
    def test_is_better_than_every_episode(self, found):
        f = found.factorization
        assert (f.n, f.core_size, f.parameters["k"]) == (34, 8, 4)
        assert f.error() < found.history.errors.min()
        assert found.history is found.policy.history
        assert found.history.episodes == 12

    def test_policy_is_that_of_train_policy(self, found):
        settings = {name: value for name, value in SMALL.items() if name != "finalists"}
        policy = train_policy(KARATE, preset="groups", **settings)
        assert np.array_equal(policy.history.errors, found.history.errors)
        for name, value in policy.state_dict().items():
            assert torch.equal(value, found.policy.state_dict()[name])

    def test_without_a_last_optimisation(self, found):
        plain = learn(KARATE, optimize=None, **SMALL)
        assert np.array_equal(plain.history.errors, found.history.errors)
        assert plain.factorization.error() == pytest.approx(plain.history.errors.min(), rel=1e-9)

    def test_two_phases(self):
        """Phase 1 goes by closed-form errors, phase 2 optimises the best sequences."""
        first = learn(KARATE, rewards="closed_form", optimize=None, **SMALL)
        assert first.factorization.error() == pytest.approx(first.history.errors.min(), rel=1e-9)
        both = learn(KARATE, rewards="closed_form", optimize=wm.optimize.LBFGS(steps=20), **SMALL)
        assert np.array_equal(first.history.errors, both.history.errors)
        assert both.factorization.error() < 0.9 * first.factorization.error()

    def test_no_episodes(self):
        f = learn(KARATE, **{**SMALL, "episodes": 0}, optimize=None).factorization
        assert f.core_size == 8

    def test_nothing_to_decide(self):
        f = learn(np.eye(3), k=4, core=3, episodes=4, batch=2).factorization
        assert f.error() == 0.0

    @pytest.mark.parametrize(
        "settings",
        [
            {"finalists": 0}, {"optimize": "magic"}, {"preset": "magic"}, {"magic": 1},
            {"optimize": wm.optimize.LBFGS(checkpoint="x")},
        ],
    )  # fmt: skip
    def test_bad_settings(self, settings):
        with pytest.raises(InvalidInputError):
            learn(KARATE, **{**SMALL, **settings})

    def test_one_matrix_at_a_time(self):
        with pytest.raises(InvalidInputError, match="train_policy learns from several"):
            learn([KARATE, KARATE], **SMALL)


class TestCourse:
    def test_says_how_fast_and_how_long(self):
        notes = []
        learn(KARATE, optimize=None, progress=lambda *told: notes.append(told), **SMALL)
        done = [note for note in notes if "episodes/s" in note[2]]
        assert [note[:2] for note in done] == [(4, 12), (8, 12), (12, 12)]
        assert "left" in done[0][2]

    def test_stops_when_the_mean_error_rises(self):
        result = learn(KARATE, **{**SMALL, "episodes": 400, "steps": 1}, window=4, optimize=None)
        assert "rose" in result.history.stopped
        errors = result.history.errors
        assert errors[-4:].mean() > errors[-8:-4].mean()

    def test_ctrl_c_returns_the_best_and_resumes(self, found, tmp_path):
        file = tmp_path / "state"

        def interrupt(episodes, error):
            if episodes == 8:
                signal.raise_signal(signal.SIGINT)

        part = learn(KARATE, checkpoint=file, callback=interrupt, **SMALL)
        assert part.history.stopped == "interrupted"
        assert part.factorization.error() == pytest.approx(part.history.errors.min(), rel=1e-9)
        assert same(learn(KARATE, checkpoint=file, **SMALL), found)
        assert not file.exists()

    @pytest.mark.parametrize("damage", ["missing", "groups", "blocks"])
    def test_damaged_trajectories_are_refused(self, damage, tmp_path):
        file = tmp_path / "state"

        def interrupt(episodes, error):
            signal.raise_signal(signal.SIGINT)

        learn(KARATE, checkpoint=file, callback=interrupt, **SMALL)
        header, arrays = read_archive(file, "wavemmf-checkpoint", 1)
        if damage == "missing":
            del arrays["best.0.groups"]
        else:
            arrays[f"best.0.{damage}"] = np.zeros_like(arrays[f"best.0.{damage}"])
        with file.open("wb") as stream:
            write_archive(stream, "wavemmf-checkpoint", 1, header, arrays)
        with pytest.raises(FileFormatError, match="damaged"):
            learn(KARATE, checkpoint=file, **SMALL)


def test_the_best_are_few_and_different():
    a = wm.graphs.normalized_laplacian(KARATE).toarray()
    drawn = wm.select.Greedy().sample(a, wm.select.Task(8, 4, 1), 6)
    errors = np.array([5.0, 1.0, 4.0, 1.0, 2.0, 3.0])
    best = Best(3)
    best.offer_all(errors, lambda b: drawn[0 if b == 3 else b])
    assert [each.error for each in best.kept] == [1.0, 1.0, 2.0]
    best.offer_all(np.array([0.5]), lambda b: drawn[1])
    assert [each.error for each in best.kept] == [0.5, 1.0, 2.0]
    best.offer_all(np.array([9.0]), lambda b: drawn[5])
    again = Best(3)
    again.restore(best.arrays(), a)
    assert [each.indices for each in again.kept] == [each.indices for each in best.kept]
