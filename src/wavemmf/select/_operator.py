"""Diffusion operators: a short one of a matrix, and the square of one, dense or sparse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization._norms import frobenius_norm, power_of_two_scale
from ..kernels.multiply import PANEL, multiply
from ..kernels.square import row_energies, square_rows
from ..parallel.threads import run_all

__all__ = ["short_diffusion", "spectral_range", "square", "squared"]

Floats = npt.NDArray[np.float64]

# Tiles of columns, and sparse rows, of one piece of work. Neither depends on the number of
# threads, so that sums do not either.
_TILES = 4
_ROWS = 4096
# Steps of the Lanczos method: the ends of a spectrum are known to a percent long before.
_LANCZOS = 32
# Parts of the spread to which its ends are rounded outwards, so that rounding errors, which differ
# between processors, are not seen; and what counts as rounding there.
_PARTS = 64
_ROUNDING = 1e-6


def short_diffusion(matrix: Any, time: float, tolerance: float) -> tuple[Any, float]:
    r"""Return a diffusion that is large where the matrix is small, and what pruning left out.

    With :math:`B = 2 (A - \lambda_{min}) / (\lambda_{max} - \lambda_{min})`, whose eigenvalues lie
    in [0, 2] as those of a normalized Laplacian do, it is
    :math:`(I - t B / 2^s)^{2^s} \approx e^{-tB}` with the smallest s for which it has no negative
    eigenvalue. For t = 2 and a bipartite graph these are four steps of the lazy random walk.

    Examples
    --------
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> short_diffusion(path, 1.0, 0.0)[0].round(3)
    array([[0.556, 0.333, 0.111],
           [0.333, 0.333, 0.333],
           [0.111, 0.333, 0.556]])
    """
    low, high = spectral_range(matrix)
    squarings = max(0, math.ceil(math.log2(2.0 * time)))
    step = 2.0 * time / 2.0**squarings / (high - low) if high > low else 0.0
    n = matrix.shape[0]
    operator: Any
    if sp.issparse(matrix):
        identity = sp.eye_array(n, format="csr")
        operator = sp.csr_array(identity * (1.0 + step * low) - matrix * step)
        operator.sort_indices()
    else:
        operator = np.eye(n) * (1.0 + step * low) - np.asarray(matrix) * step
    pruned = 0.0
    for _ in range(squarings):
        operator, lost = squared(operator, tolerance)
        pruned += lost
    return operator, pruned


def squared(operator: Any, tolerance: float) -> tuple[Any, float]:
    """Return the square, scaled to entries around one, and the share of its norm that was pruned.

    A dense operator is squared as it is. Of a sparse one, entries below `tolerance` times the
    root of the product of their diagonal entries are left out: relative to their rows, so that no
    row loses its norm however small it has become.

    Examples
    --------
    >>> square, pruned = squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.1)
    >>> square.nnz, squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.2)[0].nnz
    (4, 2)
    """
    scaled = operator / power_of_two_scale(operator)
    if not sp.issparse(operator):
        result = square(np.ascontiguousarray(scaled))
        return result / power_of_two_scale(result), 0.0
    pruned_square, left_out = _sparse_square(scaled, tolerance)
    whole = math.hypot(frobenius_norm(pruned_square), left_out)
    pruned_square.data /= power_of_two_scale(pruned_square)
    return pruned_square, left_out / whole if whole else 0.0


def square(matrix: Floats) -> Floats:
    """Return the square of a dense matrix, columns side by side on all threads.

    Examples
    --------
    >>> square(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[4., 0.],
           [0., 4.]])
    """
    n = matrix.shape[0]
    result = np.empty((n, n))
    bounds = range(0, n, _TILES * PANEL)
    calls = [(matrix, matrix, n, n, result, i, min(n, i + _TILES * PANEL)) for i in bounds]
    run_all(multiply, calls)
    return result


def _sparse_square(matrix: Any, tolerance: float) -> tuple[Any, float]:
    n = matrix.shape[0]
    csr = (matrix.indptr, matrix.indices, matrix.data)
    energies = row_energies(matrix.indptr, matrix.data)
    bounds = range(0, n, _ROWS)
    calls = [(*csr, energies, tolerance, i, min(n, i + _ROWS)) for i in bounds]
    pieces = run_all(square_rows, calls)
    lengths, columns, values, pruned = zip(*pieces, strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    whole = (np.concatenate(values), np.concatenate(columns), indptr)
    result = sp.csr_array(whole, shape=(n, n))
    result.sort_indices()
    return result, math.sqrt(sum(pruned))


def spectral_range(matrix: Any) -> tuple[float, float]:
    """Return about the smallest and the largest eigenvalue, rounded outwards.

    Examples
    --------
    >>> spectral_range(np.diag([0.0, 0.5, 2.0]))
    (0.0, 2.0)
    """
    values = _lanczos(matrix)
    low, high = float(values[0]), float(values[-1])
    spread = high - low
    if spread <= _ROUNDING * max(abs(low), abs(high)):
        return low, low
    unit = power_of_two_scale(np.array([spread])) / (2 * _PARTS)
    guard = _ROUNDING * spread
    return unit * math.floor((low + guard) / unit), unit * math.ceil((high - guard) / unit)


def _lanczos(matrix: Any) -> Floats:
    """Return Ritz values, ascending, from a random start that is the same every time."""
    n = matrix.shape[0]
    current = np.random.default_rng(0).normal(size=n)
    current /= np.linalg.norm(current)
    before, linked = np.zeros(n), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        product = np.asarray(matrix @ current) - linked * before
        diagonal.append(float(product @ current))
        product -= diagonal[-1] * current
        linked = float(np.linalg.norm(product))
        size = max(abs(value) for value in (*diagonal, *beside))
        if len(diagonal) == min(n, _LANCZOS) or linked <= _ROUNDING * size:
            break
        beside.append(linked)
        before, current = current, product / linked
    tridiagonal = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    return np.linalg.eigvalsh(tridiagonal)
