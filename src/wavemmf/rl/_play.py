"""Trajectories of a policy (section 5.3 of the paper), and how likely its decisions were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ._episodes import Episodes
from ._features import stack_features
from ._policy import Policy
from ._problem import Problem
from ._sampling import draw, entropy, ordered_log_probability

__all__ = [
    "Decisions",
    "Likelihood",
    "choose_survivors",
    "likelihood",
    "likelihoods",
    "play",
    "replay",
]

# Numbers in the embeddings of one differentiable pass; more levels are cut into several passes.
_NUMBERS_PER_PASS = 20_000_000


@dataclass(frozen=True)
class Decisions:
    """All states of a batch of episodes, as far as the policy saw them, and what was decided.

    Attributes
    ----------
    episodes : Episodes
        The finished episodes.
    active, pivots : bool tensor of shape (L, batch, n)
        Rows that were active, and rows that could be the pivot.
    features : tensor of shape (number of refreshes, batch, n, features)
    scores, relations : tensors of shape (L, batch, n) and (L, batch, n, 2), or None
        What the priors look at.
    actions : integer tensor of shape (L, batch, k)
        The pivot, then its partners in the order they were drawn; -1 for none.
    """

    episodes: Episodes
    active: torch.Tensor
    pivots: torch.Tensor
    features: torch.Tensor
    scores: torch.Tensor | None
    relations: torch.Tensor | None
    actions: torch.Tensor


@torch.no_grad()
def play(
    policy: Policy,
    problem: Problem,
    count: int,
    generator: torch.Generator | None = None,
    record: bool = True,
    temperature: torch.Tensor | float = 1.0,
    report: Callable[[int, int], None] | None = None,
) -> Decisions:
    """Play `count` episodes; without a generator, by the largest logits.

    After every level, `report` is called with the levels played and all of them.

    Without `record`, of all that was seen only the last level is returned. The temperature may
    differ between episodes, shape (count, 1).
    """
    embedding: tuple[torch.Tensor, ...] = ()

    def decide(recorder: _Recorder, active: torch.Tensor, size: int) -> torch.Tensor:
        nonlocal embedding
        if recorder.refreshed:
            embedding = policy.embed(recorder.features[-1], active.float(), problem.messages)
        scores = recorder.scores[-1] if problem.scored else None
        pivots = draw(
            policy.pivot_logits(embedding[0], scores),
            recorder.pivots[-1],
            1,
            generator,
            temperature,
        )
        if policy.settings.actions == "groups":
            return pivots
        recorder.see_partners(pivots[:, 0])
        relations = recorder.relations[-1] if problem.scored else None
        logits = policy.partner_logits(embedding[1], pivots[:, 0], relations)
        others = active.scatter(1, pivots, False)
        partners = draw(logits, others, size - 1, generator, temperature)
        return torch.cat([pivots, partners], dim=1)

    seed = None if generator is None else int(torch.randint(2**62, (), generator=generator))
    return _run(policy, problem, count, decide, record=record, report=report, seed=seed)


def replay(
    policy: Policy, problem: Problem, actions: torch.Tensor, moves: torch.Tensor
) -> Decisions:
    """Follow given episodes and record what the policy would have seen.

    Parameters
    ----------
    policy, problem
        As for `play`.
    actions : integer tensor of shape (L, batch, k)
        The decisions: pivot, then partners, -1 for none.
    moves : integer tensor of shape (L, batch, k)
        The same groups with the coordinates that are dropped in front.
    """

    def decide(recorder: _Recorder, active: torch.Tensor, size: int) -> torch.Tensor:
        action = actions[recorder.episodes.level]
        recorder.see_partners(action[:, 0])
        return action

    return _run(policy, problem, actions.shape[1], decide, moves)


class _Recorder:
    def __init__(self, policy: Policy, episodes: Episodes) -> None:
        self.settings = policy.settings
        self.episodes = episodes
        self.active: list[torch.Tensor] = []
        self.pivots: list[torch.Tensor] = []
        self.features: list[torch.Tensor] = []
        self.scores: list[torch.Tensor] = []
        self.relations: list[torch.Tensor] = []
        self.actions: list[torch.Tensor] = []

    @property
    def refreshed(self) -> bool:
        return self.episodes.level % self.settings.refresh == 0

    def forget(self) -> None:
        """Drop what was recorded, but for features that are still in use."""
        for kept in (self.active, self.pivots, self.scores, self.relations, self.actions):
            kept.clear()
        if self.refreshed:
            self.features.clear()

    def see(self) -> torch.Tensor:
        """Record what can be seen before the level, and return which rows are active."""
        episodes = self.episodes
        active = episodes.active
        self.active.append(active)
        self.pivots.append(episodes.pivots)
        if self.refreshed:
            facts = episodes.facts(active.float())
            progress = episodes.level / episodes.problem.schedule.levels
            self.features.append(stack_features(self.settings, facts, active.float(), progress))
        if episodes.problem.scored:
            self.scores.append(torch.from_numpy(episodes.state.scores).float())
        return active

    def see_partners(self, pivots: torch.Tensor) -> None:
        if self.episodes.problem.scored and self.settings.actions == "rows":
            self.relations.append(self.episodes.relations(pivots))


def _run(
    policy: Policy,
    problem: Problem,
    count: int,
    decide: Any,
    moves: torch.Tensor | None = None,
    record: bool = True,
    report: Callable[[int, int], None] | None = None,
    seed: int | None = None,
) -> Decisions:
    episodes = Episodes(problem, count, seed)
    overlap = policy.settings.wavelets == "overlap"
    whole = policy.settings.actions == "groups"
    recorder = _Recorder(policy, episodes)
    schedule = problem.schedule
    for size in schedule.sizes:
        if not record:
            recorder.forget()
        active = recorder.see()
        members = decide(recorder, active, size)
        action = torch.full((episodes.count, schedule.k), -1)
        action[:, : members.shape[1]] = members
        recorder.actions.append(action)
        if whole and moves is None:
            groups = episodes.groups_of(action[:, 0])
            episodes.take(groups.numpy(), anywhere=overlap)
        elif moves is None:
            episodes.take(action.numpy(), anywhere=overlap)
        else:
            episodes.take(moves[episodes.level].numpy(), anywhere=False)
        if report is not None:
            report(episodes.level, schedule.levels)
    scored = problem.scored
    return Decisions(
        episodes,
        _stacked(recorder.active, (0, episodes.count, problem.n), torch.bool),
        _stacked(recorder.pivots, (0, episodes.count, problem.n), torch.bool),
        _stacked(recorder.features, (0, episodes.count, problem.n, 1), torch.float32),
        _stacked(recorder.scores, (0, 0, 0), torch.float32) if scored else None,
        _stacked(recorder.relations, (0, 0, 0, 2), torch.float32) if scored and not whole else None,
        _stacked(recorder.actions, (0, episodes.count, schedule.k), torch.int64),
    )


def _stacked(parts: list[torch.Tensor], empty: tuple[int, ...], dtype: Any) -> torch.Tensor:
    return torch.stack(parts) if parts else torch.zeros(empty, dtype=dtype)


@dataclass(frozen=True)
class Likelihood:
    """Of some levels: which, the log-probabilities of decisions, and entropies, (levels, batch)."""

    levels: slice
    log_probability: torch.Tensor
    entropy: torch.Tensor


def likelihoods(policy: Policy, decisions: Decisions) -> Iterator[Likelihood]:
    """Yield the differentiable log-probabilities of all decisions, some levels at a time.

    States are known, so the decisions of many levels and episodes are one batch. The entropy is
    that of the pivot and of the first partner.
    """
    refresh = policy.settings.refresh
    levels, batch, n = decisions.active.shape
    width = policy.pivot_network.width
    refreshes = max(1, _NUMBERS_PER_PASS // max(1, batch * n * width))
    for first in range(0, levels, refreshes * refresh):
        part = slice(first, min(levels, first + refreshes * refresh))
        yield likelihood(policy, decisions, part)


def likelihood(policy: Policy, decisions: Decisions, levels: slice) -> Likelihood:
    """Return the differentiable log-probabilities of the decisions of some levels."""
    refresh = policy.settings.refresh
    active = decisions.active[levels]
    count, batch, _ = active.shape
    seen = torch.arange(levels.start, levels.stop) // refresh
    first = int(seen[0])
    features = decisions.features[first : int(seen[-1]) + 1]
    at_refresh = decisions.active[first * refresh : levels.stop : refresh]
    messages = decisions.episodes.problem.messages
    embeddings = policy.embed(features.flatten(0, 1), at_refresh.flatten(0, 1).float(), messages)
    if refresh > 1:
        spread = [e.unflatten(0, (-1, batch))[seen - first].flatten(0, 1) for e in embeddings]
    else:
        spread = list(embeddings)
    allowed, possible = active.flatten(0, 1), decisions.pivots[levels].flatten(0, 1)
    actions = decisions.actions[levels].flatten(0, 1)
    pivots, partners = actions[:, :1], actions[:, 1:]
    scores = None if decisions.scores is None else decisions.scores[levels].flatten(0, 1)
    relations = None if decisions.relations is None else decisions.relations[levels].flatten(0, 1)
    pivot_logits = policy.pivot_logits(spread[0], scores)
    if policy.settings.actions == "groups":
        return Likelihood(
            levels,
            ordered_log_probability(pivot_logits, possible, pivots).unflatten(0, (count, batch)),
            entropy(pivot_logits, possible).unflatten(0, (count, batch)),
        )
    partner_logits = policy.partner_logits(spread[1], pivots[:, 0], relations)
    others = allowed.scatter(1, pivots, False)
    log_probability = ordered_log_probability(pivot_logits, possible, pivots)
    log_probability = log_probability + ordered_log_probability(partner_logits, others, partners)
    spread_out = entropy(pivot_logits, possible) + entropy(partner_logits, others)
    return Likelihood(
        levels,
        log_probability.unflatten(0, (count, batch)),
        spread_out.unflatten(0, (count, batch)),
    )


def choose_survivors(policy: Policy, problem: Problem) -> Problem:
    """Decide which survivors the problem is played with, if need be by playing both kinds."""
    problem.nearest = policy.settings.survivors == "nearest"
    if policy.settings.survivors == "auto":
        far = play(policy, problem, 1, record=False).episodes.errors()
        problem.nearest = True
        near = play(policy, problem, 1, record=False).episodes.errors()
        problem.nearest = bool(near[0] < far[0])
    return problem
