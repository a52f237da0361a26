"""The policy: its networks, its likelihoods, and its use as a selector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

import oracle  # noqa: E402
import wavemmf as wm  # noqa: E402
from wavemmf.errors import FileFormatError, InvalidInputError  # noqa: E402
from wavemmf.factorization import Factorization  # noqa: E402
from wavemmf.rl import PRESETS, Policy, PolicySettings, load_policy  # noqa: E402
from wavemmf.rl._features import facts_of_original, stack_features  # noqa: E402
from wavemmf.rl._inputs import problem_for  # noqa: E402
from wavemmf.rl._messages import Messages  # noqa: E402
from wavemmf.rl._play import choose_survivors, likelihoods, play  # noqa: E402
from wavemmf.rl._schedule import plan_levels  # noqa: E402
from wavemmf.select._plan import Selector, Task  # noqa: E402

KARATE = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
GUIDED = PRESETS["guided"].policy
KINDS = {
    "paper": PRESETS["paper"].policy,
    "features": PolicySettings(
        features=("active", "degree", "diagonal", "norm", "progress"), propagate="laplacian",
        activation="sigmoid",
    ),
    "lazy": PolicySettings(refresh=3, activation="tanh"),
    "guided": GUIDED,
    "guided_graph": replace(
        GUIDED, propagate="matrix", refresh=2, wavelets="pivot", group_prior=2.0
    ),
    "identities": PRESETS["identities"].policy,
    "groups": PRESETS["groups"].policy,
    "transfer": replace(PRESETS["transfer"].policy, few=None, survivors="nearest"),
}  # fmt: skip


def problem_of(settings, a, core, k, drop=1):
    return problem_for(settings, a, plan_levels(len(a), core, k, drop))


def stirred(settings, seed=1):
    """Make a policy all of whose parameters matter."""
    policy = Policy(settings, seed).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in policy.parameters():
            value.add_(0.3 * torch.randn(value.shape, generator=generator, dtype=value.dtype))
    return policy


class TestNetwork:
    def test_embedding_follows_the_formula(self):
        policy = Policy(PolicySettings(layers=2, hidden=3)).double()
        active = torch.ones(1, 34, dtype=torch.float64)
        active[0, [3, 5, 8]] = 0
        rows = np.flatnonzero(active[0].numpy())
        block = KARATE[np.ix_(rows, rows)]
        w0, w1 = (w.detach().numpy() for w in policy.pivot_network.weights)
        first = np.maximum(block @ np.ones((len(rows), 1)) @ w0, 0)
        second = np.maximum(block @ first @ w1, 0)
        messages = Messages(KARATE, torch.float64)
        found = policy.embed(active[..., None], active, messages)[0][0].detach().numpy()
        np.testing.assert_allclose(found[rows], np.hstack([first, second]), atol=1e-12)
        assert not found[[3, 5, 8]].any()
        logits = policy.pivot_logits(torch.from_numpy(found)[None])[0]
        np.testing.assert_allclose(logits.detach(), found.sum(1))
        partners = policy.partner_logits(torch.from_numpy(found)[None], torch.tensor([4]))[0]
        np.testing.assert_allclose(partners.detach(), found @ found[4], atol=1e-12)

    def test_laplacian_of_the_active_block(self):
        active = torch.ones(1, 34, dtype=torch.float64)
        active[0, :7] = 0
        edges = np.abs(KARATE - np.diag(np.diag(KARATE)))[7:, 7:]
        signed = (KARATE - np.diag(np.diag(KARATE)))[7:, 7:]
        root = 1 / np.sqrt(np.maximum(edges.sum(1), 1e-300))
        root[edges.sum(1) == 0] = 0
        expected = np.eye(27) - root[:, None] * signed * root
        x = torch.diag(active[0])[:, None]
        propagate = Messages(KARATE, torch.float64).along("laplacian", active.T)
        found = propagate(x)[:, 0].numpy()
        np.testing.assert_allclose(found[7:, 7:], expected, atol=1e-12)

    @pytest.mark.parametrize("propagate", ["matrix", "laplacian"])
    def test_sparse_and_dense_agree(self, propagate):
        settings = PolicySettings(
            propagate=propagate, activation="tanh", features=("active", "degree", "norm")
        )
        policy = stirred(settings)
        active = torch.ones(2, 34, dtype=torch.float64)
        active[0, ::3] = 0
        results = []
        for sparse in (False, True):
            messages = Messages(sp.csr_array(KARATE), torch.float64, sparse=sparse)
            facts = facts_of_original(messages, active)
            x = stack_features(settings, facts, active, 0.0)
            pivots, partners = policy.embed(x, active, messages)
            logits = (
                policy.pivot_logits(pivots),
                policy.partner_logits(partners, torch.tensor([1, 2])),
            )
            sum(part.sum() for part in logits).backward()
            gradient = policy.pivot_network.weights[0].grad.clone()
            policy.zero_grad()
            results.append((*logits, gradient))
        for first, second in zip(*results, strict=True):
            torch.testing.assert_close(first, second)

    def test_only_identities_tell_near_from_far(self):
        """On a cycle all rows look the same to the paper's network; with identities they do not."""
        a = wm.graphs.normalized_laplacian(wm.graphs.cycle(60))
        active = torch.ones(1, 60)
        similarities = {}
        for preset in ("paper", "identities"):
            settings = PRESETS[preset].policy
            messages = Messages(a)
            x = stack_features(settings, facts_of_original(messages, active), active, 0.0)
            assert x.shape == (1, 60, settings.inputs)
            rows = Policy(settings).embed(x, active, messages)[1][0].detach().numpy()
            similarities[preset] = [np.mean(rows * np.roll(rows, s, axis=0)) for s in (1, 30)]
        near, far = similarities["paper"]
        assert near == pytest.approx(far, rel=1e-4)
        near, far = similarities["identities"]
        assert near > 5 * abs(far)

    def test_settings_are_checked(self):
        for wrong in (
            {"layers": 0}, {"features": ()}, {"features": ("magic",)}, {"propagate": "x"},
            {"score_prior": 1.0}, {"features": ("score",)}, {"refresh": 0}, {"identities": -1},
        ):  # fmt: skip
            with pytest.raises(InvalidInputError):
                PolicySettings(**wrong)


