"""A transform of PyTorch Geometric that gives graphs a basis that can be put in batches."""

from __future__ import annotations

import os
from typing import Any

import torch

from .._fingerprint import fingerprint
from .._optional import require
from ..cache import decisive
from ..many import factorize_many
from ._batch import basis_arrays
from ._operators import network_matrix

require("torch_geometric", extra="pyg")

from torch_geometric.transforms import BaseTransform  # noqa: E402

__all__ = ["AddGraphWavelets"]


class AddGraphWavelets(BaseTransform):
    """Attach the wavelet basis of a graph as tensors that PyTorch Geometric puts in batches.

    A ``Batch`` of such graphs carries a block-diagonal basis, as
    `wavemmf.nn.GraphWaveletNet` needs it. A graph met again costs a look.

    Parameters
    ----------
    k : int
        Size of the rotations.
    optimize : str, optional
        How rotations are optimised. Accurate factorizations make filters independent of
        the order of the nodes.
    cache : bool or folder, optional
        Also keep factorizations on disk; True for the user's cache folder.
    **settings
        Further settings of `wavemmf.factorize_many`.

    Examples
    --------
    >>> from torch_geometric.data import Batch, Data
    >>> edge = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> data = AddGraphWavelets(k=2)(edge)
    >>> Batch.from_data_list([data, data]).wavelet_frequency.shape
    torch.Size([4])
    """

    def __init__(
        self,
        k: int = 8,
        optimize: str | None = "lbfgs",
        cache: bool | str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        self.settings = {"k": k, "optimize": optimize, **settings}
        self.cache = cache
        self._known: dict[str, dict[str, torch.Tensor]] = {}

    def forward(self, data: Any) -> Any:
        """Attach the basis to `data`."""
        csr = network_matrix(data, "normalized_laplacian")
        key = fingerprint("basis in batches", graph=csr, settings=decisive(self.settings))
        if key not in self._known:
            (f,) = factorize_many([csr], cache=self.cache, **self.settings)
            arrays = basis_arrays(f)
            self._known[key] = {name: torch.from_numpy(array) for name, array in arrays.items()}
        for name, tensor in self._known[key].items():
            data[name] = tensor
        return data

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given})"
