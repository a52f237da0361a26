"""Other bases and frames for signals on graphs, as dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..graphs import adjacency, normalized_laplacian

__all__ = ["eigenvector_basis", "jacobi_basis", "pursuit", "spectral_frame", "treelet_basis"]

Floats = npt.NDArray[np.float64]

# Wavelet scales of the spectral frame, besides its scaling functions.
_SCALES = 5
# Steps of the lazy walk whose correlations treelets go by.
_WALK = 16


def eigenvector_basis(graph: Any, normalized: bool = True) -> Floats:
    """Return the eigenvectors of a Laplacian as rows.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> eigenvector_basis(path(4)).shape
    (4, 4)
    """
    vectors: Floats = np.linalg.eigh(_laplacian(graph, normalized))[1]
    return np.ascontiguousarray(vectors.T)


def treelet_basis(graph: Any) -> Floats:
    """Return treelets (Lee, Nadler, Wasserman 2008) of a short diffusion, as rows.

    The two most correlated variables are rotated until they are uncorrelated; the one of larger
    variance goes on, the other becomes a wavelet. The covariance is that of white noise after
    eight steps of the lazy random walk.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> basis = treelet_basis(path(5))
    >>> bool(np.allclose(basis @ basis.T, np.eye(5)))
    True
    """
    n = adjacency(graph).shape[0]
    lazy = np.eye(n) - 0.5 * _laplacian(graph, True)
    covariance = np.linalg.matrix_power(lazy, _WALK)
    basis = np.eye(n)
    best, partner = np.full(n, -1.0), np.zeros(n, np.int64)
    active = np.ones(n, np.bool_)

    def look(row: int) -> None:
        spread = np.sqrt(np.maximum(covariance[row, row] * covariance.diagonal(), 1e-300))
        alike = np.where(active, np.abs(covariance[row]) / spread, -1.0)
        alike[row] = -1.0
        partner[row] = int(np.argmax(alike))
        best[row] = alike[partner[row]]

    for each in range(n):
        look(each)
    for _ in range(n - 1):
        p = int(np.argmax(np.where(active, best, -2.0)))
        q = int(partner[p])
        turn = _diagonalising(covariance[p, p], covariance[p, q], covariance[q, q])
        _rotate(covariance, basis, p, q, turn)
        active[q] = False
        for touched in np.flatnonzero(active & ((partner == p) | (partner == q))):
            look(int(touched))
        look(p)
        spread = np.sqrt(np.maximum(covariance[p, p] * covariance.diagonal(), 1e-300))
        closer = active & (np.abs(covariance[p]) / spread > best)
        closer[p] = False
        best[closer] = (np.abs(covariance[p]) / spread)[closer]
        partner[closer] = p
    return basis


def jacobi_basis(graph: Any) -> Floats:
    """Return the rows that n log2(n) Jacobi rotations of the normalized Laplacian make.

    Every rotation makes the largest entry beside the diagonal zero (Le Magoarou, Gribonval,
    Tremblay 2018).

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> basis = jacobi_basis(path(5))
    >>> bool(np.allclose(basis @ basis.T, np.eye(5)))
    True
    """
    matrix = _laplacian(graph, True)
    n = len(matrix)
    basis = np.eye(n)
    beside = matrix - np.diag(matrix.diagonal())
    bounds = np.abs(beside).max(axis=1)  # from above; made exact when a row seems the largest
    left = round(n * np.log2(max(n, 2)))
    while left and bounds.max() > 0.0:
        p = int(np.argmax(bounds))
        row = np.abs(matrix[p])
        row[p] = 0.0
        q = int(np.argmax(row))
        if row[q] < bounds[p]:
            bounds[p] = row[q]
            continue
        _rotate(matrix, basis, p, q, _diagonalising(matrix[p, p], matrix[p, q], matrix[q, q]))
        matrix[p, q] = matrix[q, p] = 0.0
        bounds = np.maximum(bounds, np.maximum(np.abs(matrix[:, p]), np.abs(matrix[:, q])))
        for changed in (p, q):
            row = np.abs(matrix[changed])
            row[changed] = 0.0
            bounds[changed] = row.max()
        left -= 1
    return basis


def spectral_frame(graph: Any) -> Floats:
    """Return spectral graph wavelets (Hammond, Vandergheynst, Gribonval 2011), unit rows.

    Scaling functions and five scales of Mexican hats, of the normalized Laplacian.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> spectral_frame(path(4)).shape
    (24, 4)
    """
    values, vectors = np.linalg.eigh(_laplacian(graph, True))
    scales = np.geomspace(1.0, 40.0, _SCALES)
    filters = [np.exp(-((40.0 * values) ** 4) / 20.0**4)]
    filters += [s * values * np.exp(-s * values) for s in scales]
    atoms = np.concatenate([(vectors * g) @ vectors.T for g in filters])
    return np.asarray(atoms / np.maximum(np.linalg.norm(atoms, axis=1), 1e-300)[:, None])


def pursuit(atoms: Floats, signal: Floats, most: int) -> Floats:
    """Return the squared errors of orthogonal matching pursuit with 0, 1, ... `most` atoms.

    Examples
    --------
    >>> pursuit(np.eye(3), np.array([1.0, 2.0, 0.0]), 2).tolist()
    [5.0, 1.0, 0.0]
    """
    left = signal.copy()
    directions = np.empty((most, signal.size))
    errors = [float(left @ left)]
    for count in range(most):
        atom = atoms[int(np.argmax(np.abs(atoms @ left)))].copy()
        for _ in range(2):  # twice is enough
            atom -= directions[:count].T @ (directions[:count] @ atom)
        length = np.linalg.norm(atom)
        directions[count] = atom / length if length > 1e-9 else 0.0
        left -= directions[count] * (directions[count] @ left)
        errors.append(float(left @ left))
    return np.array(errors)


def _laplacian(graph: Any, normalized: bool) -> Floats:
    if normalized:
        return np.asarray(normalized_laplacian(graph).toarray())
    weights = adjacency(graph).toarray()
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def _diagonalising(a: float, b: float, d: float) -> tuple[float, float]:
    """Cosine and sine that turn ``[[a, b], [b, d]]`` into a diagonal, larger entry first."""
    angle = 0.5 * np.arctan2(2.0 * b, a - d)
    return float(np.cos(angle)), float(np.sin(angle))


def _rotate(matrix: Floats, basis: Floats, p: int, q: int, turn: tuple[float, float]) -> None:
    c, s = turn
    for array in (matrix, basis, matrix.T):
        first, second = array[p].copy(), array[q].copy()
        array[p] = c * first + s * second
        array[q] = c * second - s * first
