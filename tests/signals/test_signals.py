"""Best terms, thresholds, denoising and descriptions, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.signals import bands, best_terms, denoise, describe, noise_level, threshold

GRAPH = wm.graphs.grid(9, 8)
N = GRAPH.n


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.wavelets(GRAPH)


# -- the basis --


def test_wavelets_are_an_orthonormal_basis_of_diffusions(f):
    w = f.basis().toarray()
    np.testing.assert_allclose(w @ w.T, np.eye(N), atol=1e-10)
    assert (f.parameters["select"], f.parameters["k"], f.core_size) == ("diffusion", 2, 8)


def test_settings_of_wavelets_are_handed_on():
    g = wm.wavelets(GRAPH, core=5, k=3, select="greedy", matrix="laplacian")
    assert (g.core_size, g.parameters["k"], g.parameters["select"]) == (5, 3, "greedy")
    assert g.matrix_norm == pytest.approx(np.linalg.norm(wm.graphs.laplacian(GRAPH).toarray()))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_have_a_basis(n):
    f = wm.wavelets(wm.graphs.path(n))
    np.testing.assert_allclose(f.synthesize(f.analyze(np.arange(n))), np.arange(n), atol=1e-12)


def test_bands_halve_what_is_left(f):
    sizes = np.bincount(bands(f) + 1)
    assert sizes.tolist() == [8, 36, 18, 9, 1]
    order = bands(f)[f.rotations.wavelets]
    assert (np.diff(order) >= 0).all()


# -- best terms --


@given(seed=st.integers(0, 1000), terms=st.integers(0, N), columns=st.integers(1, 3))
def test_best_terms_against_the_definition(seed, terms, columns):
    f = _shared()
    x = np.random.default_rng(seed).normal(size=(N, columns)) ** 3
    best = best_terms(f, x, terms)
    c = f.basis().toarray() @ x
    for j in range(columns):
        kept = np.argsort(-np.abs(c[:, j]), kind="stable")[:terms]
        expected = f.basis().toarray()[kept].T @ c[kept, j]
        np.testing.assert_allclose(best.signal[:, j], expected, atol=1e-9)
        lost = np.linalg.norm(x[:, j] - best.signal[:, j]) / np.linalg.norm(x[:, j])
        assert best.error[j] == pytest.approx(lost, abs=1e-7)  # Parseval
    assert best.curve.shape == (N + 1, columns)
    np.testing.assert_allclose(best.curve[0], 1.0)
    np.testing.assert_array_equal(best.curve[-1], 0.0)
    assert (np.diff(best.curve, axis=0) <= 0).all()


_BASES: list[wm.Factorization] = []


def _shared() -> wm.Factorization:
    if not _BASES:
        _BASES.append(wm.wavelets(GRAPH))
    return _BASES[0]


def test_all_terms_are_the_signal(f, rng):
    x = rng.normal(size=N)
    best = best_terms(f, x, share=1.0)
    np.testing.assert_allclose(best.signal, x, atol=1e-10)
    assert (best.terms, best.error) == (N, 0.0)
    assert best_terms(f, x, share=0.25).terms == N // 4


def test_a_signal_of_zeros_has_no_error(f):
    best = best_terms(f, np.zeros(N), 3)
    assert best.error == 0.0
    np.testing.assert_array_equal(best.curve, 0.0)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_curve_does_not_depend_on_units(f, rng, scale):
    x = rng.normal(size=N)
    np.testing.assert_allclose(best_terms(f, scale * x, 9).curve, best_terms(f, x, 9).curve)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give either terms"),
        ({"terms": 3, "share": 0.1}, "give either terms"),
        ({"terms": N + 1}, "terms must be an integer at least 0 and at most"),
        ({"share": 1.5}, "share must be between 0 and 1"),
    ],
)
def test_terms_that_are_not_allowed(f, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        best_terms(f, np.ones(N), **settings)


@pytest.mark.parametrize("function", [best_terms, threshold])
def test_signals_that_are_not_allowed(f, function):
    extra = (3,) if function is best_terms else ()
    with pytest.raises(InvalidInputError, match="must have shape"):
        function(f, np.ones(N + 1), *extra)
    with pytest.raises(InvalidInputError, match=r"entry \(2,\) is nan"):
        function(f, np.where(np.arange(N) == 2, np.nan, 1.0), *extra)
    with pytest.raises(InputTypeError, match="real numbers"):
        function(f, np.ones(N, complex), *extra)


# -- thresholds --


def _soft(c, t):
    return np.sign(c) * np.maximum(np.abs(c) - t, 0.0)


def _plain_rule(values, sigma, n, rule):
    """One threshold for the coefficients of a band."""
    if rule == "universal":
        return sigma * np.sqrt(2 * np.log(n))
    if rule == "bayes":
        signal = np.sqrt(max(np.mean(values**2) - sigma**2, 0.0))
        return sigma**2 / signal if signal > 0 else np.inf
    candidates = [0.0, *np.abs(values)]
    inside = [np.abs(values) <= t for t in candidates]
    risks = [
        np.minimum(values**2, t**2).sum() - 2 * sigma**2 * np.count_nonzero(small)
        for t, small in zip(candidates, inside, strict=True)
    ]
    return candidates[int(np.argmin(risks))]


@pytest.mark.parametrize("rule", wm.signals.RULES)
@pytest.mark.parametrize("shrink", wm.signals.SHRINKS)
def test_rules_against_plain_numpy(f, rng, rule, shrink):
    c = rng.normal(size=(N, 4)) * np.where(rng.random((N, 4)) < 0.2, 9.0, 1.0)
    c[bands(f) == 1] *= 0.3  # a band with nothing above the noise
    found = threshold(f, c, rule, shrink)
    for j in range(4):
        sigma = np.median(np.abs(c[bands(f) == 0, j])) / 0.6744897501960817
        assert noise_level(f, c[:, j]) == pytest.approx(sigma)
        expected = c[:, j].copy()
        for band in range(bands(f).max() + 1):
            inside = bands(f) == band
            values = c[inside, j]
            limit = _plain_rule(values, sigma, N, rule)
            hard = np.where(np.abs(values) > limit, values, 0.0)
            expected[inside] = _soft(values, limit) if shrink == "soft" else hard
        np.testing.assert_allclose(found[:, j], expected, atol=1e-12)


def test_a_batch_is_its_signals(f, rng):
    c = rng.normal(size=(N, 3))
    alone = np.stack([threshold(f, c[:, j], "sure") for j in range(3)], axis=1)
    np.testing.assert_array_equal(threshold(f, c, "sure"), alone)


def test_a_threshold_may_be_given(f, rng):
    c = rng.normal(size=N)
    wavelets = bands(f) >= 0
    np.testing.assert_array_equal(threshold(f, c, 0.7)[wavelets], _soft(c, 0.7)[wavelets])
    np.testing.assert_array_equal(threshold(f, c, 0.7)[~wavelets], c[~wavelets])


def test_known_noise_is_taken_as_it_is(f, rng):
    c = rng.normal(size=(N, 2))
    both = threshold(f, c, "universal", noise=[0.1, 0.2])
    np.testing.assert_array_equal(both[:, 1], threshold(f, c[:, 1], "universal", noise=0.2))
    np.testing.assert_array_equal(threshold(f, c, "universal", noise=0.0), c)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rule": "best"}, InvalidInputError, "rule must be one of"),
        ({"rule": -1.0}, InvalidInputError, "rule must be one of"),
        ({"rule": None}, InputTypeError, "rule must be one of"),
        ({"shrink": "medium"}, InvalidInputError, "shrink must be one of"),
        ({"noise": -1.0}, InvalidInputError, "noise must be"),
        ({"noise": [1.0, 2.0]}, InvalidInputError, "noise must be"),
    ],
)
def test_thresholds_that_are_not_allowed(f, settings, error, message):
    with pytest.raises(error, match=message):
        threshold(f, np.ones(N), **settings)


def test_a_basis_without_wavelets_has_nothing_to_threshold():
    f = wm.factorize(GRAPH, core=N)
    np.testing.assert_array_equal(threshold(f, np.ones(N)), np.ones(N))
    with pytest.raises(InvalidInputError, match="no wavelets"):
        noise_level(f, np.ones(N))


# -- denoising --


@pytest.mark.parametrize("method", wm.signals.RULES)
def test_denoising_comes_closer_to_the_truth(rng, method):
    graph = wm.graphs.grid(24, 24)
    f = wm.wavelets(graph)
    x, y = graph.coordinates.T
    clean = 3.0 * np.sin(x / 6.0)[:, None] + 4.0 * (y > 11.0)[:, None] * np.ones(5)
    noisy = clean + rng.normal(size=clean.shape)
    # Soft thresholds as large as the universal one take much of the signal away as well.
    found = denoise(noisy, f, method, shrink="hard" if method == "universal" else "soft")
    before, after = (np.linalg.norm(s - clean, axis=0) for s in (noisy, found))
    assert (after < 0.8 * before).all()


def test_several_bases_give_the_mean(rng):
    bases = [wm.wavelets(GRAPH, select=wm.select.Diffusion(time=t)) for t in (2.0, 8.0)]
    x = rng.normal(size=(N, 2))
    mean = (denoise(x, bases[0]) + denoise(x, bases[1])) / 2
    np.testing.assert_allclose(denoise(x, bases), mean, atol=1e-14)


def test_what_cannot_be_denoised_with(f):
    with pytest.raises(InvalidInputError, match="at least one factorization"):
        denoise(np.ones(N), [])
    with pytest.raises(InputTypeError, match="got str"):
        denoise(np.ones(N), [f, "f"])
    with pytest.raises(InvalidInputError, match="must have shape"):
        denoise(np.ones(N), [f, wm.wavelets(wm.graphs.path(5))])


# -- descriptions --


def test_descriptions_against_plain_numpy(f):
    rows = describe(f, GRAPH)
    w = f.basis().toarray()
    hops = shortest_path(GRAPH.adjacency, unweighted=True)
    apart = np.linalg.norm(GRAPH.coordinates[:, None] - GRAPH.coordinates[None], axis=2)
    for i in range(N):
        support = np.flatnonzero(np.abs(w[i]) > 1e-3)
        centre = rows["centre"][i]
        assert np.abs(w[i, centre]) == pytest.approx(np.abs(w[i]).max())
        assert rows["support"][i] == support.size
        assert rows["hops"][i] == hops[centre, support].max()
        assert rows["distance"][i] == pytest.approx(apart[centre, support].max())
    np.testing.assert_array_equal(rows["frequency"], f.frequencies)
    np.testing.assert_array_equal(np.flatnonzero(rows["level"] == 0), f.core_indices)
    for level in (1, f.num_levels):
        assert (rows["level"][f.rotations.dropped(level)] == level).all()


def test_a_table_has_the_same_columns(f):
    table = describe(f, GRAPH, table=True)
    rows = describe(f, GRAPH)
    assert tuple(table.columns) == rows.dtype.names
    np.testing.assert_array_equal(table["hops"], rows["hops"])


def test_without_a_graph_there_are_no_distances(f):
    assert describe(f).dtype.names == ("level", "band", "centre", "frequency", "support")
    assert "distance" not in describe(f, GRAPH.adjacency).dtype.names
    with pytest.raises(InvalidInputError, match="has 5 vertices"):
        describe(f, wm.graphs.path(5))


# -- lengths --


def test_weights_are_inverse_lengths():
    lengths = sp.csr_array(np.array([[0, 2.0, 0], [2.0, 0, 4.0], [0, 4.0, 0]]))
    found = wm.graphs.weights_from_lengths(lengths)
    np.testing.assert_array_equal(found.adjacency.toarray()[1], [0.5, 0, 0.25])
    by_place = wm.graphs.Graph(lengths, coordinates=np.array([[0, 0], [3.0, 4.0], [3.0, 4.0]]))
    with pytest.raises(InvalidInputError, match="edge between 1 and 2 has length 0"):
        wm.graphs.weights_from_lengths(by_place, "coordinates")
    found = wm.graphs.weights_from_lengths(by_place, "coordinates", at_least=1.0)
    np.testing.assert_array_equal(found.adjacency.toarray()[1], [0.2, 0, 1.0])
    assert found.coordinates is not None


def test_lengths_that_are_not_there():
    with pytest.raises(InvalidInputError, match="needs a graph with coordinates"):
        wm.graphs.weights_from_lengths(wm.graphs.karate().adjacency, "coordinates")
    with pytest.raises(InvalidInputError, match="lengths must be one of"):
        wm.graphs.weights_from_lengths(GRAPH, "miles")


# -- rivals --


def test_haar_wavelets_are_an_orthonormal_basis():
    from wavemmf.experiments.signals import eigenvector_basis, haar_basis

    blocks = sp.block_diag([wm.graphs.path(9).adjacency, wm.graphs.cycle(6).adjacency])
    for graph in (GRAPH, wm.graphs.Graph(blocks)):
        haar, eigenvectors = haar_basis(graph).toarray(), eigenvector_basis(graph)
        np.testing.assert_allclose(haar @ haar.T, np.eye(len(haar)), atol=1e-10)
        np.testing.assert_allclose(eigenvectors @ eigenvectors.T, np.eye(len(haar)), atol=1e-10)


# -- names --


def test_results_are_labelled_as_signals_are(rng):
    names = [f"n{i}" for i in range(N)]
    f = wm.wavelets(wm.graphs.Graph(GRAPH.adjacency, node_names=names))
    frame = pd.DataFrame(rng.normal(size=(N, 2)), names, ["a", "b"])
    mixed = frame.sample(frac=1.0, random_state=0)
    plain = frame.to_numpy()
    best, expected = best_terms(f, mixed, 9), best_terms(f, plain, 9)
    for found, values in (
        (best.signal, expected.signal),
        (best.coefficients, expected.coefficients),
        (threshold(f, f.analyze(mixed)), threshold(f, f.analyze(plain))),
        (denoise(mixed, f), denoise(plain, f)),
        (denoise(mixed, f, smooth=GRAPH), denoise(plain, f, smooth=GRAPH)),
    ):
        assert found.index.equals(mixed.index)
        np.testing.assert_allclose(found.loc[names], values, atol=1e-12)
    np.testing.assert_array_equal(best.curve, expected.curve)
    mixed.loc["n3", "b"] = np.inf
    with pytest.raises(InvalidInputError, match=r"entry \(3, 1\) \(node 'n3'\) is inf"):
        denoise(mixed, f)


def test_descriptions_name_the_centre():
    names = [f"n{i}" for i in range(N)]
    f = wm.wavelets(wm.graphs.Graph(GRAPH.adjacency, node_names=names))
    rows, table = describe(f), describe(f, table=True)
    assert rows["centre_name"].tolist() == [names[i] for i in rows["centre"]]
    assert list(table.index) == names
    assert table.loc["n5", "centre_name"] == names[table.loc["n5", "centre"]]
