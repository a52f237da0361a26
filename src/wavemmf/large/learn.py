"""Optimise the rotations of one part together.

Rows with entries outside the part are not rotated, so all that the rotations of a part can change,
and all they lose, lies inside it: the squared error of the part is its share of the whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..factorization import Factorization
from ..optimize import Optimizer, optimize_rotations
from ..select._part import Method, Part, Reduced, reduce_part

__all__ = ["learn_part"]

# Entries this small beside both of their rows are discarded when the part is done. That happens
# once, not after every rotation, so it may be more than `Method.tolerance`.
_NEGLIGIBLE = 1e-3


def learn_part(part: Part, core: int, method: Method, optimizer: Optimizer) -> Reduced:
    """Reduce a part greedily, then optimise all of its rotations on its own squared error.

    Examples
    --------
    >>> from wavemmf.graphs import grid, normalized_laplacian
    >>> part = Part(normalized_laplacian(grid(6, 6)), np.arange(36) > 5)
    >>> method = Method(4, 1, False, True, 1e-5)
    >>> from wavemmf.optimize import LBFGS
    >>> learned = learn_part(part, 10, method, LBFGS(steps=20))
    >>> learned.squared_error < reduce_part(part, 10, method).squared_error
    True
    """
    greedy = reduce_part(part, core, replace(method, tolerance=0.0))
    if greedy.rotations.num_levels == 0:
        return greedy
    dense = part.matrix.toarray()
    rotations, _ = optimize_rotations(dense, greedy.rotations, optimizer)
    result = Factorization.from_rotations(dense, rotations)
    left, discarded = _without_negligible(result.core)
    return Reduced(rotations, result.frequencies, result.error() ** 2, discarded, left)


def _without_negligible(block: npt.NDArray[np.float64]) -> tuple[Any, float]:
    """Return the sparse matrix of the entries that matter, and the norm of the others."""
    norms = np.sqrt((block**2).sum(axis=1))
    small = np.abs(block) <= _NEGLIGIBLE * np.minimum.outer(norms, norms)
    np.fill_diagonal(small, False)
    left = sp.csr_array(np.where(small, 0.0, block))
    left.sort_indices()
    return left, float(np.sqrt((block[small] ** 2).sum()))
