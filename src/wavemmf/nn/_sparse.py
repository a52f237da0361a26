"""Products of a fixed sparse matrix with dense signals, differentiable in the signals."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn.functional import dropout

from ..errors import InvalidInputError

__all__ = [
    "Features",
    "SparseOperator",
    "ThinnedOperator",
    "apply_linear",
    "csr_tensor",
    "drop_features",
    "sparse_product",
]

_PARTS = ("pointers", "indices", "values", "back_pointers", "back_indices", "order")


class SparseOperator(torch.nn.Module):
    """A constant sparse matrix that multiplies signals from the left, as does its transpose.

    The places of the transpose's entries are kept: torch would otherwise sort them anew in every
    backward pass. All parts are plain buffers, so the operator moves with ``.to(device)``, and the
    state can be written as safetensors, which know no sparse tensors. Loading a state takes over
    the sizes that were saved.

    Parameters
    ----------
    matrix : scipy sparse array of shape (m, n)
        Any format.
    dtype : torch.dtype
        Precision of the entries.

    Examples
    --------
    >>> operator = SparseOperator(sp.eye_array(3, format="csr") * 2.0)
    >>> operator(torch.ones(3, 2)).sum()
    tensor(12.)
    """

    pointers: torch.Tensor
    indices: torch.Tensor
    values: torch.Tensor
    back_pointers: torch.Tensor
    back_indices: torch.Tensor
    order: torch.Tensor
    sides: torch.Tensor

    def __init__(self, matrix: Any, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        csr = sp.csr_array(matrix)
        numbered = sp.csr_array((np.arange(1, csr.nnz + 1), csr.indices, csr.indptr), csr.shape)
        back = sp.csr_array(numbered.T)
        for name, values in (
            ("pointers", csr.indptr),
            ("indices", csr.indices),
            ("back_pointers", back.indptr),
            ("back_indices", back.indices),
        ):
            # MKL multiplies with 32-bit indices at twice the speed.
            self.register_buffer(name, torch.from_numpy(np.array(values, dtype=np.int32)))
        self.register_buffer("order", torch.from_numpy(np.array(back.data - 1, dtype=np.int64)))
        entries = torch.from_numpy(np.array(csr.data, dtype=np.float64)).to(dtype)
        self.register_buffer("values", entries)
        self.register_buffer("sides", torch.tensor(csr.shape))
        self._kept: tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        rows, columns = self.sides.tolist()
        return rows, columns

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.values.numel()

    def forward(self, x: torch.Tensor, rate: float = 0.0) -> torch.Tensor:
        """Return ``matrix @ x`` for `x` of shape (n, channels), with dropout of entries."""
        self._check(x, self.shape[1])
        there, back = self._pair(rate)
        return sparse_product(x, there, back)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return self.forward(x)

    def adjoint(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``matrix.T @ x`` for `x` of shape (m, channels)."""
        self._check(x, self.shape[0])
        there, back = self._pair(0.0)
        return sparse_product(x, back, there)

    def extra_repr(self) -> str:
        """Describe the size."""
        rows, columns = self.shape
        return f"{rows}, {columns}, nnz={self.nnz}"

    def _check(self, x: torch.Tensor, rows: int) -> None:
        if x.ndim != 2 or x.shape[0] != rows:
            raise InvalidInputError(
                f"signals must have shape ({rows}, channels), got {tuple(x.shape)}"
            )

    def _pair(self, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the matrix and its transpose."""
        if rate:
            return self._assemble(dropout(self.values, rate))
        if self._kept is None or self._kept[0] is not self.values:  # moved or loaded since
            self._kept = (self.values, self._assemble(self.values))
        return self._kept[1]

    def _assemble(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows, columns = self.shape
        there = csr_tensor(self.pointers, self.indices, values, (rows, columns))
        back = csr_tensor(
            self.back_pointers, self.back_indices, values[self.order], (columns, rows)
        )
        return there, back

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # made again where it is needed

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *arguments: Any) -> None:
        for name in _PARTS:
            saved = state_dict.get(prefix + name)
            if saved is not None:
                setattr(self, name, getattr(self, name).new_empty(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *arguments)


class _Product(torch.autograd.Function):
    """A sparse matrix times signals; its derivative is the same with the transpose."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, there: Any, back: Any) -> torch.Tensor:
        ctx.there, ctx.back = there, back
        return there @ x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return sparse_product(gradient.contiguous(), ctx.back, ctx.there), None, None


def sparse_product(x: torch.Tensor, there: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
    """Return ``there @ x``, differentiable in x; `back` is the transpose of `there`."""
    apply: Any = _Product.apply
    result: torch.Tensor = apply(x.to(there.dtype), there, back)
    return result


def csr_tensor(
    pointers: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, size: tuple[int, int]
) -> torch.Tensor:
    """Return a sparse tensor of compressed rows, without torch's checks and warnings."""
    with warnings.catch_warnings():
        # torch calls its CSR tensors a beta feature, once per process.
        warnings.filterwarnings("ignore", message=".*CSR.*beta")
        return torch.sparse_csr_tensor(pointers, indices, values, size=size, check_invariants=False)


class ThinnedOperator:
    """A sparse matrix of features some of whose entries are left out, anew in each product."""

    def __init__(self, operator: SparseOperator, rate: float) -> None:
        self.operator, self.rate = operator, rate

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.operator.shape

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return self.operator(x, self.rate)


#: Features of nodes: dense, sparse, or sparse with dropout.
Features: TypeAlias = torch.Tensor | SparseOperator | ThinnedOperator


def drop_features(x: Features, rate: float, training: bool) -> Features:
    """Return features with dropout; sparse ones are not made dense.

    Examples
    --------
    >>> x = SparseOperator(sp.eye_array(3, format="csr"))
    >>> (drop_features(x, 0.5, training=False) @ torch.ones(3, 2)).shape
    torch.Size([3, 2])
    """
    if isinstance(x, torch.Tensor):
        return dropout(x, rate, training)
    return ThinnedOperator(x, rate) if training and isinstance(x, SparseOperator) else x


def apply_linear(layer: torch.nn.Linear, x: Features, rate: float, training: bool) -> torch.Tensor:
    """Return a linear map of features with dropout.

    Examples
    --------
    >>> layer, x = torch.nn.Linear(3, 2), sp.eye_array(3, format="csr")
    >>> sparse = apply_linear(layer, SparseOperator(x), 0.0, training=False)
    >>> torch.allclose(sparse, layer(torch.eye(3)))
    True
    """
    product = drop_features(x, rate, training) @ layer.weight.T.contiguous()
    bias: torch.Tensor | None = layer.bias  # None if the map was made without
    return product if bias is None else product + bias
