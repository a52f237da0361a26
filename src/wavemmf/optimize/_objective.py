"""The global objective (Eq. 6 of the paper) as a function of all rotation blocks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations
from ..kernels.gradient import (
    carry_back,
    commutator,
    loss_and_gradient,
    rotate_columns,
    rotate_rows,
)
from ..kernels.planes import by_coordinates
from ..parallel.threads import run_all

__all__ = ["Objective"]

Floats = npt.NDArray[Any]
Bounds = tuple[int, int]

# The gradient is summed in this many parts whatever the number of threads, so that the result
# is the same to the last bit on any machine.
_PARTS = 8
# Up to this many multiplications per transform, calls from Python and threads cost more than work.
_SMALL = 200_000
# Up to this many, a run of many evaluations is faster inside one call on one thread.
_ONE_THREAD = 1_000_000
_TILE = 32


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
        self.rotations = rotations
        self.smoothness = smoothness
        self.power = power
        self.evaluations = 0
        self.residual = 0.0  # the squared error at the last evaluation, without the penalty
        n, order = rotations.n, rotations.elimination_order
        size = _padded(n)
        # In elimination order and filled up with zeros, as the kernels want it.
        self.matrix = np.zeros((size, size), matrix.dtype)
        self.matrix[:n, :n] = matrix[order[:, None], order]
        self._rotated = np.zeros_like(self.matrix)
        self._no_penalty = np.zeros(size, matrix.dtype)
        self._dropped = np.where(
            rotations.level_of[order] > 0, rotations.level_of[order], rotations.num_levels
        )
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        self._levels = (rotations.offsets, place[rotations.groups], rotations.block_offsets)
        work = n * rotations.multiplications
        self._small = work <= _SMALL
        self.suits_one_thread = work <= _ONE_THREAD and smoothness == 0.0
        self._bounds = _part_bounds(size)

    def value(self, blocks: Floats) -> float:
        """Return the objective."""
        return self._evaluate(blocks)

    def value_and_gradient(self, blocks: Floats) -> tuple[float, Floats]:
        r"""Return the objective and its gradient in skew form.

        The gradient is packed like the blocks: for every level the skew matrix G with
        :math:`F(\dots, \exp(X) O_\ell, \dots) \approx F + \langle X, G_\ell \rangle`. For
        compact levels it is half of the derivative by the coordinates of the wavelets
        (`wavemmf.kernels.planes`), with zeros in the places of their own axes.
        """
        lower = np.zeros(blocks.size, self.matrix.dtype)
        if self._small and self.smoothness == 0.0:
            value = self._evaluate_small(blocks, lower)
        else:
            value = self._evaluate(blocks)
            self._carry_back(blocks, lower)
        if self.rotations.kind == "compact":
            by_coordinates(self.rotations.offsets, blocks, lower)
            return value, lower
        return value, lower - lower[self.rotations.transposed_entries]

    def _evaluate_small(self, blocks: Floats, lower: Floats) -> float:
        self.evaluations += 1
        self.residual = float(loss_and_gradient(*self.problem, blocks, lower))
        return self.residual

    def _evaluate(self, blocks: Floats) -> float:
        """Compute the objective and leave the commutator in the work space."""
        self.evaluations += 1
        fixed = (*self._levels, blocks)
        self._in_parts(rotate_columns, lambda part: (self.matrix, self._rotated, *part, *fixed))
        self._in_parts(rotate_rows, lambda part: (self._rotated, *part, *fixed))
        penalty, weights = self._penalty(self._rotated.diagonal())
        self.residual = float(commutator(self._rotated, self._core, weights))
        return self.residual + penalty

    def _carry_back(self, blocks: Floats, lower: Floats) -> None:
        """Add the lower triangles of the gradient, in parts that may run side by side."""
        sums = {part: np.zeros_like(lower) for part in self._bounds}
        fixed = (*self._levels, blocks)
        self._in_parts(
            carry_back, lambda part: (self._rotated, self._dropped, *part, *fixed, sums[part])
        )
        for part in self._bounds:
            lower += sums[part]

    def _in_parts(
        self, kernel: Any, arguments: Callable[[tuple[int, int]], tuple[Any, ...]]
    ) -> None:
        run_all(kernel, [arguments(part) for part in self._bounds], worth_it=not self._small)

    def _penalty(self, diagonal: Floats) -> tuple[float, Floats]:
        if self.smoothness == 0.0:
            return 0.0, self._no_penalty
        weights = np.zeros_like(diagonal)
        wavelets = slice(self._core, self.rotations.n)
        energies = np.maximum(diagonal[wavelets], 0.0)
        weights[wavelets] = self.smoothness * self.power * energies ** (self.power - 1.0)
        return self.smoothness * float(np.sum(energies**self.power)), weights

    @property
    def problem(self) -> tuple[Any, ...]:
        """What the kernels need to know beside the blocks, if there is no penalty."""
        return (
            self.matrix, self._rotated, self._core, self._no_penalty, self._dropped, *self._levels,
        )  # fmt: skip

    @property
    def _core(self) -> int:
        return self.rotations.core.size


def _padded(n: int) -> int:
    """Columns rounded up to whole tiles: of 32, then one of 16, one of eight, or both."""
    return -(-n // 8) * 8


def _part_bounds(columns: int) -> list[Bounds]:
    """Cut the columns into parts of whole tiles."""
    tiles = -(-columns // _TILE)
    parts = min(_PARTS, tiles)
    bounds = [min(columns, _TILE * (part * tiles // parts)) for part in range(parts + 1)]
    return list(pairwise(bounds))