class TestLikelihood:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("drop", [1, 2])
    def test_same_as_one_decision_after_the_other(self, kind, drop):
        """The batched pass gives values and gradients of a plain sequential one."""
        settings = KINDS[kind]
        policy = stirred(settings).float()
        problem = problem_of(settings, oracle.MATRICES["grid"], core=4, k=4, drop=drop)
        generator = torch.Generator().manual_seed(3)
        decisions = play(policy, choose_survivors(policy, problem), 3, generator)
        parts = list(likelihoods(policy, decisions))
        found = torch.cat([part.log_probability for part in parts])
        found.sum().backward()
        gradients = [value.grad.clone() for value in policy.parameters()]
        policy.zero_grad()
        expected = torch.stack(
            [
                torch.stack([self.naive(policy, decisions, level, b) for b in range(3)])
                for level in range(len(decisions.active))
            ]
        )
        expected.sum().backward()
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
        for value, gradient in zip(policy.parameters(), gradients, strict=True):
            torch.testing.assert_close(gradient, value.grad, atol=2e-3, rtol=1e-3)

    @staticmethod
    def naive(policy, decisions, level, b):
        messages = decisions.episodes.problem.messages
        seen = level // policy.settings.refresh
        mask = decisions.active[seen * policy.settings.refresh, b : b + 1]
        features = decisions.features[seen, b : b + 1]
        pivots, *partners = policy.embed(features, mask.float(), messages)
        left = decisions.active[level, b].nonzero()[:, 0].tolist()
        action = [i for i in decisions.actions[level, b].tolist() if i >= 0]
        scores = None if decisions.scores is None else decisions.scores[level, b : b + 1]
        relations = None if decisions.relations is None else decisions.relations[level, b : b + 1]
        z = policy.pivot_logits(pivots, scores)[0]
        possible = decisions.pivots[level, b].nonzero()[:, 0].tolist()
        total = z[action[0]] - torch.logsumexp(z[possible], 0)
        if policy.settings.actions == "groups":
            return total
        left.remove(action[0])
        z = policy.partner_logits(partners[0], torch.tensor(action[:1]), relations)[0]
        for member in action[1:]:
            total = total + z[member] - torch.logsumexp(z[left], 0)
            left.remove(member)
        return total

    def test_cut_into_passes(self, monkeypatch):
        settings = KINDS["lazy"]
        policy = Policy(settings)
        problem = problem_of(settings, KARATE, core=8, k=4)
        decisions = play(policy, problem, 2, torch.Generator().manual_seed(0))
        whole = torch.cat([part.log_probability for part in likelihoods(policy, decisions)])
        monkeypatch.setattr("wavemmf.rl._play._NUMBERS_PER_PASS", 4000)
        parts = list(likelihoods(policy, decisions))
        assert len(parts) > 3
        torch.testing.assert_close(torch.cat([part.log_probability for part in parts]), whole)


