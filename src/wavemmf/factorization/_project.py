"""The best H of a given pattern for given rotations, exactly, without forming ``W A W.T``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._progress import Progress, silent
from ..kernels.project import STRIP, core_entries, wavelet_energies
from ..parallel.threads import run_all
from ._basis import basis_matrix
from ._core_diagonal import CoreDiagonal
from ._norms import power_of_two_scale
from ._rotations import Floats, Rotations
from ._symmetry import make_symmetric
from ._transform import transform

__all__ = ["project", "project_through_basis", "projection_work"]

# Columns of one task, and tasks handed out at a time: progress is reported, and Ctrl-C heard, in
# between.
_COLUMNS = 8 * STRIP
_TASKS = 8
# Rows of the basis that are multiplied with the matrix at a time.
_ROWS = 16384
# Squared errors below this share of the squared norm are not computed as a difference.
_CANCELLED = 1e-6


def projection_work(matrix: Any, rotations: Rotations) -> float:
    """Return about how many multiplications `project` takes.

    Examples
    --------
    >>> import wavemmf as wm
    >>> matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(6, 6))
    >>> f = wm.factorize(matrix, core=4)
    >>> projection_work(matrix, f.rotations) > 0
    True
    """
    core = rotations.core.size
    wavelets = rotations.n - core
    # A wavelet needs the levels before it, half of them on average; the core needs all, twice.
    transforms = rotations.multiplications * (0.5 * wavelets + 2.0 * core)
    return float(transforms + matrix.nnz * rotations.n)


def project(
    matrix: Any, rotations: Rotations, pattern: Any = None, progress: Progress = silent
) -> tuple[CoreDiagonal, float]:
    """Compute H on the diagonal and on a pattern in the core, and the error it leaves.

    Parameters
    ----------
    matrix : csr_array
        The symmetric matrix.
    rotations : Rotations
        The rotations W is made of.
    pattern : csr_array, optional
        Symmetric, of the size of the core: where H may have entries there. Everywhere by default.
    progress : Progress
        Called as it goes on.

    Returns
    -------
    h : CoreDiagonal
        Its core is sparse if there is a pattern.
    error : float
        Frobenius norm of ``matrix - W.T H W``, exact up to rounding.

    Examples
    --------
    >>> import wavemmf as wm
    >>> matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(6, 6))
    >>> f = wm.factorize(matrix, core=4)
    >>> h, error = project(matrix, f.rotations)
    >>> bool(np.isclose(error, f.error())), bool(np.allclose(h.core, f.core))
    (True, True)
    """
    r = rotations
    scale = power_of_two_scale(matrix)
    scaled = matrix / scale
    csr = (scaled.indptr, scaled.indices, scaled.data)
    packed = (r.offsets, r.groups, r.block_offsets, r.blocks)
    largest = int(r.sizes.max(initial=1))
    diagonal = np.zeros(r.n)
    levels = 1 + np.repeat(np.arange(r.num_levels), np.diff(r.drop_offsets))
    core = r.core
    where, values = _places(pattern, core.size)

    def energies(first: int) -> None:
        last = min(first + _COLUMNS, r.wavelets.size)
        work, buffer = np.zeros((r.n + 1) * STRIP), np.empty(largest * STRIP)
        wavelet_energies(
            *csr, r.wavelets, levels, first, last, packed, work, buffer, diagonal
        )  # fmt: skip

    def entries(first: int) -> None:
        last = min(first + _COLUMNS, core.size)
        work, product, buffer = (np.zeros(m * STRIP) for m in (r.n + 1, r.n, largest))
        core_entries(
            *csr, core, first, last, packed, work, product, buffer,
            *where, values,
        )  # fmt: skip

    _in_batches(energies, r.wavelets.size, 0, r.n, progress)
    _in_batches(entries, core.size, r.wavelets.size, r.n, progress)
    block: Any
    if pattern is None:
        block = make_symmetric(values.reshape(core.size, core.size))
    else:
        block = sp.csr_array((values, where[1], where[0]), shape=pattern.shape)
        block = 0.5 * (block + block.T)
    return _with_error(scaled, scale, rotations, diagonal, block)


def project_through_basis(
    matrix: Any, rotations: Rotations, progress: Progress = silent
) -> tuple[CoreDiagonal, float]:
    """Do what `project` does by sparse products with the basis written out.

    If wavelets live on few rows, as they do after rotations of two rows, that takes a time
    proportional to n, and the core is sparse.

    Examples
    --------
    >>> import wavemmf as wm
    >>> matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(6, 6))
    >>> f = wm.factorize(matrix, core=4, k=2)
    >>> h, error = project_through_basis(matrix, f.rotations)
    >>> bool(np.isclose(error, f.error())), bool(np.allclose(h.core.toarray(), f.core))
    (True, True)
    """
    scale = power_of_two_scale(matrix)
    scaled = matrix / scale
    basis, _ = basis_matrix(rotations)
    diagonal = np.zeros(rotations.n)
    for first in range(0, rotations.n, _ROWS):
        rows = basis[first : first + _ROWS]
        diagonal[first : first + _ROWS] = rows.multiply(rows @ scaled).sum(axis=1)
        progress(min(first + _ROWS, rotations.n), rotations.n, "computing the exact error")
    fathers = basis[rotations.core]
    block = sp.csr_array((fathers @ scaled) @ fathers.T)
    return _with_error(scaled, scale, rotations, diagonal, sp.csr_array(0.5 * (block + block.T)))


def _with_error(
    scaled: Any, scale: float, rotations: Rotations, diagonal: Floats, block: Any
) -> tuple[CoreDiagonal, float]:
    """Return H from its diagonal and its core, and the error it leaves, in units of `scale`."""
    diagonal[rotations.core] = block.diagonal()
    kept = _squared_norm(diagonal[rotations.wavelets]) + _squared_norm(block)
    whole = _squared_norm(scaled)
    diagonal *= scale
    block *= scale  # in its place: it may be as large as the matrix
    h = CoreDiagonal(diagonal, block, rotations.core)
    if whole - kept > _CANCELLED * whole:
        return h, float(np.sqrt(whole - kept)) * scale
    return h, _direct_error(scaled, rotations, h.scaled(1.0 / scale)) * scale


def _squared_norm(matrix: Any) -> float:
    """Add up squares of entries around one, in the same order on all processors."""
    values = matrix.data if sp.issparse(matrix) else matrix
    return float((values**2).sum())


def _direct_error(matrix: Any, rotations: Rotations, h: CoreDiagonal) -> float:
    """Norm of ``A W.T - W.T H``, column by column: slower, but small errors survive rounding."""
    n, core = rotations.n, rotations.core

    def rows_of_basis(coordinates: Any) -> Any:
        unit = np.zeros((n, coordinates.size))
        unit[coordinates, np.arange(coordinates.size)] = 1.0
        return transform(rotations, unit, None, forward=False)

    squared = 0.0
    for first in range(0, rotations.wavelets.size, _COLUMNS):
        chosen = rotations.wavelets[first : first + _COLUMNS]
        wavelets = rows_of_basis(chosen)  # a column of H has one entry here
        squared += float(((matrix @ wavelets - wavelets * h.diagonal[chosen]) ** 2).sum())
    entries = sp.csc_array(h.core)
    for first in range(0, core.size, _COLUMNS):
        last = min(first + _COLUMNS, core.size)
        inside = np.zeros((n, last - first))
        inside[core] = entries[:, first:last].toarray()
        approximated = transform(rotations, inside, None, forward=False)
        squared += float(((matrix @ rows_of_basis(core[first:last]) - approximated) ** 2).sum())
    return float(np.sqrt(squared))


def _places(pattern: Any, size: int) -> tuple[tuple[Any, Any], Floats]:
    """Row pointers and columns of the wanted entries, and room for their values."""
    if pattern is None:
        return (np.empty(0, np.int32), np.empty(0, np.int32)), np.zeros(size * size)
    return (pattern.indptr, pattern.indices), np.zeros(pattern.nnz)


def _in_batches(work: Any, count: int, done: int, total: int, progress: Progress) -> None:
    for first in range(0, count, _TASKS * _COLUMNS):
        last = min(first + _TASKS * _COLUMNS, count)
        run_all(work, [(start,) for start in range(first, last, _COLUMNS)])
        progress(done + last, total, "computing the exact error")
