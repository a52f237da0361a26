"""Rotation blocks as a smooth function of unconstrained numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from ..errors import InvalidInputError
from ..factorization import Rotations

__all__ = ["SkewCoordinates"]

Integers = npt.NDArray[np.int64]


class SkewCoordinates:
    r"""Orthogonal blocks near given ones, from one number per pair of rotated coordinates.

    .. math:: O_\ell(\theta) = (I - X_\ell / 2)^{-1} (I + X_\ell / 2) \, O_\ell(0)

    where the skew matrix :math:`X_\ell` has the numbers of level :math:`\ell` below its diagonal.
    The blocks are orthogonal whatever the numbers are, so any optimiser may move them.

    Parameters
    ----------
    rotations : Rotations
        Gives the sizes of the blocks.

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.factorize(wm.graphs.cycle(6), core=2, k=3).rotations
    >>> coordinates = SkewCoordinates(r)
    >>> theta = torch.zeros(coordinates.size, dtype=torch.float64)
    >>> base = torch.tensor(r.blocks)
    >>> torch.equal(coordinates.blocks(theta, base), base)
    True
    """

    def __init__(self, rotations: Rotations) -> None:
        transposed = rotations.transposed_entries
        lower = np.flatnonzero(np.arange(transposed.size) > transposed)
        self._lower = torch.from_numpy(lower)
        self._upper = torch.from_numpy(transposed[lower])
        self._entries = [
            torch.from_numpy(_entries_of_size(rotations, size))
            for size in np.unique(rotations.sizes)
        ]

    @property
    def size(self) -> int:
        """Number of coordinates: the sum of k(k-1)/2 over all levels."""
        return self._lower.numel()

    def blocks(self, theta: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
        """Return the packed blocks at `theta`, differentiable in both arguments."""
        if tuple(theta.shape) != (self.size,):
            raise InvalidInputError(
                f"theta must have shape ({self.size},), got {tuple(theta.shape)}"
            )
        skew = torch.zeros_like(base)
        skew = skew.index_put((self._lower,), theta).index_put((self._upper,), -theta)
        out = base
        for entries in self._entries:
            half = 0.5 * skew[entries]
            eye = torch.eye(entries.shape[-1], dtype=base.dtype, device=base.device)
            moved = torch.linalg.solve(eye - half, (eye + half) @ base[entries])
            out = out.index_put((entries,), moved)
        return out

    def nearest(self, blocks: torch.Tensor) -> torch.Tensor:
        """Return the blocks, orthogonal but for rounding, made orthogonal to float64 precision."""
        out = blocks.detach().to(torch.float64, copy=True)
        for entries in self._entries:
            block = out[entries]
            for _ in range(2):  # Newton steps; the error is squared in each
                block = 1.5 * block - 0.5 * (block @ block.mT @ block)
            out[entries] = block
        return out


def _entries_of_size(rotations: Rotations, size: int) -> Integers:
    """Positions in the packed blocks of all blocks of one size, shape (levels, size, size)."""
    starts = rotations.block_offsets[:-1][rotations.sizes == size]
    entries: Integers = starts[:, None, None] + np.arange(size * size).reshape(size, size)
    return entries