class TestSelector:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", sorted(oracle.MATRICES))
    def test_every_matrix(self, kind, name):
        a = oracle.MATRICES[name]
        policy = Policy(KINDS[kind])
        for core, k, drop in ((min(2, len(a)), 4, 1), (0, 3, 2), (len(a), 8, 1)):
            task = Task(core, k, drop)
            for rotations in [policy.select(a, task), *policy.sample(a, task, 3)]:
                f = Factorization.from_rotations(a, rotations)
                oracle.check_constraints(f)
                assert f.core_size == core
                assert rotations.sizes.max(initial=0) <= k

    def test_protocol_and_seeds(self):
        policy = Policy(GUIDED)
        assert isinstance(policy, Selector)
        assert policy.name == "policy"
        task = Task(8, 8, 1, seed=5)
        first, again = policy.sample(KARATE, task, 6), policy.sample(KARATE, task, 6)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one.groups, other.groups)
            np.testing.assert_array_equal(one.blocks, other.blocks)
        assert len({r.groups.tobytes() for r in first}) > 3
        other = policy.sample(KARATE, replace(task, seed=6), 6)
        assert [r.groups.tobytes() for r in first] != [r.groups.tobytes() for r in other]

    def test_errors_of_episodes_are_exact(self):
        for settings in KINDS.values():
            problem = problem_of(settings, KARATE, core=6, k=5, drop=2)
            decisions = play(Policy(settings), problem, 4, torch.Generator().manual_seed(0))
            for b, error in enumerate(decisions.episodes.errors()):
                rotations = decisions.episodes.rotations(b)
                expected = Factorization.from_rotations(KARATE, rotations).error()
                assert error == pytest.approx(expected, rel=1e-8)

    @pytest.mark.parametrize("preset", ["guided", "groups"])
    def test_they_start_as_good_as_greedy(self, preset):
        policy = Policy(PRESETS[preset].policy)
        f = Factorization.from_rotations(KARATE, policy.select(KARATE, Task(8, 8, 1)))
        # The median of 40 randomised greedy runs when this was first asked for. Theirs has become
        # 0.20 since, because fewer of them are poor.
        assert f.error() < 0.276

    @pytest.mark.parametrize("kind", ["guided", "guided_graph", "groups"])
    @pytest.mark.parametrize("drop", [1, 3])
    def test_rounds_on_large_sparse_matrices(self, kind, drop, monkeypatch):
        monkeypatch.setattr("wavemmf.rl._selection._ROUNDS_FROM", 100)
        a = wm.graphs.normalized_laplacian(wm.graphs.grid(15, 16))
        policy = Policy(KINDS[kind])
        task = Task(25, 5, drop)
        for rotations in [policy.select(a, task), *policy.sample(a, task, 2)]:
            f = Factorization.from_rotations(a, rotations)
            oracle.check_constraints(f)
            assert f.core_size == 25
        dense = Factorization.from_rotations(a, policy.select(a.toarray(), task)).error()
        rounds = Factorization.from_rotations(a, policy.select(a, task)).error()
        neighbors = wm.factorize(a, core=25, k=5, drop=drop, select="neighbors").error()
        assert dense < 1.1 * neighbors
        assert rounds < 1.5 * dense

    def test_rounds_with_isolated_rows(self, monkeypatch):
        monkeypatch.setattr("wavemmf.rl._selection._ROUNDS_FROM", 10)
        a = sp.block_diag([oracle.MATRICES["path"], sp.csr_array((30, 30))], format="csr")
        f = Factorization.from_rotations(a, Policy(GUIDED).select(sp.csr_array(a), Task(0, 4, 2)))
        assert f.core_size == 0


class TestFiles:
    def test_round_trip(self, tmp_path):
        for settings in KINDS.values():
            policy = stirred(settings).float()
            policy.history.add([2.0, 3.0], [-2.0, -3.0], 0.5, 0)
            policy.history.stopped = "tired"
            policy.trained_with = {"k": 8}
            policy.save(tmp_path / "p.safetensors")
            again = load_policy(tmp_path / "p.safetensors")
            assert again.settings == settings
            assert again.trained_with == {"k": 8}
            assert again.history.errors.tolist() == [2.0, 3.0]
            assert (again.history.batches, again.history.stopped) == ([2], "tired")
            for name, value in policy.state_dict().items():
                assert torch.equal(value, again.state_dict()[name])

    def test_damaged_files(self, tmp_path):
        good, bad = tmp_path / "p.safetensors", tmp_path / "bad"
        Policy().save(good)
        content = good.read_bytes()
        for broken in (b"", content[:5], content[:200], content[:-3], b"PK" + content):
            bad.write_bytes(broken)
            with pytest.raises(FileFormatError):
                load_policy(bad)
        with pytest.raises(InvalidInputError, match="no such file"):
            load_policy(tmp_path / "nothing")

    def test_foreign_and_newer_files(self, tmp_path):
        from safetensors.torch import save_file

        path = tmp_path / "p.safetensors"
        save_file({"x": torch.zeros(2)}, path)
        with pytest.raises(FileFormatError, match="not a policy"):
            load_policy(path)
        header = '{"format": "wavemmf-policy", "version": 99, "written_by": "wavemmf 9.9"}'
        save_file({"x": torch.zeros(2)}, path, metadata={"wavemmf": header})
        with pytest.raises(FileFormatError, match=r"version 99 .* update it"):
            load_policy(path)

    @pytest.mark.parametrize("version", ["Infinity", '{"wavemmf-float": "inf"}', "1.0", "true"])
    def test_a_version_that_is_no_number_is_damage(self, tmp_path, version):
        from safetensors.torch import save_file

        path = tmp_path / "p.safetensors"
        header = f'{{"format": "wavemmf-policy", "version": {version}}}'
        save_file({"x": torch.zeros(2)}, path, metadata={"wavemmf": header})
        with pytest.raises(FileFormatError, match=r"damaged: its version is .* not a whole number"):
            load_policy(path)

    def test_nothing_is_left_when_the_folder_is_missing(self, tmp_path):
        with pytest.raises(InvalidInputError, match="does not exist"):
            Policy().save(tmp_path / "no" / "p.safetensors")
