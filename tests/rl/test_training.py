"""Training: updates, seeds, checkpoints, several graphs, and whether anything is learned."""

from __future__ import annotations

import csv
import signal

import networkx as nx
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import oracle  # noqa: E402
import wavemmf as wm  # noqa: E402
from wavemmf.errors import FileFormatError, InputTypeError, InvalidInputError  # noqa: E402
from wavemmf.factorization._archive import read_archive, write_archive  # noqa: E402
from wavemmf.rl import PRESETS, Policy, PolicySettings, clusters, train_policy, write_curve  # noqa: E402
from wavemmf.rl._imitation import demonstrate  # noqa: E402
from wavemmf.rl._play import likelihoods, play  # noqa: E402
from wavemmf.rl._problem import Problem  # noqa: E402
from wavemmf.rl._rewards import episode_rewards  # noqa: E402
from wavemmf.rl._schedule import plan_levels  # noqa: E402

KARATE = wm.graphs.karate()
SMALL = {"k": 4, "core": 8, "batch": 4, "preset": "reduced-variance"}


def parameters(policy):
    return torch.cat([value.detach().flatten() for value in policy.parameters()])


def same(first, second):
    return torch.equal(parameters(first), parameters(second)) and np.array_equal(
        first.history.errors, second.history.errors
    )


def left_training(folder):
    """Return the checkpoint of a training that was left after four episodes, and its settings."""

    def interrupt(episodes, error):
        signal.raise_signal(signal.SIGINT)

    kept = {"checkpoint": folder / "state", "baseline": "moving", **SMALL}
    train_policy(KARATE, episodes=8, callback=interrupt, **kept)
    return folder / "state", kept


class TestUpdate:
    def test_the_plain_rule_of_the_paper(self):
        """Eq. 12, level by level and episode by episode, each from where the last one ended."""
        a = oracle.MATRICES["grid"]
        settings = {"k": 4, "core": 10, "discount": 0.9, "learning_rate": 0.05}
        policy = train_policy(a, episodes=2, seed=2, preset="paper", **settings)
        learner = Policy(PRESETS["paper"].policy, seed=2)
        problem = Problem(a, plan_levels(30, 10, 4), scored=False)
        noise = torch.Generator().manual_seed(2)
        levels = problem.schedule.levels
        for episode in range(2):
            decisions = play(learner, problem, 1, noise)
            (error,) = decisions.episodes.errors()
            assert error == policy.history.errors[episode]
            for level in range(levels):
                learner.zero_grad()
                (part,) = likelihoods(learner, decisions)
                part.log_probability[level, 0].backward()
                future = 0.9 ** (levels - 1 - level) * -error
                with torch.no_grad():
                    for parameter in learner.parameters():
                        parameter += 0.05 * 0.9**level * future * parameter.grad
        torch.testing.assert_close(parameters(learner), parameters(policy), atol=2e-5, rtol=0)

    def test_the_preset_of_the_paper_has_no_variance_reduction(self):
        training = PRESETS["paper"].training
        assert (training.update, training.batch, training.epochs) == ("plain", 1, 1)
        assert (training.baseline, training.normalize, training.entropy) == (None, False, 0.0)
        assert (training.discount, training.learning_rate) == (1.0, 1e-3)
        assert PRESETS["reduced-variance"].policy == PRESETS["paper"].policy

    def test_update_of_a_batch(self):
        """Without baseline the gradient is the sum of gamma^l g_l grad log pi."""
        a = oracle.MATRICES["grid"]
        settings = {**SMALL, "core": 10, "batch": 3, "discount": 0.9, "baseline": None}
        policy = train_policy(a, episodes=3, seed=2, normalize=False, **settings)
        learner = Policy(PRESETS["paper"].policy, seed=2)
        problem = Problem(a, plan_levels(30, 10, 4), scored=False)
        decisions = play(learner, problem, 3, torch.Generator().manual_seed(2))
        errors = decisions.episodes.errors()
        np.testing.assert_array_equal(errors, policy.history.errors)
        total = 0.0
        levels = problem.schedule.levels
        for part in likelihoods(learner, decisions):
            for level in range(levels):
                for b in range(3):
                    future = 0.9 ** (levels - 1 - level) * -errors[b]
                    total = total + 0.9**level * future * part.log_probability[level, b] / 3
        adam = torch.optim.Adam(learner.parameters(), lr=1e-3)
        (-total).backward()
        adam.step()
        torch.testing.assert_close(parameters(learner), parameters(policy), atol=2e-5, rtol=0)

    @pytest.mark.parametrize(
        "settings",
        [
            {"baseline": "moving"}, {"baseline": None, "normalize": False}, {"entropy": 0.1},
            {"epochs": 3}, {"intermediate": True}, {"logarithmic": True}, {"imitation": 8},
            {"rewards": "stiefel", "steps": 3}, {"batch": 1}, {"drop": 2}, {"discount": 0.5},
            {"update": "plain", "entropy": 0.1},
        ],
    )  # fmt: skip
    def test_settings(self, settings):
        policy = train_policy(KARATE, episodes=8, **{**SMALL, **settings})
        assert policy.history.episodes == 8
        assert torch.isfinite(parameters(policy)).all()

    def test_rewards(self):
        costs, errors = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([2.0, 4.0])
        assert episode_rewards(costs, errors, False, False).tolist() == [[0, 0], [-2, -4]]
        assert episode_rewards(costs, errors, True, False).tolist() == [[-1, -2], [-2, -4]]
        assert (
            episode_rewards(costs, errors, False, True)[-1].tolist() == (-np.log(errors)).tolist()
        )

    def test_stiefel_rewards_are_optimised_errors(self):
        plain = train_policy(KARATE, episodes=4, **SMALL)
        better = train_policy(KARATE, episodes=4, rewards="stiefel", steps=30, **SMALL)
        assert (better.history.errors < plain.history.errors).all()


