"""Cut the graph of a sparse matrix into parts of about equal size with few edges between them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["partition", "partitioner"]


def partition(matrix: Any, parts: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """Assign every row of a symmetric sparse matrix to one of `parts` parts.

    METIS does it if it is installed (extra ``partition``). Otherwise the rows are cut into
    equal runs of the reverse Cuthill-McKee order, which keeps neighbours together too; parts then
    have longer borders.

    Parameters
    ----------
    matrix : csr_array
        Its pattern is the graph; the diagonal does not matter.
    parts : int
        How many parts.
    seed : int
        Seed of the partitioner.

    Returns
    -------
    ndarray of int, the part of every row

    Examples
    --------
    >>> from wavemmf.graphs import grid
    >>> sizes = np.bincount(partition(grid(8, 8).adjacency, 4))
    >>> len(sizes), bool(sizes.max() <= 20)
    (4, True)
    """
    n = matrix.shape[0]
    if parts <= 1 or n == 0:
        return np.zeros(n, np.int64)
    if importlib.util.find_spec("pymetis") is not None:
        return _metis(matrix, parts, seed)
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    assigned = np.empty(n, np.int64)
    assigned[order] = np.arange(n) * parts // n
    return assigned


def partitioner() -> str:
    """Return what `partition` works with, and its version: other parts give other results.

    Examples
    --------
    >>> partitioner().startswith(("METIS", "reverse Cuthill-McKee"))
    True
    """
    if importlib.util.find_spec("pymetis") is None:
        return "reverse Cuthill-McKee"
    return f"METIS of pymetis {importlib.metadata.version('pymetis')}"


def _metis(matrix: Any, parts: int, seed: int) -> npt.NDArray[np.int64]:
    import pymetis

    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    edges = rows != matrix.indices  # METIS wants no self-loops
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[edges], minlength=matrix.shape[0]))])
    adjacency = pymetis.CSRAdjacency(starts, matrix.indices[edges].astype(starts.dtype))
    _, assigned = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed))
    return np.asarray(assigned, np.int64)
