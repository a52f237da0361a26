"""Diffusion operators: a short one of a matrix, and the square of one, dense or sparse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization._norms import frobenius_norm, power_of_two_scale
from ..kernels.multiply import PANEL, multiply
from ..kernels.square import prune_rows, row_energies, square_rows
from ..parallel.threads import run_all

__all__ = ["COARSER", "Walk", "short_walk", "spectral_range", "square", "squared"]

Floats = npt.NDArray[np.float64]

# Tiles of columns, and sparse rows, of one piece of work. Neither depends on the number of
# threads, so that sums do not either.
_TILES = 4
_ROWS = 4096
# A sparse diffusion is squared if it has at most so many entries per row, or so many in all.
_SHORT_ROWS = 32
_FEW_ENTRIES = 2**17
# The total only ranks pairs that are near: entries so many times larger are left out of it.
COARSER = 10.0
# Steps in which rows are made to add up to one, and how nearly they must.
_BALANCING = 1000
_BALANCED = 1e-9
# Steps of the Lanczos method: the ends of a spectrum are known to a percent long before.
_LANCZOS = 32
# Parts of the spread to which its ends are rounded outwards, so that rounding errors, which differ
# between processors, are not seen; and what counts as rounding there.
_PARTS = 64
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Walk:
    r"""A diffusion :math:`T \approx e^{-tB}`, and the sum of all shorter ones.

    Attributes
    ----------
    step : ndarray or csr_array
        T, scaled to a largest eigenvalue of about one.
    total : ndarray or csr_array
        The sum of :math:`2^{-i} T^{2^{-i}}` over all halvings of the time. As
        :math:`\sum_i 2^i e^{-2^i x}` is about 1/x, it is near the inverse of B but for what takes
        longer than t: large on smooth signals of every scale, and no less sparse than T.
    pruned : float
        What was left out of the last square, relative to its norm.
    """

    step: Any
    total: Any
    pruned: float = 0.0

    @property
    def is_short(self) -> bool:
        """Whether rows are short enough for a longer diffusion."""
        most = max(_SHORT_ROWS * self.step.shape[0], _FEW_ENTRIES)
        return not sp.issparse(self.step) or bool(self.step.nnz <= most)

    def doubled(self, tolerance: float) -> Walk:
        """Return the diffusion of twice the time."""
        step, pruned = squared(self.step, tolerance)
        total = 0.5 * self.total + step
        return Walk(step, _pruned(total, tolerance) if sp.issparse(total) else total, pruned)

    def restricted(self, rows: sp.csr_array, total: Any) -> Walk:
        """Return what is left on orthonormal rows, of the total as it is given."""
        half = rows @ self.step
        left = half @ rows.T if sp.issparse(half) else (rows @ half.T).T
        left = 0.5 * (left + left.T)
        if sp.issparse(left):
            left = sp.csr_array(left)
            left.sort_indices()
        largest = spectral_range(left)[1]
        return Walk(left / largest if largest > 0.0 else left, total)


def short_walk(matrix: Any, time: float, tolerance: float, balanced: bool) -> Walk:
    r"""Return a diffusion that is large where the matrix is small.

    The first step takes a time of at most 1/2 and has no negative eigenvalue. It is squared as
    often as the time t asks for, or until rows become long.

    Balanced, it is :math:`S (D + A) S`, where A has the entries of the matrix beside the diagonal,
        without their sign, D is the diagonal less :math:`\lambda_{min}`, and the diagonal matrix S
    makes all rows add up to one: a lazy random walk that is symmetric and leaves constants as they
    are, the same for all Laplacians of a graph. Else it is
    :math:`I - t B / 2^s` with :math:`B = 2 (A - \lambda_{min}) / (\lambda_{max} - \lambda_{min})`,
    whose eigenvalues lie in [0, 2] as those of a normalized Laplacian do. So it is also if
    entries beside the diagonal are positive, which is not so for Laplacians.

    Examples
    --------
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> short_walk(path, 1.0, 0.0, False).step.round(3)
    array([[0.556, 0.333, 0.111],
           [0.333, 0.333, 0.333],
           [0.111, 0.333, 0.556]])
    >>> short_walk(path, 1.0, 0.0, True).step.sum(axis=0).round(9)
    array([1., 1., 1.])
    """
    doublings = max(0, math.ceil(math.log2(2.0 * time)))
    step = _balanced_step(matrix) if balanced else None
    if step is None:
        step = _step_by_spectrum(matrix, 2.0 * time / 2.0**doublings)
    walk = Walk(step, step)
    for _ in range(doublings):
        if not walk.is_short:
            break
        walk = walk.doubled(tolerance)
    return walk


def _step_by_spectrum(matrix: Any, time: float) -> Any:
    low, high = spectral_range(matrix)
    factor = time / (high - low) if high > low else 0.0
    n = matrix.shape[0]
    if not sp.issparse(matrix):
        return np.eye(n) * (1.0 + factor * low) - np.asarray(matrix) * factor
    identity = sp.eye_array(n, format="csr")
    step = sp.csr_array(identity * (1.0 + factor * low) - matrix * factor)
    step.sort_indices()
    return step


def _balanced_step(matrix: Any) -> Any:
    """Return the symmetric lazy walk, or None if an entry beside the diagonal is positive."""
    weights = -sp.csr_array(matrix)
    weights.setdiag(0.0)
    weights.eliminate_zeros()
    if weights.nnz and weights.data.min() < 0.0:
        return None
    own = matrix.diagonal() - spectral_range(matrix)[0]
    lazy = sp.csr_array(weights + sp.diags_array(np.where(own > 0.0, own, 1.0), format="csr"))
    scale = 1.0 / np.sqrt(2.0 * lazy.diagonal())
    for _ in range(_BALANCING):
        added_up = scale * (lazy @ scale)
        scale /= np.sqrt(added_up)
        if np.abs(added_up - 1.0).max() < _BALANCED:
            break
    sides = sp.diags_array(scale, format="csr")
    step = sides @ lazy @ sides
    step = sp.csr_array(0.5 * (step + step.T))  # to the last bit
    step.sort_indices()
    return step if sp.issparse(matrix) else step.toarray()


def squared(operator: Any, tolerance: float) -> tuple[Any, float]:
    """Return the square, and the share of its norm that was pruned.

    A dense operator is squared as it is. Of a sparse one, entries below `tolerance` times the
    root of the product of their diagonal entries are left out: relative to their rows, so that no
    row loses its norm however small it has become.

    Examples
    --------
    >>> square, pruned = squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.1)
    >>> square.nnz, squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.2)[0].nnz
    (4, 2)
    """
    if not sp.issparse(operator):
        return square(np.ascontiguousarray(operator)), 0.0
    pruned_square, left_out = _sparse_square(operator, tolerance)
    whole = math.hypot(frobenius_norm(pruned_square), left_out)
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


def _pruned(matrix: Any, tolerance: float) -> sp.csr_array:
    """Return a sparse matrix without entries that are small beside both diagonal entries."""
    matrix = sp.csr_array(matrix)
    roots = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    used, _ = prune_rows(matrix.indptr, matrix.indices, matrix.data, roots, COARSER * tolerance)
    parts = (matrix.data[:used].copy(), matrix.indices[:used].copy(), matrix.indptr)
    return sp.csr_array(parts, shape=matrix.shape)


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
