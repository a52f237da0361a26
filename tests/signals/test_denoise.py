"""Smoothing before thresholds: against plain NumPy, and against either alone."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InvalidInputError
from wavemmf.signals import denoise
from wavemmf.signals._tikhonov import STRENGTHS, Tikhonov

GRAPH = wm.graphs.grid(16, 16)


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.wavelets(GRAPH)


def _plain(laplacian, strength, x):
    scaled = laplacian / np.diag(laplacian).mean()
    return np.linalg.solve(np.eye(len(x)) + strength * scaled, x)


@pytest.mark.parametrize("matrix", ["normalized_laplacian", "laplacian"])
def test_smoothing_against_dense_algebra(rng, matrix):
    laplacian = wm.graphs.as_matrix(GRAPH, matrix=matrix)
    x = rng.normal(size=(256, 3))
    for strength in (0.1, 10.0):
        found = Tikhonov(laplacian, 256).smoother(strength)(x)
        np.testing.assert_allclose(found, _plain(laplacian.toarray(), strength, x), atol=1e-10)


def test_the_result_is_one_of_the_strengths(f, rng):
    x = GRAPH.coordinates.sum(axis=1)[:, None] / 5.0 + rng.normal(size=(256, 3))
    found = denoise(x, f, "sure", noise=1.0, smooth=GRAPH)
    laplacian = wm.graphs.normalized_laplacian(GRAPH).toarray()
    choices = [denoise(x, f, "sure", noise=1.0)]
    for strength in STRENGTHS:
        smooth = _plain(laplacian, strength, x)
        choices.append(smooth + denoise(x - smooth, f, "sure", noise=1.0))
    for j in range(3):
        assert min(np.abs(each[:, j] - found[:, j]).max() for each in choices) < 1e-8


def test_smooth_signals_gain_from_smoothing(f, rng):
    x, y = GRAPH.coordinates.T
    clean = 3.0 * np.sin(x / 6.0)[:, None] * np.cos(y / 5.0)[:, None] * np.ones(6)
    noisy = clean + rng.normal(size=clean.shape)
    alone, after = (denoise(noisy, f, "sure", smooth=s) for s in (None, GRAPH))
    assert np.linalg.norm(after - clean) < 0.9 * np.linalg.norm(alone - clean)


def test_several_bases_share_the_smoothing(f, rng):
    bases = [f, wm.wavelets(GRAPH, k=3)]
    x = rng.normal(size=256) + GRAPH.coordinates[:, 0]
    found = denoise(x, bases, smooth=GRAPH)
    assert found.shape == (256,)
    np.testing.assert_array_equal(found, denoise(x, bases, smooth=GRAPH))


def test_a_signal_without_noise_stays(f):
    np.testing.assert_allclose(denoise(np.ones(256), f, noise=0.0, smooth=GRAPH), 1.0, atol=1e-10)


def test_what_cannot_be_smoothed_by(f):
    with pytest.raises(InvalidInputError, match="smooth has 5 vertices, and the signals 256"):
        denoise(np.ones(256), f, smooth=wm.graphs.path(5))
    with pytest.raises(InvalidInputError, match="positive semidefinite"):
        denoise(np.ones(256), f, smooth=-np.eye(256))