class TestLearning:
    def test_star(self):
        """On a star with a heavy tail the right pivots are plain to see, and are found."""
        a = oracle.laplacian(nx.disjoint_union(nx.star_graph(12), nx.path_graph(8)))
        policy = train_policy(
            a, k=3, core=6, episodes=960, learning_rate=0.02, preset="reduced-variance", seed=0
        )
        errors = policy.history.errors
        assert errors[-96:].mean() < 0.93 * errors[:96].mean()

    def test_identities_beat_neighbors_soon(self):
        policy = train_policy(KARATE, k=8, core=8, episodes=320, preset="identities", seed=0)
        drawn = [
            wm.factorize(KARATE, k=8, core=8, select="neighbors", seed=seed).error()
            for seed in range(20)
        ]
        assert policy.history.errors[-160:].mean() < np.mean(drawn)

    def test_imitation_makes_demonstrations_likely(self):
        for preset in ("paper", "guided"):
            settings = PRESETS[preset].policy
            problem = Problem(
                oracle.laplacian(nx.karate_club_graph()), plan_levels(34, 8, 4), settings.scored
            )
            plain = Policy(settings)
            shown = demonstrate(plain, problem, 6, seed=9)
            # Demonstrations are episodes of the greedy selector: as good as it is.
            assert shown.episodes.errors().mean() < 2.0
            taught = train_policy(KARATE, episodes=0, preset=preset, imitation=32, k=4, core=8)
            before, after = (
                sum(part.log_probability.sum().item() for part in likelihoods(policy, shown))
                for policy in (plain, taught)
            )
            assert after > before

    @pytest.mark.parametrize("name", ["isolated", "disconnected", "identity", "zero", "tiny"])
    @pytest.mark.parametrize("preset", PRESETS)
    def test_odd_matrices(self, name, preset):
        a = oracle.MATRICES[name]
        policy = train_policy(
            a, k=4, core=1, drop=2, episodes=4, preset=preset, batch=2, imitation=2
        )
        assert torch.isfinite(parameters(policy)).all()

    def test_nothing_to_decide(self):
        policy = train_policy(np.eye(3), k=4, core=3, episodes=4, batch=2)
        assert policy.history.errors.tolist() == [0.0] * 4


