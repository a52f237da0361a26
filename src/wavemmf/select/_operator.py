"""Diffusion operators: a short one of a matrix, longer ones, and all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization._norms import frobenius_norm, power_of_two_scale
from ..kernels.square import prune_rows, row_energies, square_rows
from ..parallel.threads import run_all
from ._dense import inverse

__all__ = ["COARSER", "Walk", "first_walk", "spectral_range", "squared"]

Floats = npt.NDArray[np.float64]

# Sparse rows of one piece of work: it does not depend on the number of threads, so that sums do
# not either.
_ROWS = 4096
# A sparse diffusion is squared if it has at most so many entries per row.
_SHORT_ROWS = 32
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
# The same where the largest eigenvalue is to be known well: what takes long lies close to it.
_MANY_LANCZOS = 256
_FINE_PARTS = 2**15


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
    time : float
        The time t.
    pruned : float
        What was left out of the last square, relative to its norm.
    """

    step: Any
    total: Any
    time: float
    pruned: float = 0.0

    def grown(self, time: float, tolerance: float) -> Walk:
        """Return a sparse diffusion doubled again and again, while rows are short enough."""
        walk = self
        while walk.may_double(time):
            walk = walk.doubled(tolerance)
        return walk

    def may_double(self, time: float) -> bool:
        """Whether there are longer diffusions up to the given time, and rows are short enough."""
        return self.time < time and bool(self.step.nnz <= _SHORT_ROWS * self.step.shape[0])

    def doubled(self, tolerance: float) -> Walk:
        """Return the sparse diffusion of twice the time."""
        step, pruned = squared(self.step, tolerance)
        total = _pruned(0.5 * self.total + step, tolerance)
        return Walk(step, total, 2.0 * self.time, pruned)

    def restricted(self, rows: sp.csr_array, total: Any) -> Walk:
        """Return what is left on orthonormal rows, of the total as it is given."""
        left = rows @ self.step @ rows.T
        left = sp.csr_array(0.5 * (left + left.T))
        left.sort_indices()
        largest = spectral_range(left)[1]
        return Walk(left / largest if largest > 0.0 else left, total, self.time)

    def up_to(self, time: float) -> Floats:
        r"""Return what diffusions up to a time much longer than t add up to, dense.

        :math:`\epsilon (I - T + \epsilon)^{-1}` with :math:`\epsilon` = t / time: the sum of all
        powers of T, which fade after the given time.
        """
        step = self.step.toarray() if sp.issparse(self.step) else self.step
        largest = spectral_range(step, _MANY_LANCZOS, _FINE_PARTS)[1]
        least = self.time / time
        scaled = step / largest if largest > 0.0 else step
        return least * inverse((1.0 + least) * np.eye(len(step)) - scaled)


def first_walk(matrix: Any, balanced: bool) -> Walk:
    r"""Return a diffusion of time 1/2 that is large where the matrix is small.

    It has no negative eigenvalues, and is sparse if the matrix is.

    Balanced, it is :math:`S (D + A) S`, where A has the entries of the matrix beside the diagonal,
    without their sign, D is the diagonal less :math:`\lambda_{min}`, and the diagonal matrix S
    makes all rows add up to one: a lazy random walk that is symmetric and leaves constants as they
    are, the same for all Laplacians of a graph. Else it is
    :math:`I - B / 2` with :math:`B = 2 (A - \lambda_{min}) / (\lambda_{max} - \lambda_{min})`,
    whose eigenvalues lie in [0, 2] as those of a normalized Laplacian do. So it is also if
    entries beside the diagonal are positive, which is not so for Laplacians.

    Examples
    --------
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> first_walk(path, False).step.round(3)
    array([[0.667, 0.333, 0.   ],
           [0.333, 0.333, 0.333],
           [0.   , 0.333, 0.667]])
    >>> first_walk(path, True).step.sum(axis=0).round(9)
    array([1., 1., 1.])
    >>> first_walk(path, True).up_to(1e4).round(3)
    array([[0.333, 0.333, 0.333],
           [0.333, 0.333, 0.333],
           [0.333, 0.333, 0.333]])
    """
    step = _balanced_step(matrix) if balanced else None
    if step is None:
        step = _step_by_spectrum(matrix)
    return Walk(step, step, 0.5)


def _step_by_spectrum(matrix: Any) -> Any:
    low, high = spectral_range(matrix)
    factor = 1.0 / (high - low) if high > low else 0.0
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
    """Return the square of a sparse operator, and the share of its norm that was pruned.

    Entries below `tolerance` times the root of the product of their diagonal entries are left out:
    relative to their rows, so that no row loses its norm however small it has become.

    Examples
    --------
    >>> square, pruned = squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.1)
    >>> square.nnz, squared(sp.csr_array([[1.0, 0.1], [0.1, 1.0]]), 0.2)[0].nnz
    (4, 2)
    """
    pruned_square, left_out = _sparse_square(operator, tolerance)
    whole = math.hypot(frobenius_norm(pruned_square), left_out)
    return pruned_square, left_out / whole if whole else 0.0


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


def spectral_range(matrix: Any, steps: int = _LANCZOS, parts: int = _PARTS) -> tuple[float, float]:
    """Return about the smallest and the largest eigenvalue, rounded outwards.

    Examples
    --------
    >>> spectral_range(np.diag([0.0, 0.5, 2.0]))
    (0.0, 2.0)
    """
    values = _lanczos(matrix, steps)
    low, high = float(values[0]), float(values[-1])
    spread = high - low
    if spread <= _ROUNDING * max(abs(low), abs(high)):
        return low, low
    unit = power_of_two_scale(np.array([spread])) / (2 * parts)
    guard = _ROUNDING * spread
    return unit * math.floor((low + guard) / unit), unit * math.ceil((high - guard) / unit)


def _lanczos(matrix: Any, steps: int) -> Floats:
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
        if len(diagonal) == min(n, steps) or linked <= _ROUNDING * size:
            break
        beside.append(linked)
        before, current = current, product / linked
    tridiagonal = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    return np.linalg.eigvalsh(tridiagonal)
