"""What the networks are told about every node."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from ._messages import Messages
from ._problem import State
from ._settings import PolicySettings

__all__ = [
    "Facts",
    "facts_of_current",
    "facts_of_original",
    "log_score",
    "relations",
    "stack_features",
]

# Added to scores before the logarithm, as the randomised greedy selector does.
_FLOOR = 1e-9

#: Raw values by name of the feature, each of shape (batch, n).
Facts = dict[str, torch.Tensor]


def facts_of_original(messages: Messages, active: torch.Tensor) -> Facts:
    """Return degree, diagonal and squared norm in the active block of the given matrix."""
    rows = active.T.contiguous()
    return {
        "degree": messages.degrees(rows).T,
        "diagonal": messages.diagonal.expand_as(active),
        "norm": messages.squared_norms(rows).T,
    }


def facts_of_current(state: State) -> Facts:
    """Return the same of the matrices compressed so far, and scores and neighbours of pivots."""
    diagonals = np.einsum("bii->bi", state.matrices)
    neighbors = torch.from_numpy(state.neighbors).float()
    return {
        "degree": neighbors,
        "diagonal": torch.from_numpy(diagonals).float(),
        "norm": torch.from_numpy(state.energies).float(),
        "score": torch.from_numpy(state.scores).float(),
        "neighbors": neighbors,
        "sizes": torch.from_numpy(state.sizes).float() / state.groups.shape[2],
    }


def log_score(scores: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of scores, bounded below."""
    return torch.log(scores + _FLOOR)


def stack_features(
    settings: PolicySettings, facts: Facts, active: torch.Tensor, progress: float
) -> torch.Tensor:
    """Return features of shape (batch, n, number of features), zero for inactive rows."""
    columns = {
        "active": lambda: active,
        "degree": lambda: torch.log1p(facts["degree"]),
        "diagonal": lambda: facts["diagonal"],
        "norm": lambda: 0.5 * torch.log(facts["norm"].clamp_min(0.0) + _FLOOR),
        "score": lambda: log_score(facts["score"]),
        "neighbors": lambda: torch.log1p(facts["neighbors"]),
        "rank": lambda: _ranks(facts["score"], active),
        "lead": lambda: _leads(facts["score"], active),
        "size": lambda: facts["sizes"],
        "progress": lambda: torch.full_like(active, progress),
    }
    chosen = torch.stack([columns[name]() for name in settings.features], dim=-1)
    if settings.identities:
        signs = _signs(active.shape[-1], settings.identities).to(chosen.dtype)
        chosen = torch.cat([chosen, signs.expand(*active.shape, -1)], dim=-1)
    return chosen * active.unsqueeze(-1)


def _ranks(scores: torch.Tensor, active: torch.Tensor) -> torch.Tensor:
    """Return the places of scores among those of the active rows, from 0 to 1."""
    last = torch.where(active > 0, scores, torch.full_like(scores, torch.inf))
    places = last.argsort(dim=-1, stable=True).argsort(dim=-1).to(active.dtype)
    return places / active.sum(-1, keepdim=True).clamp_min(1.0)


def _leads(scores: torch.Tensor, active: torch.Tensor) -> torch.Tensor:
    """Return by how much logarithms of scores are above the lowest, a fifth to be around one."""
    last = torch.where(active > 0, scores, torch.full_like(scores, torch.inf))
    return 0.2 * (log_score(scores) - log_score(last.amin(-1, keepdim=True)))


@lru_cache(maxsize=8)
def _signs(n: int, count: int) -> torch.Tensor:
    """Return random signs of shape (n, count), always the same."""
    generator = torch.Generator().manual_seed(0)
    return 2.0 * torch.randint(0, 2, (n, count), generator=generator) - 1.0


def relations(squared_cosines: torch.Tensor, members: torch.Tensor) -> torch.Tensor:
    """Return what is known of a pivot and another row, as a last dimension of two numbers.

    The logarithm, bounded below, of the squared cosine between them; and whether the row is in the
    group by which the pivot was scored.
    """
    logarithms = torch.log(squared_cosines.clamp(0.0, 1.0) + 1e-12)
    return torch.stack([logarithms, members.to(logarithms.dtype)], dim=-1)
