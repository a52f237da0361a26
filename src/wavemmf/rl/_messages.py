"""Products of messages with the active block of a matrix (Eq. 10 of the paper).

Dense if the matrix is small, else sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from .._warnings import warnings_treated

__all__ = ["Messages", "Propagate"]

# Below this many rows, or above this density, a dense product is faster.
_SMALL = 128
_DENSE = 0.1
_TINY = 1e-30

#: From messages to messages, of the same shape.
Propagate = Callable[[torch.Tensor], torch.Tensor]


class Messages:
    """A symmetric matrix that messages travel along.

    Messages have shape (n, batch, features), so that all of a batch take part in one product
    without being copied; `active`, of shape (n, batch), holds ones for the rows that take part and
    zeros for the others. Messages of rows that do not take part must be zero.

    Parameters
    ----------
    matrix : ndarray or csr_array
        Symmetric, entries of the order of one.
    dtype : torch.dtype
        Precision of the messages.
    sparse : bool, optional
        Whether products are sparse; decided by size and density by default.
    """

    def __init__(
        self, matrix: Any, dtype: torch.dtype = torch.float32, sparse: bool | None = None
    ) -> None:
        n = matrix.shape[0]
        self._matrix = sp.csr_array(matrix)
        self._dtype = dtype
        few = self._matrix.nnz <= _DENSE * n * n
        self.sparse = (n > _SMALL and few) if sparse is None else sparse

    @cached_property
    def _weights(self) -> torch.Tensor:
        return self._operator(self._matrix)

    @cached_property
    def _squares(self) -> torch.Tensor:
        return self._operator(self._matrix.multiply(self._matrix))

    @cached_property
    def _edges(self) -> torch.Tensor:
        return self._operator(self._off_diagonal)

    @cached_property
    def _links(self) -> torch.Tensor:
        return self._operator((self._off_diagonal != 0).astype(np.float64))

    @cached_property
    def _strengths(self) -> torch.Tensor:
        return self._operator(abs(self._off_diagonal))

    @property
    def _off_diagonal(self) -> Any:
        return self._matrix - sp.diags_array(self._matrix.diagonal())

    @cached_property
    def diagonal(self) -> torch.Tensor:
        """The diagonal of the matrix."""
        return torch.as_tensor(self._matrix.diagonal(), dtype=self._dtype)

    def along(self, kind: str, active: torch.Tensor) -> Propagate:
        """Return the map that messages go through, for these active rows S.

        Parameters
        ----------
        kind : {"matrix", "laplacian", "none"}
            ``A_SS x``; or ``(I - D^-1/2 E D^-1/2) x`` with E the entries of the matrix between
            different active rows and D the sums of their magnitudes; or x itself.
        active : tensor of shape (n, batch)
            The active rows.
        """
        mask = active.unsqueeze(-1)
        if kind == "matrix":
            return lambda x: _multiply(self._weights, x) * mask
        if kind == "laplacian":
            degree = _multiply(self._strengths, mask)
            root = degree.clamp_min(_TINY).rsqrt() * (mask * (degree > 0))
            return lambda x: x - root * _multiply(self._edges, root * x)
        return lambda x: x

    def degrees(self, active: torch.Tensor) -> torch.Tensor:
        """Return the number of active neighbours of every row, shape (n, batch)."""
        return self._links @ active

    def squared_norms(self, active: torch.Tensor) -> torch.Tensor:
        """Return the squared norm of every row, active columns only, shape (n, batch)."""
        return self._squares @ active

    def _operator(self, matrix: Any) -> torch.Tensor:
        if not self.sparse:
            return torch.as_tensor(matrix.toarray(), dtype=self._dtype)
        csr = sp.csr_array(matrix)
        beta = (".*Sparse CSR tensor support.*", ".*Sparse invariant checks.*")
        with warnings_treated("ignore", *beta):
            return torch.sparse_csr_tensor(
                torch.as_tensor(csr.indptr.astype(np.int64)),
                torch.as_tensor(csr.indices.astype(np.int64)),
                torch.as_tensor(csr.data, dtype=self._dtype),
                csr.shape,
            )


def _multiply(operator: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Apply an n-by-n operator to every message of a batch in one product."""
    return (operator @ x.reshape(x.shape[0], -1)).reshape(x.shape)
