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
    ("greedy", "dense"): [0.635274319, 0.380757512, 0.45195672],
    ("eigenvectors", "dense"): [0.635274319, 0.380757512, 0.45195672],
    ("nearest", "dense"): [0.635274319, 0.46365192, 0.467151026],
    ("correlated", "dense"): [0.653971512, 0.380757512, 0.45195672],
    ("sparse", "dense"): [0.645375366, 0.468663426, 0.48338398],
    ("neighbors", "dense"): [0.707507391, 0.55241576, 0.566782196],
    ("random", "dense"): [0.814592861, 0.652483477, 0.593469551],
    ("regular", "dense"): [0.77428751, 0.673836689, 0.614259197],
    ("greedy", "negative_weights"): [0.584096829, 0.432991565, 0.438938706],
    ("eigenvectors", "negative_weights"): [0.584096829, 0.44567199, 0.440792682],
    ("nearest", "negative_weights"): [0.584096829, 0.432991565, 0.444176184],
    ("correlated", "negative_weights"): [0.579581119, 0.44567199, 0.440792682],
    ("sparse", "negative_weights"): [0.598679962, 0.441091146, 0.438024995],
    ("neighbors", "negative_weights"): [0.672040322, 0.537900719, 0.595270399],
    ("random", "negative_weights"): [0.822334272, 0.595486227, 0.584438574],
    ("regular", "negative_weights"): [0.80005685, 0.652241859, 0.646373727],
    ("greedy", "kernel"): [0.286154958, 0.0587337793, 0.0844811682],
    ("eigenvectors", "kernel"): [0.286154958, 0.0587337793, 0.0963733109],
    ("nearest", "kernel"): [0.286154958, 0.118577384, 0.0844623646],
    ("correlated", "kernel"): [0.293374154, 0.0587337793, 0.0963733109],
    ("sparse", "kernel"): [0.286155463, 0.0526270968, 0.081820267],
    ("neighbors", "kernel"): [0.365576741, 0.20953164, 0.13668953],
    ("random", "kernel"): [0.535355422, 0.228654812, 0.222971454],
    ("regular", "kernel"): [0.321181911, 0.185474043, 0.169162303],
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
