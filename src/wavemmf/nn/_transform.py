"""A transform of PyTorch Geometric that gives graphs their wavelet basis."""

from __future__ import annotations

import os
from inspect import signature
from typing import Any

import torch

from .._cache import decisive, open_cache
from .._fingerprint import fingerprint
from .._many import factorize_many
from .._optional import require
from .._validation import check_choice, check_named
from ..graphs import partitioner, symmetric_part
from ._batch import BASIS_KEYS, basis_arrays
from ._operators import NETWORK_MATRICES, network_matrix

require("torch_geometric", extra="pyg")

from torch_geometric.transforms import BaseTransform  # noqa: E402

__all__ = ["AddWaveletBasis"]


class AddWaveletBasis(BaseTransform):
    """Attach the wavelet basis of a graph as tensors that PyTorch Geometric puts in batches.

    `BatchBasis` reads them, from a ``Data`` or from a ``Batch`` of many, and `GraphWaveletNet`
    does so itself. A graph met again, in this epoch or (with `cache`) in another process, costs a
    look. The rotations of a basis that is to be learned are parameters of a model, not
    attributes of data: for these, and for the quickest transform of one large graph, make
    a `WaveletBasis` with `wavemmf.nn.wavelet_basis`.

    Parameters
    ----------
    core : int, optional
        Size of the core; by default a tenth of the nodes, at least 8.
    k : int
        Size of the rotations.
    matrix : {"normalized_laplacian", "augmented_laplacian", "laplacian", "adjacency"}
        The matrix of the graph to factorize.
    threshold : float
        Entries of the basis of this magnitude or less are left out.
    cache : bool or folder, optional
        Also keep factorizations and bases on disk; True for the user's cache folder.
    symmetrize : bool
        Take directed graphs as undirected; otherwise they are an error.
    **settings
        Further settings of `wavemmf.factorize_many`. Optimised rotations (``optimize="lbfgs"``)
        make filters depend less on the order of the nodes.

    Examples
    --------
    >>> from torch_geometric.data import Batch, Data
    >>> edge = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> data = AddWaveletBasis(k=2)(edge)
    >>> Batch.from_data_list([data, data]).wavelet_frequency.shape
    torch.Size([4])
    """

    def __init__(
        self,
        core: int | None = None,
        k: int = 8,
        matrix: str = "normalized_laplacian",
        threshold: float = 1e-4,
        cache: bool | str | os.PathLike[str] | None = None,
        symmetrize: bool = False,
        **settings: Any,
    ) -> None:
        self.matrix = check_choice("matrix", matrix, NETWORK_MATRICES)
        self.settings = {"core": core, "k": k, **settings}
        self.threshold = threshold
        self.cache = cache
        self.symmetrize = symmetrize
        for name in settings:
            check_named("setting", name, signature(factorize_many).parameters)
        self._known: dict[str, dict[str, torch.Tensor]] = {}

    def forward(self, data: Any) -> Any:
        """Attach the basis to `data`."""
        csr = network_matrix(symmetric_part(data) if self.symmetrize else data, self.matrix)
        key = self._key(csr)
        if key not in self._known:
            arrays = self._arrays(csr, key)
            self._known[key] = {name: torch.from_numpy(array) for name, array in arrays.items()}
        for name, tensor in self._known[key].items():
            data[name] = tensor
        return data

    def _arrays(self, csr: Any, key: str) -> dict[str, Any]:
        """Return the basis, from the disk if it is there: the factorization is not needed then."""
        store = open_cache(self.cache)
        kept = None if store is None else store.load_arrays(key, BASIS_KEYS)
        if kept is not None:
            return kept
        (f,) = factorize_many([csr], cache=self.cache, **self.settings)
        arrays = basis_arrays(f, self.threshold)
        if store is not None and f.history.stopped != "interrupted":
            store.save_arrays(key, arrays)
        return arrays

    def _key(self, csr: Any) -> str:
        decided = decisive(self.settings)
        return fingerprint(
            "basis",
            graph=csr,
            threshold=self.threshold,
            partitioner=partitioner(),
            settings=decided,
        )

    def __repr__(self) -> str:
        given = {**self.settings, "matrix": self.matrix, "threshold": self.threshold}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in given.items())})"
