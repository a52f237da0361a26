"""Estimate a Frobenius norm from products with random vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import check_integer
from ._norms import frobenius_norm
from ._rotations import Floats

__all__ = ["estimated_error", "hutchinson"]

# For matrices with a larger norm the vectors are made smaller, so that products are numbers.
_LARGEST = 2.0**960
_SMALL = 2.0**-32


def estimated_error(
    factorization: Any, matrix: Any, samples: int, seed: int
) -> tuple[float, float]:
    """Estimate how far a factorization is from a matrix that was checked before.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(np.eye(4), core=2, k=2)
    >>> estimated_error(f, 3.0 * np.eye(4), samples=4, seed=0)
    (4.0, 0.0)
    """
    unit = _SMALL if factorization.matrix_norm > _LARGEST else 1.0

    def difference(z: Floats) -> Any:
        return matrix @ z - factorization @ z

    return hutchinson(difference, factorization.n, samples, seed, unit)


def hutchinson(
    apply: Callable[[Floats], Any], n: int, samples: int, seed: int, unit: float = 1.0
) -> tuple[float, float]:
    """Estimate the Frobenius norm of a linear map of n coordinates, with its standard error.

    The mean of the squared norms of its products with vectors of random signs has the squared
    Frobenius norm as its expectation. No square leaves the range of numbers, whatever the units of
    the map; the vectors have entries of size `unit`.

    Examples
    --------
    >>> hutchinson(lambda z: 2.0 * z, n=9, samples=4, seed=0)
    (6.0, 0.0)
    >>> hutchinson(lambda z: 2e200 * z, n=9, samples=4, seed=0)
    (6e+200, 0.0)
    """
    samples = check_integer("samples", samples, 2)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    norms = np.empty(samples)
    for first in range(0, samples, 8):  # a few at a time: n may be large
        count = min(8, samples - first)
        signs: Floats = 2.0 * rng.integers(0, 2, (n, count)).astype(np.float64) - 1.0
        products = np.asarray(apply(unit * signs))
        norms[first : first + count] = [frobenius_norm(column) for column in products.T]
    largest = float(norms.max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0.0
    squares = (norms / largest) ** 2
    estimate = float(np.sqrt(squares.mean()))
    spread = float(squares.std(ddof=1) / np.sqrt(samples)) / (2.0 * estimate)
    return estimate * largest / unit, spread * largest / unit
