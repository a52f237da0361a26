"""Bases of many graphs as one: blocks on a diagonal, collated by PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ..._progress import Progress, silent
from ...errors import InvalidInputError
from ...factorization import Factorization
from ...graphs import Graph
from ...many import factorize_many
from ..basis import core_eigenvectors
from ..sparse import csr_tensor, sparse_product
from .numbering import random_orders, relabelled

__all__ = ["BASIS_KEYS", "BlockBasis", "basis_arrays", "compute_bases", "hop_matrix"]

#: Attributes of a graph that hold its basis. PyTorch Geometric concatenates all of them, and
#: shifts those named "index" by the nodes of the graphs before: that makes a block diagonal.
BASIS_KEYS = (
    "wavelet_index",
    "wavelet_length",
    "wavelet_value",
    "wavelet_back_index",
    "wavelet_back_length",
    "wavelet_back_value",
    "wavelet_frequency",
    "wavelet_level",
)

Arrays = dict[str, npt.NDArray[Any]]


def basis_arrays(
    f: Factorization, threshold: float = 1e-4, order: npt.NDArray[np.int64] | None = None
) -> Arrays:
    """Return the basis of one graph as arrays, under the names `BASIS_KEYS`.

    The core is diagonalised, so every row has a frequency. Rows are kept as in compressed sparse
    rows, but with the length of every row in place of where it begins: lengths of several graphs
    can simply be put one after the other. The transpose is kept beside it, because products with
    it are as frequent.

    Parameters
    ----------
    f : Factorization
        Of a matrix of the graph.
    threshold : float
        Entries of this magnitude or less are left out.
    order : int array, optional
        The nodes of the graph in the order in which they were factorized, if it was another: the
        basis is one of the graph as it is.

    Examples
    --------
    >>> import wavemmf as wm
    >>> arrays = basis_arrays(wm.factorize(wm.graphs.cycle(6), core=2, k=2))
    >>> bool(arrays["wavelet_length"].sum() == arrays["wavelet_value"].size)
    True
    """
    values, vectors = core_eigenvectors(f)
    frequencies = f.frequencies.copy()
    frequencies[f.core_indices] = values
    there = _with_turned_core(f, vectors, threshold)
    if order is not None:
        there = sp.csr_array(there[:, np.argsort(order)])
    back = sp.csr_array(there.T)
    return {
        "wavelet_index": there.indices.astype(np.int32),
        "wavelet_length": np.diff(there.indptr).astype(np.int64),
        "wavelet_value": there.data.astype(np.float32),
        "wavelet_back_index": back.indices.astype(np.int32),
        "wavelet_back_length": np.diff(back.indptr).astype(np.int64),
        "wavelet_back_value": back.data.astype(np.float32),
        "wavelet_frequency": frequencies.astype(np.float32),
        "wavelet_level": _relative_levels(f).astype(np.float32),
    }


def compute_bases(
    graphs: Sequence[Graph],
    cache: Any = None,
    progress: Progress = silent,
    threshold: float = 1e-4,
    numbering: int = 0,
    **settings: Any,
) -> list[Arrays]:
    """Return the bases of many graphs, as `basis_arrays` does.

    Parameters
    ----------
    graphs : sequence of Graph
        Factorized through their normalized Laplacians.
    cache, progress, **settings
        As for `wavemmf.factorize_many`.
    threshold : float
        Entries of this magnitude or less are left out.
    numbering : int
        0 to factorize graphs with their nodes as they are; other numbers are seeds of a random
        order. Ties between equivalent nodes are then broken otherwise.

    Examples
    --------
    >>> import wavemmf as wm
    >>> len(compute_bases([wm.graphs.cycle(6), wm.graphs.path(3)], k=2))
    2
    """
    if numbering == 0:
        made = factorize_many(graphs, cache=cache, progress=progress, **settings)
        return [basis_arrays(f, threshold) for f in made]
    orders = random_orders(graphs, numbering)
    turned = [relabelled(graph, order) for graph, order in zip(graphs, orders, strict=True)]
    made = factorize_many(turned, cache=cache, progress=progress, **settings)
    return [basis_arrays(f, threshold, order) for f, order in zip(made, orders, strict=True)]


def _with_turned_core(
    f: Factorization, vectors: npt.NDArray[np.float64], threshold: float
) -> sp.csr_array:
    """Return the basis with the rows of the core replaced by those that diagonalise it."""
    basis = sp.csr_array(f.basis(threshold=threshold))
    core = f.core_indices
    turned = vectors.T @ f.basis()[core].toarray()
    turned[np.abs(turned) <= threshold] = 0.0
    rest = np.setdiff1d(np.arange(f.n), core)
    order = np.argsort(np.concatenate([rest, core]), kind="stable")
    return sp.csr_array(sp.vstack([basis[rest], sp.csr_array(turned)], format="csr")[order])


def _relative_levels(f: Factorization) -> npt.NDArray[np.float64]:
    """Return levels in (0, 1], those of the core 1: graphs of different depths compare."""
    level = f.rotations.level_of.astype(np.float64)
    return np.where(level > 0, level / max(level.max(initial=0.0), 1.0), 1.0)


class BlockBasis:
    """The wavelet basis of all graphs of a batch.

    It has what filters and layers ask of a `wavemmf.nn.WaveletBasis`. Levels are relative to the
    depth of each graph, so a wavelet has the same gain whatever else is in the batch.

    Parameters
    ----------
    batch : Batch or Data
        With the attributes `BASIS_KEYS`; see `wavemmf.nn.AddGraphWavelets`.

    Shapes
    ------
    - signals and coefficients: ``(nodes of all graphs, channels)``

    Raises
    ------
    InvalidInputError
        If the attributes are missing.
    """

    def __init__(self, batch: Any) -> None:
        missing = [key for key in BASIS_KEYS if key not in batch]
        if missing:
            raise InvalidInputError(
                f"the graphs have no wavelet basis ({', '.join(missing)} missing): "
                "add it with the transform wavemmf.nn.AddGraphWavelets"
            )
        self.frequencies = batch.wavelet_frequency
        self.levels = batch.wavelet_level
        self.n = n = self.frequencies.numel()
        self._there, self._back = (
            csr_tensor(
                _pointers(batch[f"{prefix}_length"]),
                batch[f"{prefix}_index"].int(),  # what MKL is fast with
                batch[f"{prefix}_value"],
                (n, n),
            )
            for prefix in ("wavelet", "wavelet_back")
        )

    def analysis(self, x: torch.Tensor) -> torch.Tensor:
        """Return the coefficients of signals."""
        return sparse_product(x, self._there, self._back)

    def synthesis(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals of coefficients."""
        return sparse_product(c, self._back, self._there)

    def filter(self, x: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        """Return the signals with coefficients multiplied by gains of shape (n, channels)."""
        return self.synthesis(gains * self.analysis(x))


def hop_matrix(edge_index: torch.Tensor, n: int) -> torch.Tensor:
    """Return the adjacency matrix of undirected edges as a sparse tensor.

    Parameters
    ----------
    edge_index : tensor of shape (2, edges)
        Both directions of every edge, in any order.
    n : int
        Number of nodes.

    Examples
    --------
    >>> hop_matrix(torch.tensor([[1, 0], [0, 1]]), 2) @ torch.tensor([[1.0], [2.0]])
    tensor([[2.],
            [1.]])
    """
    rows, columns = edge_index
    if rows.numel() and bool((rows[1:] < rows[:-1]).any()):
        order = torch.argsort(rows, stable=True)
        rows, columns = rows[order], columns[order]
    lengths = torch.bincount(rows, minlength=n)
    ones = torch.ones(columns.numel(), device=columns.device)
    return csr_tensor(_pointers(lengths), columns.int(), ones, (n, n))


def _pointers(lengths: torch.Tensor) -> torch.Tensor:
    pointers = torch.zeros(lengths.numel() + 1, dtype=torch.int32, device=lengths.device)
    torch.cumsum(lengths, dim=0, out=pointers[1:])
    return pointers