class TestCourse:
    def test_seeds(self):
        first = train_policy(KARATE, episodes=12, seed=4, **SMALL)
        assert same(first, train_policy(KARATE, episodes=12, seed=4, **SMALL))
        assert not same(first, train_policy(KARATE, episodes=12, seed=5, **SMALL))

    @pytest.mark.parametrize("preset", PRESETS)
    def test_resumes_identically(self, preset, tmp_path):
        settings = {**SMALL, "preset": preset, "baseline": "moving", "imitation": 4}
        graphs = [KARATE, wm.graphs.grid(4, 5)]
        whole = train_policy(graphs, episodes=24, **settings)
        file = tmp_path / "state"

        def interrupt(episodes, error):
            if episodes == 12:
                signal.raise_signal(signal.SIGINT)

        kept = {"checkpoint": file, **settings}
        part = train_policy(graphs, episodes=24, callback=interrupt, **kept)
        assert part.history.stopped == "interrupted"
        assert part.history.episodes == 12
        assert file.exists()
        assert same(train_policy(graphs, episodes=24, **kept), whole)
        assert not file.exists()

    def test_checkpoint_of_another_training(self, tmp_path):
        def interrupt(episodes, error):
            signal.raise_signal(signal.SIGINT)

        kept = {"checkpoint": tmp_path / "state", **SMALL}
        train_policy(KARATE, episodes=8, callback=interrupt, **kept)
        with pytest.raises(InvalidInputError, match="belongs to another"):
            train_policy(KARATE, episodes=8, seed=1, **kept)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("updates", -1),
            ("updates", 1e999),
            ("updates", "2"),
            ("noise", np.zeros(7, np.uint8)),
            ("policy.{parameter}", np.full(3, np.nan, np.float32)),
            ("adam.0.exp_avg", np.zeros(2, np.float32)),
            ("adam.0.exp_avg_sq", np.zeros(0)),
            ("adam.0.step", np.array(-1.0, np.float32)),
            ("adam.999.step", np.array(1.0, np.float32)),
            ("baseline.0", np.zeros(1)),
            ("baseline.7", np.zeros(26)),
            ("history.rewards", np.zeros(3)),
            ("history.graphs", np.zeros(4)),
            ("history.batches", np.array([1])),
        ],
    )
    def test_a_checkpoint_that_does_not_fit_is_refused(self, tmp_path, name, value):
        file, kept = left_training(tmp_path)
        header, arrays = read_archive(file, "wavemmf-checkpoint", 1)
        name = name.format(parameter=next(iter(Policy().state_dict())))
        if isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            header["values"][name] = value
        with file.open("wb") as stream:
            write_archive(stream, "wavemmf-checkpoint", 1, header, arrays)
        with pytest.raises(FileFormatError, match="damaged"):
            train_policy(KARATE, episodes=8, **kept)

    @pytest.mark.parametrize("name", ["noise", "history.errors", "adam.0.step", "baseline.0"])
    def test_what_a_checkpoint_may_lack(self, tmp_path, name):
        file, kept = left_training(tmp_path)
        header, arrays = read_archive(file, "wavemmf-checkpoint", 1)
        del arrays[name]
        with file.open("wb") as stream:
            write_archive(stream, "wavemmf-checkpoint", 1, header, arrays)
        if name == "baseline.0":  # a graph that was not played yet has none
            assert train_policy(KARATE, episodes=8, **kept).history.episodes == 8
        else:
            with pytest.raises(FileFormatError, match="damaged"):
                train_policy(KARATE, episodes=8, **kept)

    def test_callback_and_report(self):
        calls, reports = [], []

        def callback(episodes, error):
            calls.append((episodes, error))
            return episodes >= 8

        policy = train_policy(
            KARATE, episodes=40, callback=callback, progress=lambda *a: reports.append(a), **SMALL
        )
        assert [episodes for episodes, _ in calls] == [4, 8]
        assert policy.history.stopped == "the callback asked to stop"
        assert reports[-1][:2] == (8, 40)
        assert "error" in reports[-1][2]
        np.testing.assert_allclose(policy.history.batch_errors, [error for _, error in calls])

    def test_window(self):
        policy = train_policy(KARATE, episodes=400, window=4, **SMALL)
        errors = policy.history.errors
        assert 8 <= errors.size < 400
        assert errors[-4:].mean() > errors[-8:-4].mean()
        assert "rose" in policy.history.stopped

    def test_training_further(self):
        first = train_policy(KARATE, episodes=8, **SMALL)
        before = parameters(first).clone()
        second = train_policy(KARATE, episodes=8, policy=first, **SMALL)
        assert torch.equal(parameters(first), before)
        assert not torch.equal(parameters(second), before)
        own = train_policy(KARATE, episodes=4, policy=PolicySettings(hidden=3), **SMALL)
        assert own.settings.hidden == 3

    def test_threads_of_torch_are_as_before(self):
        before = torch.get_num_threads()
        train_policy(KARATE, episodes=4, **SMALL)
        assert torch.get_num_threads() == before

    @pytest.mark.parametrize(
        ("settings", "error"),
        [
            ({"preset": "magic"}, InvalidInputError), ({"episodes": -1}, InvalidInputError),
            ({"batch": 0}, InvalidInputError), ({"magic": 1}, InvalidInputError),
            ({"core": 50}, InvalidInputError), ({"core": 1.5}, InputTypeError),
            ({"discount": 2.0}, InvalidInputError), ({"baseline": "x"}, InvalidInputError),
            ({"update": "plain", "epochs": 2}, InvalidInputError),
            ({"update": "newton"}, InvalidInputError),
            ({"entropy": -1.0}, InvalidInputError), ({"k": 1}, InvalidInputError),
            ({"episodes": 3.5}, InputTypeError), ({"learning_rate": 0.0}, InvalidInputError),
        ],
    )  # fmt: skip
    def test_bad_settings(self, settings, error):
        with pytest.raises(error):
            train_policy(KARATE, **{"k": 4, "core": 8, **settings})

    def test_empty_list(self):
        with pytest.raises(InvalidInputError, match="empty"):
            train_policy([], k=4)


