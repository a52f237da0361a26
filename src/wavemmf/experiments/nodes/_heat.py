"""Heat-kernel wavelets of the graph wavelet neural network (GWNN), to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ..._validation import check_memory, check_positive
from ...graphs import normalized_laplacian
from ...nn import Basis, SparseOperator

__all__ = ["HeatWavelets"]


class HeatWavelets(torch.nn.Module, Basis):
    r"""The basis of Xu et al., Graph wavelet neural network, ICLR 2019.

    .. math:: \psi_s = U e^{-s \Lambda} U^T, \qquad \psi_s^{-1} = U e^{s \Lambda} U^T

    with the eigenvectors U of the normalized Laplacian. Entries below the threshold are left out
    of both. It is not orthogonal; `analyze` is the product with :math:`\psi_s^{-1}` and
    `synthesize` that with :math:`\psi_s`. There are no levels: all count as the last.

    Parameters
    ----------
    graph : Graph or adjacency matrix
        The graph; its eigenvectors are computed, so it must not be large.
    scale : float
        The time s of diffusion.
    threshold : float
        Entries of this magnitude or less are left out.

    Examples
    --------
    >>> import wavemmf as wm
    >>> wavelets = HeatWavelets(wm.graphs.karate(), threshold=0.0)
    >>> x = torch.randn(34, 2)
    >>> torch.allclose(wavelets.synthesize(wavelets.analyze(x)), x, atol=1e-4)
    True
    """

    def __init__(self, graph: Any, scale: float = 1.0, threshold: float = 1e-4) -> None:
        super().__init__()
        check_positive("scale", scale)
        laplacian = normalized_laplacian(graph)
        n = laplacian.shape[0]
        check_memory(5 * 8 * n * n, f"the eigenvectors of a graph of {n} nodes")
        values, vectors = np.linalg.eigh(laplacian.toarray())
        self.register_buffer("frequencies", torch.from_numpy(values).float())
        self.register_buffer("levels", torch.ones(n))
        self.there = SparseOperator(_kernel(values, vectors, -scale, threshold))
        self.back = SparseOperator(_kernel(values, vectors, scale, threshold))

    @property
    def nnz_share(self) -> float:
        """Non-zero entries of the wavelets as a part of all."""
        return self.there.nnz / self.n**2

    def analyze(self, x: torch.Tensor) -> torch.Tensor:
        """Return the coefficients of signals of shape (n, channels)."""
        return self.back(x)

    def synthesize(self, c: torch.Tensor) -> torch.Tensor:
        """Return the signals of coefficients: the inverse of `analyze` but for the threshold."""
        return self.there(c)


def _kernel(
    values: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float64],
    time: float,
    threshold: float,
) -> sp.csr_array:
    kernel = (vectors * np.exp(time * values)) @ vectors.T
    kernel[np.abs(kernel) <= threshold] = 0.0
    return sp.csr_array(kernel)
