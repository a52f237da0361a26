"""Number the rows of a matrix by what they are, so that results do not depend on their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization import Rotations
from ..factorization._norms import power_of_two_scale
from ..kernels.canonical import canonical_order, dense_to_csr, row_values, shuffled
from ..kernels.centre import centre_dense, centre_sparse

__all__ = ["centred_rows", "in_canonical_order", "prepared", "renumbered"]

# Larger dense matrices keep their order: it would take as much memory again.
_LARGEST_DENSE = 3000


def in_canonical_order(matrix: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return the matrix, prepared, with rows and columns in canonical order, and the order.

    Row i of what is returned is row ``order[i]`` of what was given, with the same multiple of the
    identity added whatever multiple of it was there (`wavemmf.kernels.centre`), and scaled to
    entries around one. The rows come in an order that looks random: neighbours in a sorted one
    would be alike, and ties be decided all alike.

    Examples
    --------
    >>> path = np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1)
    >>> mixed = path[[2, 0, 3, 1]][:, [2, 0, 3, 1]]
    >>> bool((in_canonical_order(path)[0] == in_canonical_order(mixed)[0]).all())
    True
    >>> bool(np.allclose(in_canonical_order(path)[0], in_canonical_order(mixed + np.eye(4))[0]))
    True
    """
    n = matrix.shape[0]
    if sp.issparse(matrix):
        centred, _ = centred_rows(matrix / power_of_two_scale(matrix))
        centred.data /= power_of_two_scale(centred)
        order = _order(centred.indptr, centred.indices, centred.data)
        ordered = sp.csr_array(centred[order][:, order])
        ordered.sort_indices()
        return ordered, order
    centred = prepared(matrix)
    if n > _LARGEST_DENSE:
        return centred, np.arange(n)
    order = _order(*dense_to_csr(centred))
    return np.ascontiguousarray(centred[np.ix_(order, order)]), order


def prepared(matrix: Any) -> npt.NDArray[np.float64]:
    """Return a copy of a dense matrix, centred and scaled to entries around one.

    Examples
    --------
    >>> bool((prepared(np.ones((2, 2))) == prepared(64.0 * np.ones((2, 2)) + 9 * np.eye(2))).all())
    True
    """
    # Scaled twice: squares must not overflow, and the diagonal may be far larger than the rest.
    centred: npt.NDArray[np.float64] = np.asarray(matrix / power_of_two_scale(matrix))
    centre_dense(centred)
    centred /= power_of_two_scale(centred)
    return centred


def _order(indptr: Any, indices: Any, data: Any) -> npt.NDArray[np.int64]:
    values = row_values(indptr, indices, data)
    order: npt.NDArray[np.int64] = shuffled(canonical_order(indptr, indices, data, values), 0)
    return order


def centred_rows(matrix: Any) -> tuple[Any, tuple[float, float]]:
    """Return a csr_array centred, each row with a diagonal entry; what was added, and the mean.

    Examples
    --------
    >>> centred, (added, mean) = centred_rows(sp.csr_array([[0.0, 1.0], [1.0, 2.0]]))
    >>> bool(np.isclose(centred.diagonal().mean(), mean)), bool(np.isclose(added, mean - 1.0))
    (True, True)
    """
    n = matrix.shape[0]
    centred = matrix + sp.eye_array(n, format="csr")  # every row gets its diagonal entry
    centred.setdiag(matrix.diagonal())
    return centred, centre_sparse(centred.indptr, centred.indices, centred.data)


def renumbered(rotations: Rotations, order: npt.NDArray[np.int64]) -> Rotations:
    """Return rotations of a matrix in canonical order as rotations of the matrix as it was given.

    Examples
    --------
    >>> r = Rotations.from_levels(3, [[0, 1]], [np.eye(2)], [[1]])
    >>> renumbered(r, np.array([2, 0, 1])).groups
    array([2, 0])
    """
    return replace(rotations, groups=order[rotations.groups], wavelets=order[rotations.wavelets])
