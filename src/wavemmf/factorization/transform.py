"""Apply a sequence of rotations to signals: dtype, layout, tiles and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputTypeError, InvalidInputError
from ..kernels.threads import run_all
from ..kernels.transform import TILE_KERNELS
from .rotations import Rotations

__all__ = ["as_signal", "transform"]

Signal = npt.NDArray[np.floating[Any]]

# Below this many multiplications a second thread costs more than it saves.
_WORTH_A_THREAD = 500_000


def as_signal(x: Any, n: int) -> Signal:
    """Check a vector (n,) or a batch (n, m) of signals; float32 stays, the rest becomes float64."""
    signal = np.asarray(x)
    if signal.dtype.kind not in "buif":
        raise InputTypeError(
            f"signals must hold real numbers, got {signal.dtype}"
            + ("; transform real and imaginary part separately" if signal.dtype.kind == "c" else "")
        )
    if signal.ndim not in (1, 2) or signal.shape[0] != n:
        raise InvalidInputError(f"signals must have shape ({n},) or ({n}, m), got {signal.shape}")
    return signal if signal.dtype == np.float32 else signal.astype(np.float64, copy=False)


def transform(rotations: Rotations, x: Any, out: Signal | None, forward: bool) -> Signal:
    """Return ``W x`` (forward) or ``W.T x``, written to `out` if given.

    A batch in Fortran order gives a result in Fortran order. `out` must have the shape of
    `x` and the dtype of the result; it may be `x` itself.
    """
    signal = as_signal(x, rotations.n)
    fortran = signal.ndim == 2 and signal.flags.f_contiguous and not signal.flags.c_contiguous
    if out is not None:
        _check_out(out, signal)
        overlaps = out is not x and np.may_share_memory(out, signal)
        if overlaps or not out.flags.c_contiguous:
            out[...] = transform(rotations, signal, None, forward)
            return out
    columns = np.ascontiguousarray(signal.reshape(rotations.n, -1))
    result = np.empty_like(columns) if out is None else out.reshape(columns.shape)
    _run_tiles(rotations, columns, result, forward)
    if out is not None:
        return out
    result = result.reshape(signal.shape)
    return np.asfortranarray(result) if fortran else result


def _check_out(out: Any, signal: Signal) -> None:
    if not isinstance(out, np.ndarray):
        raise InputTypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.shape != signal.shape or out.dtype != signal.dtype:
        raise InvalidInputError(
            f"out must have shape {signal.shape} and dtype {signal.dtype}, "
            f"got {out.shape} and {out.dtype}"
        )
    if not out.flags.writeable:
        raise InvalidInputError("out is read-only")


def _run_tiles(rotations: Rotations, x: Signal, out: Signal, forward: bool) -> None:
    blocks = rotations.blocks if x.dtype == np.float64 else rotations.single_precision_blocks
    fixed = (rotations.offsets, rotations.groups, rotations.block_offsets, blocks, forward)
    calls = [(TILE_KERNELS[width], x, out, left, *fixed) for left, width in _tiles(x.shape[1])]
    if rotations.blocks.size * x.shape[1] < _WORTH_A_THREAD:
        for call in calls:
            _call(*call)
    else:
        run_all(_call, calls)


def _call(kernel: Any, *arguments: Any) -> None:
    kernel(*arguments)


def _tiles(columns: int) -> list[tuple[int, int]]:
    """Cut the columns into tiles of the compiled widths; a tile may reach past the end."""
    tiles = []
    left = 0
    while left < columns:
        rest = columns - left
        width = 32 if rest > 16 else 8 if rest > 1 else 1
        tiles.append((left, width))
        left += width
    return tiles
