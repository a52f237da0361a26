"""Estimate a Frobenius norm from products with random vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..validation import check_integer
from .rotations import Floats

__all__ = ["hutchinson"]


def hutchinson(
    apply: Callable[[Floats], Any], n: int, samples: int, seed: int
) -> tuple[float, float]:
    """Estimate the Frobenius norm of a linear map of n coordinates, with its standard error.

    The mean of the squared norms of its products with vectors of random signs has the squared
    Frobenius norm as its expectation.

    Examples
    --------
    >>> hutchinson(lambda z: 2.0 * z, n=9, samples=4, seed=0)
    (6.0, 0.0)
    """
    samples = check_integer("samples", samples, 2)
    rng = np.random.default_rng(seed)
    squares = np.empty(samples)
    for first in range(0, samples, 8):  # a few at a time: n may be large
        count = min(8, samples - first)
        signs: Floats = 2.0 * rng.integers(0, 2, (n, count)).astype(np.float64) - 1.0
        squares[first : first + count] = np.sum(apply(signs) ** 2, axis=0)
    estimate = float(np.sqrt(squares.mean()))
    deviation = float(squares.std(ddof=1) / np.sqrt(samples))
    return estimate, deviation / (2.0 * estimate) if estimate else 0.0