class TestManyGraphs:
    def test_sizes_may_differ(self):
        graphs = [wm.graphs.grid(4, 4), wm.graphs.cycle(9), KARATE]
        policy = train_policy(graphs, k=4, core=0.25, episodes=18, batch=3, steps=4)
        assert np.bincount(policy.history.graphs).tolist() == [6, 6, 6]

    def test_clusters(self):
        graph = wm.graphs.grid(20, 20)
        parts = clusters(graph, size=50, seed=1)
        assert 6 <= len(parts) <= 12
        for part in parts:
            assert part.n >= 16
            assert nx.is_connected(nx.from_scipy_sparse_array(part.adjacency))
        assert sum(part.n for part in parts) <= 400
        again = clusters(graph, size=50, seed=1)
        assert [part.n for part in again] == [part.n for part in parts]
        blocks = clusters(wm.graphs.normalized_laplacian(graph), size=50, seed=1)
        assert blocks[0].shape[0] >= 16
        policy = train_policy(parts, k=4, core=0.2, episodes=8, batch=2, preset="guided")
        assert policy.history.episodes == 8

    def test_clusters_of_a_disconnected_graph(self):
        graph = nx.disjoint_union(nx.cycle_graph(30), nx.complete_graph(5))
        parts = clusters(graph, size=100)
        assert [part.n for part in parts] == [30]


class TestCurve:
    def test_files(self, tmp_path):
        policy = train_policy(KARATE, episodes=8, **SMALL)
        write_curve(policy, tmp_path / "curve.csv")
        rows = list(csv.DictReader((tmp_path / "curve.csv").read_text().splitlines()))
        assert [float(row["error"]) for row in rows] == policy.history.errors.tolist()
        assert list(rows[0]) == ["episode", "graph", "error", "reward", "seconds"]
        pytest.importorskip("matplotlib")
        write_curve(policy, tmp_path / "curve.png")
        assert (tmp_path / "curve.png").read_bytes()[1:4] == b"PNG"

    def test_other_suffix(self, tmp_path):
        with pytest.raises(InvalidInputError, match="suffix must be one of"):
            write_curve(Policy(), tmp_path / "curve.txt")
