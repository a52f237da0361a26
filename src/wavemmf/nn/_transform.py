"""A transform of PyTorch Geometric that gives graphs their wavelet basis."""

from __future__ import annotations

import os
from typing import Any

from .._fingerprint import fingerprint
from .._optional import require
from ..cache import decisive
from ..validation import check_choice
from ._basis import WaveletBasis
from ._operators import MATRICES, network_matrix, wavelet_basis

require("torch_geometric", extra="pyg")

from torch_geometric.transforms import BaseTransform  # noqa: E402

__all__ = ["AddWaveletBasis"]


class AddWaveletBasis(BaseTransform):
    """Compute the wavelet basis of a graph once, and attach it to the data.

    The attribute ``wavelet_basis`` is what `WaveletConv` takes; it moves with ``data.to(device)``.
    Bases are kept in memory, and on disk if asked, by the content of the graph: the same graph
    met again, in this epoch or in another process, costs a look.

    Parameters
    ----------
    core, k : int
        Sizes of the core (a tenth of the nodes by default) and of the rotations.
    matrix : {"augmented_laplacian", "normalized_laplacian", "laplacian", "adjacency"}
        The matrix of the graph to factorize.
    cache : bool or folder, optional
        Also keep factorizations on disk; True for the user's cache folder.
    attribute : str
        Name under which the basis is attached.
    **settings
        ``method`` and ``threshold`` of `WaveletBasis`, and further settings of
        `wavemmf.factorize`. A selector of your own needs a method ``fingerprint_parts()`` that
        returns all its choices depend on.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> AddWaveletBasis(core=1, k=2)(data).wavelet_basis.n
    3
    """

    def __init__(
        self,
        core: int | None = None,
        k: int = 8,
        matrix: str = "augmented_laplacian",
        cache: bool | str | os.PathLike[str] | None = None,
        attribute: str = "wavelet_basis",
        **settings: Any,
    ) -> None:
        self.matrix = check_choice("matrix", matrix, MATRICES)
        self.settings = {"core": core, "k": k, **settings}
        self.cache = cache
        self.attribute = attribute
        self._known: dict[str, WaveletBasis] = {}

    def forward(self, data: Any) -> Any:
        """Attach the basis to `data`."""
        csr = network_matrix(data, self.matrix)
        key = self._key(csr)
        if key not in self._known:
            self._known[key] = wavelet_basis(
                data, matrix=self.matrix, cache=self.cache, **self.settings
            )
        setattr(data, self.attribute, self._known[key])
        return data

    def _key(self, csr: Any) -> str:
        return fingerprint("basis", graph=csr, matrix=self.matrix, settings=decisive(self.settings))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given}, matrix={self.matrix!r})"
