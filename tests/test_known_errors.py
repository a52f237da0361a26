"""Errors that selectors are known to reach: a wrong score still gives a valid factorization."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import wavemmf as wm

CHOICES = {
    "greedy": {},
    "eigenvectors": {"survivors": "eigenvectors"},
    "nearest": {"survivors": "nearest"},
    "correlated": {"pairs": "correlated", "survivors": "eigenvectors"},
    "sparse": {"engine": "sparse"},
    "neighbors": {"select": "neighbors"},
    "random": {"select": "random"},
    "regular": {"select": "regular"},
}
# Matrices without ties, which rounding would decide; for each (k, drop) the relative error.
SIZES = [(2, 1), (3, 1), (5, 3)]
KNOWN: dict[tuple[str, str], list[float]] = {
    ("greedy", "dense"): [0.735835926, 0.532844503, 0.536442672],
    ("eigenvectors", "dense"): [0.735835926, 0.532844503, 0.536442672],
    ("nearest", "dense"): [0.735835926, 0.628825902, 0.588912406],
    ("correlated", "dense"): [0.709164629, 0.532844503, 0.536442672],
    ("sparse", "dense"): [0.729251066, 0.502431143, 0.586211901],
    ("neighbors", "dense"): [0.829541242, 0.660733857, 0.702691737],
    ("random", "dense"): [0.843799379, 0.764951003, 0.759488666],
    ("regular", "dense"): [0.860982828, 0.766964739, 0.660020586],
    ("greedy", "negative_weights"): [0.688300808, 0.526033887, 0.484650757],
    ("eigenvectors", "negative_weights"): [0.688300808, 0.526033887, 0.484650757],
    ("nearest", "negative_weights"): [0.688300808, 0.566256816, 0.558212109],
    ("correlated", "negative_weights"): [0.726131437, 0.526033887, 0.484650757],
    ("sparse", "negative_weights"): [0.716414251, 0.546439388, 0.528826265],
    ("neighbors", "negative_weights"): [0.778903839, 0.734740074, 0.643134785],
    ("random", "negative_weights"): [0.837390668, 0.735661034, 0.609572758],
    ("regular", "negative_weights"): [0.822200978, 0.705391303, 0.727849716],
    ("greedy", "kernel"): [0.287173369, 0.0902122811, 0.098751477],
    ("eigenvectors", "kernel"): [0.287173369, 0.0902122811, 0.098751477],
    ("nearest", "kernel"): [0.287173369, 0.120758915, 0.126959141],
    ("correlated", "kernel"): [0.287173369, 0.0902122811, 0.098751477],
    ("sparse", "kernel"): [0.287172897, 0.0901585179, 0.0987853726],
    ("neighbors", "kernel"): [0.368788928, 0.219810714, 0.118320559],
    ("random", "kernel"): [0.538822286, 0.244711176, 0.229109922],
    ("regular", "kernel"): [0.321270904, 0.19646153, 0.174384162],
}


def errors(choice: str, matrix: str) -> list[float]:
    a = oracle.MATRICES[matrix]
    return [
        wm.factorize(a, core=3, k=k, drop=drop, seed=3, **CHOICES[choice]).relative_error()
        for k, drop in SIZES
    ]


@pytest.mark.parametrize(("choice", "matrix"), KNOWN)
def test_selectors_reach_the_errors_they_are_known_for(choice: str, matrix: str) -> None:
    np.testing.assert_allclose(errors(choice, matrix), KNOWN[choice, matrix], rtol=1e-6)
