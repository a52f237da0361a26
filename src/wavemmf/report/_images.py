"""Matrices as small images."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["reduced_image"]


def reduced_image(matrix: Any, order: NDArray[np.int64], most: int = 240) -> NDArray[np.float64]:
    """Return the matrix with rows and columns in an order, in at most `most` rows and columns.

    A cell of the image that stands for several entries holds the one of largest magnitude, so
    that a thin diagonal does not fade away.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n, n)
        What to show; never made dense.
    order : array of shape (n,)
        The coordinates, first row first.
    most : int
        Largest size of the image.

    Returns
    -------
    array of shape (m, m), m = min(n, most)

    Examples
    --------
    >>> reduced_image(np.diag([1.0, -5.0, 3.0, 2.0]), np.arange(4), most=2)
    array([[-5.,  0.],
           [ 0.,  3.]])
    """
    n = matrix.shape[0]
    size = min(n, most)
    cell_of = np.empty(n, np.int64)
    cell_of[order] = np.arange(n) * size // n
    entries = sp.coo_array(matrix)
    by_size = np.argsort(np.abs(entries.data), kind="stable")
    rows, columns = (cell_of[index[by_size]] for index in entries.coords)
    image = np.zeros((size, size))
    image[rows, columns] = entries.data[by_size]  # of several values the last one stays
    return image
