"""Bases adapted to signals: nodes set aside against plain NumPy, and the choice of candidates."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.signals import adapt, best_terms, compress
from wavemmf.signals._aside import aside_levels, can_set_aside, with_aside

GRAPH = wm.graphs.grid(9, 8)
N = GRAPH.n


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.wavelets(GRAPH)


@pytest.fixture
def spiky(rng):
    smooth = GRAPH.coordinates @ [1.0, 0.5]
    return smooth + 30.0 * (rng.random(N) < 0.08)


# -- nodes set aside --


def _plain_transform(rotations, choices, x):
    """Coefficients, by the definition of a level that sets a coordinate aside."""
    c = x.copy()
    for level in range(1, rotations.num_levels + 1):
        i, j = rotations.group(level)
        dropped = rotations.dropped(level)[0]
        kept = j if dropped == i else i
        if choices[level - 1] == 0:
            c[[i, j]] = rotations.block(level) @ c[[i, j]]
        else:
            aside, other = (i, j) if choices[level - 1] == 1 else (j, i)
            c[[dropped, kept]] = c[[aside, other]]
    return c


def _plain_cost(rotations, choices, x, t):
    c = _plain_transform(rotations, choices, x)
    dropped = c[rotations.wavelets[choices != 0]]
    if (np.abs(dropped).max(axis=1, initial=0.0) < t).any():
        return np.inf
    return np.minimum(c**2, t**2).sum() + 0.4 * t**2 * np.count_nonzero(choices)


@pytest.mark.parametrize("columns", [1, 3])
def test_no_single_change_costs_less(f, rng, columns):
    x = rng.normal(size=(N, columns)) ** 3
    r = f.rotations
    for t in (0.3, 1.0, 3.0):
        choices = aside_levels(r, x, t)
        found = _plain_cost(r, choices, x, t)
        assert found <= _plain_cost(r, np.zeros_like(choices), x, t)
        for level, choice in itertools.product(range(r.num_levels), range(3)):
            other = choices.copy()
            other[level] = choice
            assert _plain_cost(r, other, x, t) >= found - 1e-8 * t**2


def test_the_rotations_do_what_was_chosen(f, rng):
    x = rng.normal(size=(N, 2))
    choices = rng.integers(0, 3, size=f.num_levels)
    r = with_aside(f.rotations, choices)
    expected = _plain_transform(f.rotations, choices, x)
    found = wm.Factorization(r, f.h, 1.0, 0.0).analyze(x)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(r.wavelets, f.rotations.wavelets)


def test_a_lonely_spike_is_one_coefficient():
    graph = wm.graphs.path(64)
    f = wm.wavelets(graph, core=1)
    for node in (0, 13, 40):
        x = np.where(np.arange(64) == node, 5.0, 0.0)[:, None]
        choices = aside_levels(f.rotations, x, 0.1)
        c = _plain_transform(f.rotations, choices, x)
        assert np.count_nonzero(np.abs(c) > 1e-9) == 1
        assert np.count_nonzero(choices) == 1


def test_only_levels_of_two_can_set_aside(f):
    assert can_set_aside(f.rotations)
    assert not can_set_aside(wm.wavelets(GRAPH, k=3).rotations)
    assert can_set_aside(wm.factorize(GRAPH, core=N).rotations)


# -- adapt --


def test_fewer_terms_with_the_side_information_counted(f, spiky):
    for share in (0.1, 0.2):
        terms = round(share * N)
        found = adapt(spiky, [f], share=share)
        assert found.candidate is f
        assert 0 < found.set_aside < terms
        counted = best_terms(found.factorization, spiky, terms - math.ceil(found.side_terms))
        assert counted.error < best_terms(f, spiky, terms).error


def test_the_adapted_basis_is_a_factorization(f, spiky):
    of_graph = adapt(spiky, GRAPH)
    given = adapt(spiky, {"own": f})
    for found in (of_graph, given):
        w = found.factorization.basis().toarray()
        np.testing.assert_allclose(w @ w.T, np.eye(N), atol=1e-10)
    assert given.name == "own"
    # Of a graph the error is exact; of a factorization it is a bound.
    adapted = given.factorization
    matrix = wm.graphs.normalized_laplacian(GRAPH).toarray()
    exact = np.linalg.norm(matrix - adapted.to_dense())
    assert not adapted.error_is_exact
    assert exact <= adapted.error() + 1e-12
    assert of_graph.factorization.error_is_exact


def test_a_graph_has_candidates_of_its_own(spiky):
    found = adapt(spiky, GRAPH, cost="l1")
    plain = adapt(spiky, GRAPH.adjacency, cost="l1")
    assert len(found.costs) == 2 * len(plain.costs) == 6
    assert "laplacian, 1/distance" in found.costs
    assert found.name == min(found.costs, key=found.costs.get)


@pytest.mark.parametrize("cost", wm.signals.COSTS)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_costs_against_plain_numpy(rng, cost, shape):
    bases = {f"k{k}": wm.wavelets(GRAPH, k=k) for k in (2, 3, 4)}
    x = np.cumsum(rng.normal(size=(N, *shape)), axis=0)
    found = adapt(x, bases, cost=cost, aside=False)
    unit = x.reshape(N, -1) / np.linalg.norm(x.reshape(N, -1), axis=0)
    errors = best_terms(bases["k2"], unit, share=0.1).error
    limit = np.sqrt(np.mean(errors**2))
    for name, basis in bases.items():
        c = np.abs(basis.basis().toarray() @ unit)
        expected = {
            "terms": _error_of_terms(c, round(0.1 * N) - 1),  # log2(3) bits are less than a term
            "l1": c.sum(),
            "entropy": -(c**2 * np.log2(c**2)).sum(),
            "bits": 8 * len(compress(unit, basis, error=limit).data),
        }[cost]
        assert found.costs[name] == pytest.approx(expected, rel=0.02 if cost == "bits" else 1e-9)
    assert found.factorization is bases[min(found.costs, key=found.costs.get)]
    assert found.side_bits == pytest.approx(np.log2(3))


def _error_of_terms(sizes, terms):
    lost = np.sort(sizes**2, axis=0)[::-1][terms:].sum(axis=0)
    return np.sqrt(np.mean(lost))


def test_units_and_zeros(f, spiky):
    plain, scaled = adapt(spiky, f), adapt(1e150 * spiky, f)
    assert plain.set_aside == scaled.set_aside
    assert scaled.costs == pytest.approx(plain.costs, rel=1e-12)
    nothing = adapt(np.zeros(N), f)
    assert nothing.factorization is f
    assert adapt(np.ones(N), f, aside=False).set_aside == 0


def test_progress_and_labels(spiky):
    names = [f"n{i}" for i in range(N)]
    named = wm.wavelets(wm.graphs.Graph(GRAPH.adjacency, node_names=names))
    told = []
    series = pd.Series(spiky, names).sample(frac=1.0, random_state=1)
    found = adapt(series, [named, named], progress=lambda *state: told.append(state[:2]))
    assert told == [(1, 2), (2, 2)]
    assert found.factorization.node_names == tuple(names)
    assert found.costs == adapt(spiky, [named, named]).costs


@pytest.mark.parametrize(
    ("candidates", "settings", "error", "message"),
    [
        ([], {}, InvalidInputError, "at least one candidate"),
        (["f"], {}, InputTypeError, "'0' is a str"),
        (GRAPH, {"cost": "l0"}, InvalidInputError, "cost must be one of"),
        (GRAPH, {"share": 1.0}, InvalidInputError, "share must be between 0 and 1"),
        (wm.graphs.path(3), {}, InvalidInputError, "must have shape"),
        (None, {}, InputTypeError, "not numeric"),
    ],
)
def test_what_cannot_be_adapted_to(candidates, settings, error, message):
    with pytest.raises(error, match=message):
        adapt(np.ones(N), candidates, **settings)
