"""The global objective as a function of all rotation blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations
from ..factorization.transform import transform_blocks
from ..kernels.gradient import (
    carry_back,
    commutator,
    small_loss_and_gradient,
    transpose,
)
from ..kernels.threads import run_all

__all__ = ["Objective"]

Floats = npt.NDArray[Any]

# The gradient is summed in this many parts whatever the number of threads, so that the result
# is the same to the last bit on any machine.
_PARTS = 8
# Up to this many multiplications per transform, calls from Python and threads cost more than work.
_SMALL = 200_000


class Objective:
    r"""The squared error of a factorization as a function of its rotation blocks.

    .. math:: F(O_1, \dots, O_L) = \|W A W^T\|^2_{\mathrm{resi}}
              + \lambda \sum_{i \notin \mathrm{core}} ((W A W^T)_{ii})^\alpha

    The residual norm takes everything but the diagonal and the core. The second term asks for
    smooth wavelets when A is a Laplacian; it is absent unless `smoothness` is positive.

    Parameters
    ----------
    matrix : array of shape (n, n)
        The symmetric matrix, dense, of entries around one.
    rotations : Rotations
        Gives the index sets; its blocks are only a starting point.
    smoothness : float
        The weight :math:`\lambda`.
    power : float
        The exponent :math:`\alpha`.
    """

    def __init__(
        self, matrix: Floats, rotations: Rotations, smoothness: float = 0.0, power: float = 1.0
    ) -> None:
        self.matrix = np.ascontiguousarray(matrix)
        self.rotations = rotations
        self.smoothness = smoothness
        self.power = power
        self._in_core = rotations.level_of == 0
        self._image = np.empty_like(self.matrix)
        self._rotated = np.empty_like(self.matrix)
        # Small problems are evaluated in one call, with scratch memory kept for it.
        self._small = rotations.n * rotations.blocks.size <= _SMALL
        self._no_penalty = np.zeros(rotations.n, self.matrix.dtype)
        self._work = np.empty(32 * rotations.n if self._small else 0, self.matrix.dtype)
        largest = int(rotations.sizes.max(initial=1))
        self._buffer = np.empty(32 * largest, self.matrix.dtype)
        self.evaluations = 0
        self.residual = 0.0  # the squared error at the last evaluation, without the penalty

    def value(self, blocks: Floats) -> float:
        """Return the objective."""
        return self._evaluate(blocks)

    def value_and_gradient(self, blocks: Floats) -> tuple[float, Floats]:
        r"""Return the objective and its gradient in skew form.

        The gradient is packed like the blocks: for every level the skew matrix G with
        :math:`F(\dots, \exp(X) O_\ell, \dots) \approx F + \langle X, G_\ell \rangle`.
        """
        if self._small and self.smoothness == 0.0:
            value, lower = self._evaluate_small(blocks)
        else:
            value = self._evaluate(blocks)
            lower = self._lower_triangles(blocks)
        return value, lower - lower[self._mirror]

    def _lower_triangles(self, blocks: Floats) -> Floats:
        """Carry the commutator backwards, in parts that may run side by side."""
        r = self.rotations
        parts = min(_PARTS, -(-r.n // 32))
        tiles = -(-r.n // 32)
        bounds = [min(r.n, 32 * (part * tiles // parts)) for part in range(parts)] + [r.n]
        sums = np.zeros((parts, blocks.size), self.matrix.dtype)
        fixed = (r.offsets, r.groups, r.block_offsets, blocks)
        calls = [
            (self._rotated, r.elimination_order, r.level_of, first, last, *fixed, total)
            for first, last, total in zip(bounds[:-1], bounds[1:], sums, strict=True)
        ]
        run_all(carry_back, calls, worth_it=not self._small)
        total: Floats = sums.sum(axis=0)
        return total

    def _evaluate_small(self, blocks: Floats) -> tuple[float, Floats]:
        self.evaluations += 1
        r = self.rotations
        lower = np.zeros(blocks.size, self.matrix.dtype)
        loss = small_loss_and_gradient(
            self.matrix, self._image, self._rotated, r.core, self._in_core, self._no_penalty,
            r.elimination_order, r.level_of, r.offsets, r.groups, r.block_offsets, blocks,
            self._work, self._buffer, lower,
        )  # fmt: skip
        self.residual = float(loss)
        return self.residual, lower

    def _evaluate(self, blocks: Floats) -> float:
        """Compute the objective and leave the commutator in the work space."""
        self.evaluations += 1
        transform_blocks(self.rotations, blocks, self.matrix, self._image, forward=True)
        transpose(self._image, self._rotated)
        transform_blocks(self.rotations, blocks, self._rotated, self._rotated, forward=True)
        penalty, weights = self._penalty(self._rotated.diagonal())
        core = self.rotations.core
        self.residual = float(commutator(self._rotated, core, self._in_core, weights))
        return self.residual + penalty

    def _penalty(self, diagonal: Floats) -> tuple[float, Floats]:
        weights = np.zeros_like(diagonal)
        if self.smoothness == 0.0:
            return 0.0, weights
        energies = np.maximum(diagonal[~self._in_core], 0.0)
        weights[~self._in_core] = self.smoothness * self.power * energies ** (self.power - 1.0)
        return self.smoothness * float(np.sum(energies**self.power)), weights

    @property
    def _mirror(self) -> npt.NDArray[np.int64]:
        return self.rotations.transposed_entries
