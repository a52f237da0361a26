"""Bases that graphs carry as tensors, which PyTorch Geometric collates into block diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from .._validation import check_memory
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..factorization._basis import basis_matrix
from ._diagonal import diagonalized
from ._protocol import Basis
from ._sparse import csr_tensor, sparse_product

__all__ = ["BASIS_KEYS", "BatchBasis", "basis_arrays", "hop_matrix"]

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


def basis_arrays(
    f: Factorization, threshold: float = 1e-4, order: npt.NDArray[np.int64] | None = None
) -> dict[str, npt.NDArray[Any]]:
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
    frequencies, levels, vectors = diagonalized(f)
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
        "wavelet_level": levels.astype(np.float32),
    }


def _with_turned_core(
    f: Factorization, vectors: npt.NDArray[np.float64], threshold: float
) -> sp.csr_array:
    """Return the basis with the rows of the core replaced by those that diagonalise it."""
    basis = basis_matrix(f.rotations, threshold)[0]
    core = f.core_indices
    check_memory(3 * 8 * core.size * f.n, f"the {core.size} wavelets of the core of {f.n} nodes")
    turned = vectors.T @ f.scaling_functions()
    turned[np.abs(turned) <= threshold] = 0.0
    rest = np.setdiff1d(np.arange(f.n), core)
    order = np.argsort(np.concatenate([rest, core]), kind="stable")
    return sp.csr_array(sp.vstack([basis[rest], sp.csr_array(turned)], format="csr")[order])


class BatchBasis(Basis):
    """The wavelet basis of all graphs of a batch, or of the one graph of a ``Data``.

    A wavelet has the same frequency, level and entries whatever else is in the batch.

    Parameters
    ----------
    batch : Batch or Data
        With the attributes that the transform `wavemmf.nn.AddWaveletBasis` adds.

    Shapes
    ------
    - signals and coefficients: ``(nodes of all graphs, channels)``

    Raises
    ------
    InvalidInputError
        If the attributes are missing.

    Examples
    --------
    >>> from torch_geometric.data import Batch, Data
    >>> from wavemmf.nn import AddWaveletBasis, WaveletConv
    >>> edge = Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> batch = Batch.from_data_list([AddWaveletBasis(k=2)(edge)] * 4)
    >>> WaveletConv(3, 5)(batch.x, BatchBasis(batch)).shape
    torch.Size([8, 5])
    """

    def __init__(self, batch: Any) -> None:
        missing = [key for key in BASIS_KEYS if key not in batch]
        if missing:
            raise InvalidInputError(
                f"the graphs have no wavelet basis ({', '.join(missing)} missing): "
                "add it with the transform wavemmf.nn.AddWaveletBasis"
            )
        self.frequencies = batch.wavelet_frequency
        self.levels = batch.wavelet_level
        n = self.n
        self._there, self._back = (
            csr_tensor(
                _pointers(batch[f"{prefix}_length"]),
                batch[f"{prefix}_index"].int(),  # what MKL is fast with
                batch[f"{prefix}_value"],
                (n, n),
            )
            for prefix in ("wavelet", "wavelet_back")
        )

    def analyze(self, x: torch.Tensor) -> torch.Tensor:
        """Return the coefficients of signals."""
        return sparse_product(x, self._there, self._back)

    def synthesize(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals of coefficients."""
        return sparse_product(c, self._back, self._there)


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
