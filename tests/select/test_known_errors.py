"""Errors that selectors are known to reach: a wrong score still gives a valid factorization."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.select import Greedy

CHOICES = {
    "greedy": {},
    "eigenvectors": {"select": Greedy(survivors="eigenvectors")},
    "nearest": {"select": Greedy(survivors="nearest")},
    "correlated": {"select": Greedy("correlated", "eigenvectors")},
    "sparse": {"engine": "sparse"},
    "neighbors": {"select": "neighbors"},
    "random": {"select": "random"},
    "regular": {"select": "regular"},
}
# Matrices without ties, which rounding would decide; for each (k, drop) the relative error.
SIZES = [(2, 1), (3, 1), (5, 3)]
KNOWN: dict[tuple[str, str], list[float]] = {
    ("greedy", "dense"): [0.632054666, 0.391533128, 0.475201129],
    ("eigenvectors", "dense"): [0.632054666, 0.391533128, 0.475201129],
    ("nearest", "dense"): [0.632054666, 0.457875471, 0.500732344],
    ("correlated", "dense"): [0.63932906, 0.391533128, 0.475201129],
    ("sparse", "dense"): [0.645376086, 0.479649892, 0.474515507],
    ("neighbors", "dense"): [0.707507392, 0.551296317, 0.566181438],
    ("random", "dense"): [0.814592858, 0.694299439, 0.587786171],
    ("regular", "dense"): [0.774287511, 0.678403112, 0.613822072],
    ("greedy", "negative_weights"): [0.587185301, 0.366649656, 0.432023177],
    ("eigenvectors", "negative_weights"): [0.587185301, 0.366649656, 0.432023177],
    ("nearest", "negative_weights"): [0.587185301, 0.441194734, 0.439695599],
    ("correlated", "negative_weights"): [0.579570237, 0.366649656, 0.432023177],
    ("sparse", "negative_weights"): [0.598689104, 0.418292294, 0.446238108],
    ("neighbors", "negative_weights"): [0.672040323, 0.537480513, 0.595270399],
    ("random", "negative_weights"): [0.822334272, 0.596939967, 0.584106454],
    ("regular", "negative_weights"): [0.80005685, 0.651908895, 0.645436823],
    ("greedy", "kernel"): [0.286154957, 0.0750526166, 0.0821154235],
    ("eigenvectors", "kernel"): [0.286154957, 0.0750526166, 0.0821154235],
    ("nearest", "kernel"): [0.286154957, 0.119649705, 0.0844811682],
    ("correlated", "kernel"): [0.286483008, 0.0750526166, 0.0821154235],
    ("sparse", "kernel"): [0.286155462, 0.0938982926, 0.084508589],
    ("neighbors", "kernel"): [0.365576741, 0.212915888, 0.136912855],
    ("random", "kernel"): [0.53535542, 0.228163607, 0.223727206],
    ("regular", "kernel"): [0.321181911, 0.187038747, 0.169821097],
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
