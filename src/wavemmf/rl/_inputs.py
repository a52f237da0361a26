"""What a user may train on: one matrix or graph, or a list of them."""

from __future__ import annotations

from typing import Any

from .._validation import check_mmf_parameters
from ..errors import InvalidInputError
from ..graphs import as_matrix
from ._problem import Problem
from ._schedule import Schedule, plan_levels
from ._settings import PolicySettings

__all__ = ["problem_for", "problems_of"]


def problems_of(
    A: Any,
    k: int,
    core: int | float | None,
    drop: int,
    policy: PolicySettings,
    matrix: str | None = None,
) -> list[Problem]:
    """Return one problem for every graph, prepared for such policies."""
    given = A if _is_collection(A) else [A]
    if not given:
        raise InvalidInputError("the list of graphs is empty")
    problems = []
    for graph in given:
        symmetric = as_matrix(graph, matrix=matrix)
        n = symmetric.shape[0]
        sizes = check_mmf_parameters(n, core, k, drop)
        schedule = plan_levels(n, *sizes)
        problems.append(problem_for(policy, symmetric, schedule))
    return problems


def problem_for(policy: PolicySettings, matrix: Any, schedule: Schedule) -> Problem:
    """Return the problem of a matrix as such policies see it."""
    whole = policy.actions == "groups"
    return Problem(matrix, schedule, policy.scored, policy.noises, policy.few, centred=whole)


def _is_collection(A: Any) -> bool:
    """Whether `A` is a list of graphs rather than one matrix given as nested lists."""
    if not isinstance(A, list | tuple):
        return False
    return not A or not _is_row(A[0])


def _is_row(first: Any) -> bool:
    return isinstance(first, list | tuple) and all(isinstance(x, int | float) for x in first)
