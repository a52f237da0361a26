"""Rotations as smooth functions of unconstrained numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from ..errors import InvalidInputError
from ..factorization import Rotations

__all__ = ["PlaneCoordinates", "SkewCoordinates"]

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

    def moved(self, theta: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
        """Return the blocks at `theta`, orthogonal to float64 precision, as a new base."""
        out = self.blocks(theta, base).detach().to(torch.float64, copy=True)
        for entries in self._entries:
            block = out[entries]
            for _ in range(2):  # Newton steps; the error is squared in each
                block = 1.5 * block - 0.5 * (block @ block.mT @ block)
            out[entries] = block
        return out


class PlaneCoordinates:
    r"""Compact levels near given ones, from one number per rotated coordinate but the wavelet's.

    With the stereographic projection :math:`z = w / (1 + w_0)` of the wavelet w of a level, which
    leaves out the wavelet's own coordinate,

    .. math:: z(\theta) = z(0) + \theta, \qquad
              w_0 = \frac{1 - |z|^2}{1 + |z|^2}, \qquad w_a = \frac{2 z_a}{1 + |z|^2}.

    Wavelets are unit vectors whatever the numbers are, and levels stay compact.

    Parameters
    ----------
    rotations : Rotations
        Compact levels.

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.factorize(wm.graphs.cycle(6), core=2, k=3, rotations="compact").rotations
    >>> coordinates = PlaneCoordinates(r)
    >>> theta = torch.zeros(coordinates.size, dtype=torch.float64)
    >>> blocks = coordinates.blocks(theta, torch.tensor(r.blocks))
    >>> torch.allclose(blocks, torch.tensor(r.to_full().blocks))
    True
    """

    def __init__(self, rotations: Rotations) -> None:
        self.size = rotations.groups.size - rotations.num_levels
        sizes, starts = rotations.sizes, rotations.offsets[:-1]
        full_starts = np.cumsum(sizes**2) - sizes**2
        # Numbers, wavelets and blocks of all levels of one size.
        self._levels = []
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            numbers = (starts - np.arange(starts.size))[which, None] + np.arange(size - 1)
            vectors = starts[which, None] + np.arange(size)
            blocks = full_starts[which, None] + np.arange(size * size)
            self._levels.append(tuple(map(torch.from_numpy, (numbers, vectors, blocks))))
        self._entries = int((sizes**2).sum())

    def blocks(self, theta: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
        """Return the packed full blocks at `theta`, differentiable in both arguments."""
        out = base.new_zeros(self._entries)
        for numbers, vectors, blocks in self._levels:
            w = _wavelets(self._checked(theta)[numbers], base[vectors])
            out = out.index_put((blocks,), _planes(w).flatten(1))
        return out

    @torch.no_grad()
    def moved(self, theta: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
        """Return the wavelets at `theta`, of unit length to float64 precision, as a new base."""
        theta, out = self._checked(theta).double(), base.to(torch.float64, copy=True)
        for numbers, vectors, _ in self._levels:
            out[vectors] = _wavelets(theta[numbers], out[vectors])
        return out

    def _checked(self, theta: torch.Tensor) -> torch.Tensor:
        if tuple(theta.shape) != (self.size,):
            raise InvalidInputError(
                f"theta must have shape ({self.size},), got {tuple(theta.shape)}"
            )
        return theta


def _wavelets(theta: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """Return wavelets of some levels, one per row, their own coordinate first."""
    z = base[:, 1:] / (1.0 + base[:, :1]) + theta
    squared = z.square().sum(1, keepdim=True)
    return torch.cat([1.0 - squared, 2.0 * z], 1) / (1.0 + squared)


def _planes(w: torch.Tensor) -> torch.Tensor:
    """Return rotations in the planes of wavelets and the axes of their own coordinates."""
    others = w[:, 1:]
    eye = torch.eye(others.shape[1], dtype=w.dtype, device=w.device)
    outer = others[:, :, None] * others[:, None, :] / (1.0 + w[:, :1, None])
    lower = torch.cat([-others[:, :, None], eye - outer], 2)
    return torch.cat([w[:, None, :], lower], 1)


def _entries_of_size(rotations: Rotations, size: int) -> Integers:
    """Positions in the packed blocks of all blocks of one size, shape (levels, size, size)."""
    starts = rotations.block_offsets[:-1][rotations.sizes == size]
    entries: Integers = starts[:, None, None] + np.arange(size * size).reshape(size, size)
    return entries
