"""Transform and objective as functions of signals, matrix and rotation blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.autograd.function import once_differentiable

from ..errors import InvalidInputError
from ..factorization import Rotations
from ..factorization._transform import transform_blocks
from ..kernels.transform_gradient import PULLBACK_KERNELS, times_blocks
from ..optimize._objective import Objective
from ..parallel.threads import run_all
from ._checks import as_array, check_blocks, check_signal, check_tensor

__all__ = ["analyze", "residual", "synthesize"]

Floats = npt.NDArray[Any]

# Derivatives are summed in this many parts whatever the number of threads, so that the result is
# the same to the last bit on any machine.
_PARTS = 8


def analyze(x: torch.Tensor, rotations: Rotations, blocks: torch.Tensor) -> torch.Tensor:
    """Return the wavelet coefficients ``W x``, differentiable in the signals and the blocks.

    Parameters
    ----------
    x : tensor of shape (n,) or (n, m)
        One signal or m of them, float32 or float64; the result has the same dtype.
    rotations : Rotations
        Gives the index sets of all levels.
    blocks : tensor of shape (rotations.blocks.size,)
        The orthogonal blocks, packed like ``rotations.blocks``. They must be orthogonal: the
        derivative undoes the rotations instead of storing intermediate signals.

    Returns
    -------
    tensor of the shape of `x`

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.factorize(wm.graphs.cycle(8), core=2, k=2).rotations
    >>> x = torch.ones(8, dtype=torch.float64, requires_grad=True)
    >>> c = analyze(x, r, torch.tensor(r.blocks))
    >>> c.square().sum().backward()
    >>> torch.allclose(x.grad, 2 * x)
    True
    """
    return _transform(x, rotations, blocks, forward=True)


def synthesize(c: torch.Tensor, rotations: Rotations, blocks: torch.Tensor) -> torch.Tensor:
    """Return the signals ``W^T c``: the inverse of `analyze`, differentiable in the same way.

    Parameters
    ----------
    c : tensor of shape (n,) or (n, m)
        Wavelet coefficients in coordinate order, float32 or float64.
    rotations : Rotations
        Gives the index sets of all levels.
    blocks : tensor of shape (rotations.blocks.size,)
        The orthogonal blocks, packed.

    Returns
    -------
    tensor of the shape of `c`

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.factorize(wm.graphs.cycle(8), core=2, k=2).rotations
    >>> x, blocks = torch.arange(8.0), torch.tensor(r.blocks)
    >>> torch.allclose(synthesize(analyze(x, r, blocks), r, blocks), x, atol=1e-5)
    True
    """
    return _transform(c, rotations, blocks, forward=False)


def residual(matrix: torch.Tensor, rotations: Rotations, blocks: torch.Tensor) -> torch.Tensor:
    r"""Return the squared error of the factorization of `matrix` with these rotations.

    .. math:: F = \|W A W^T\|^2_{\mathrm{resi}}

    where the residual norm takes everything but the diagonal and the core. The symmetric part of
    `matrix` is used.

    The derivative by the blocks is the part tangent to the orthogonal matrices, :math:`K_\ell
    O_\ell` with :math:`K_\ell` skew. It is exact for every way of moving the blocks that keeps
    them orthogonal, such as `SkewCoordinates`; how F goes on away from them is left open.

    Parameters
    ----------
    matrix : tensor of shape (n, n)
        The symmetric matrix, float32 or float64.
    rotations : Rotations
        Gives the index sets of all levels.
    blocks : tensor of shape (rotations.blocks.size,)
        The orthogonal blocks, packed.

    Returns
    -------
    tensor of shape ()

    Examples
    --------
    >>> import wavemmf as wm
    >>> a = wm.graphs.kronecker(4)
    >>> f = wm.factorize(a, core=4, k=4)
    >>> loss = residual(torch.tensor(a), f.rotations, torch.tensor(f.rotations.blocks))
    >>> bool(np.isclose(loss.item(), f.error() ** 2))
    True
    """
    check_tensor("matrix", matrix)
    check_blocks(blocks, rotations)
    if tuple(matrix.shape) != (rotations.n, rotations.n):
        raise InvalidInputError(
            f"matrix must have shape {(rotations.n, rotations.n)}, got {tuple(matrix.shape)}"
        )
    apply: Any = _Residual.apply
    result: torch.Tensor = apply(0.5 * (matrix + matrix.T), blocks.to(matrix.dtype), rotations)
    return result


def _transform(
    x: torch.Tensor, rotations: Rotations, blocks: torch.Tensor, forward: bool
) -> torch.Tensor:
    check_signal("x" if forward else "c", x, rotations.n)
    check_blocks(blocks, rotations)
    apply: Any = _Transform.apply
    columns = x.reshape(rotations.n, -1)
    result: torch.Tensor = apply(columns, blocks.to(x.dtype), rotations, forward)
    return result.reshape(x.shape)


class _Transform(torch.autograd.Function):
    """``W x`` or ``W^T x`` of the columns of a matrix."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, blocks: torch.Tensor, rotations: Rotations, forward: bool
    ) -> torch.Tensor:
        result = _apply(rotations, as_array(blocks), as_array(x), forward)
        ctx.rotations, ctx.is_forward = rotations, forward
        ctx.save_for_backward(blocks, result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        blocks, result = ctx.saved_tensors
        incoming, packed = as_array(gradient), as_array(blocks)
        if not ctx.needs_input_grad[1]:
            return _apply(ctx.rotations, packed, incoming, not ctx.is_forward), None, None, None
        # The rotated side is the result of the forward transform, and the input of the inverse.
        carried, by_blocks = _pull_back(
            ctx.rotations, packed, incoming, as_array(result), not ctx.is_forward
        )
        return torch.from_numpy(carried), torch.from_numpy(by_blocks), None, None


class _Residual(torch.autograd.Function):
    """The squared error for a symmetric matrix."""

    @staticmethod
    def forward(
        ctx: Any, matrix: torch.Tensor, blocks: torch.Tensor, rotations: Rotations
    ) -> torch.Tensor:
        objective = Objective(as_array(matrix), rotations)
        packed = as_array(blocks)
        ctx.rotations = rotations
        if ctx.needs_input_grad[1]:
            value, skew = objective.value_and_gradient(packed)
        else:
            value, skew = objective.value(packed), np.empty(0, packed.dtype)
        ctx.save_for_backward(matrix, blocks, torch.from_numpy(skew))
        return matrix.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        matrix, blocks, skew = ctx.saved_tensors
        packed = as_array(blocks)
        by_matrix = by_blocks = None
        if ctx.needs_input_grad[0]:
            by_matrix = gradient * _matrix_gradient(ctx.rotations, packed, as_array(matrix))
        if ctx.needs_input_grad[1]:
            by_blocks = gradient * torch.from_numpy(
                _times_blocks(ctx.rotations, as_array(skew), packed)
            )
        return by_matrix, by_blocks, None


def _apply(rotations: Rotations, blocks: Floats, x: Floats, forward: bool) -> torch.Tensor:
    result = np.empty_like(x)
    transform_blocks(rotations, blocks, x, result, forward)
    return torch.from_numpy(result)


def _pull_back(
    r: Rotations, blocks: Floats, gradient: Floats, result: Floats, forward: bool
) -> tuple[Floats, Floats]:
    """Return the derivatives by the transformed signals and by the blocks."""
    n, columns = gradient.shape
    carried = np.empty((n, columns), gradient.dtype)
    width = 32 if columns > 16 else 8 if columns > 1 else 1
    tiles = -(-columns // width)
    parts = max(1, min(_PARTS, tiles))
    bounds = [min(columns, width * (part * tiles // parts)) for part in range(parts + 1)]
    sums = np.zeros((parts, blocks.size), blocks.dtype)
    fixed = (r.offsets, r.groups, r.block_offsets, blocks, forward)
    calls = [
        (gradient, result, carried, first, last, *fixed, total)
        for first, last, total in zip(bounds[:-1], bounds[1:], sums, strict=True)
    ]
    run_all(PULLBACK_KERNELS[width], calls, worth_it=columns * blocks.size > 200_000)
    products = sums.sum(axis=0)
    if forward:  # for the inverse transform the carried gradient is the other factor
        products = products[r.transposed_entries]
    return carried, _times_blocks(r, products, blocks)


def _times_blocks(r: Rotations, products: Floats, blocks: Floats) -> Floats:
    out = np.empty_like(blocks)
    times_blocks(products, r.sizes, r.block_offsets, blocks, out)
    return out


def _matrix_gradient(r: Rotations, blocks: Floats, matrix: Floats) -> torch.Tensor:
    """Return ``W^T D W`` where D is twice the residual part of ``W A W^T``."""
    image = _apply(r, blocks, matrix, True).T.contiguous()
    rest = 2.0 * _apply(r, blocks, image.numpy(), True)
    rest.fill_diagonal_(0.0)
    core = torch.from_numpy(r.core.copy())
    rest[core[:, None], core] = 0.0
    half = _apply(r, blocks, rest.numpy(), False).T.contiguous()
    return _apply(r, blocks, half.numpy(), False)
