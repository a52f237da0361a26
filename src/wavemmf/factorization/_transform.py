"""Apply a sequence of rotations to signals: dtype, layout, tiles and threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputTypeError, InvalidInputError
from ..kernels.transform import TRANSFORM_KERNELS
from ..parallel.threads import num_threads, run_all, scratch
from ._rotations import Rotations

__all__ = ["as_signal", "check_no_nan", "transform", "transform_blocks", "transform_scratch"]

Signal = npt.NDArray[np.floating[Any]]

# Below this many multiplications a second thread costs more than it saves.
_WORTH_A_THREAD = 500_000
# Columns that are transformed together, at most.
_WIDEST_TILE = 32


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


def check_no_nan(x: Any, names: Sequence[str] | None = None) -> None:
    """Refuse a signal with NaN in it, and say where.

    Examples
    --------
    >>> check_no_nan([1.0, float("nan")], ("a", "b"))
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: the signal is NaN at node 1 ('b'): fill it, or let it ...
    """
    signal = np.asarray(x)
    if signal.dtype.kind != "f" or not np.isnan(signal).any():
        return
    place = [int(i) for i in np.argwhere(np.isnan(signal))[0]]
    known = names is not None and place[0] < len(names)
    name = f" ({names[place[0]]!r})" if names is not None and known else ""
    column = f" of signal {place[1]}" if len(place) > 1 else ""
    raise InvalidInputError(
        f"the signal is NaN at node {place[0]}{name}{column}: fill it, or let it through with "
        "allow_nan=True"
    )


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
    double = columns.dtype == np.float64
    blocks = rotations.blocks if double else rotations.single_precision_blocks
    transform_blocks(rotations, blocks, columns, result, forward)
    if out is not None:
        return out
    result = result.reshape(signal.shape)
    return np.asfortranarray(result) if fortran else result


def transform_scratch(n: int) -> int:
    """Return the bytes that a transform of n coordinates takes beside its input and its result.

    Examples
    --------
    >>> transform_scratch(1000) >= 32 * 8 * 1000
    True
    """
    return 2 * _WIDEST_TILE * 8 * n * num_threads()


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


def transform_blocks(
    rotations: Rotations, blocks: Signal, x: Signal, out: Signal, forward: bool
) -> None:
    """Transform the columns of `x` into `out` with the index sets of `rotations` and `blocks`.

    Blocks are packed as in `rotations`, for compact levels as wavelets.

    Plain and fast: both arrays C-ordered, of one dtype with `blocks`; `out` may be `x`.
    """
    fixed = (rotations.offsets, rotations.groups, rotations.block_offsets, blocks, forward)
    threaded = blocks.size * x.shape[1] >= _WORTH_A_THREAD
    largest = int(rotations.sizes.max(initial=1))
    calls = [
        (tile, largest, x, out, start, stop, *fixed)
        for tile, start, stop in _column_ranges(x.shape[1], num_threads() if threaded else 1)
    ]
    run_all(_transform_range, calls, worth_it=threaded)


def _transform_range(tile: int, largest: int, x: Signal, out: Signal, *arguments: Any) -> None:
    work = scratch(x.shape[0] * tile, x.dtype)
    buffer = np.empty(largest * tile, x.dtype)
    TRANSFORM_KERNELS[tile](x, out, *arguments, work, buffer)


def _column_ranges(columns: int, parts: int) -> list[tuple[int, int, int]]:
    """Cut the columns into (tile width, start, stop): wide tiles in `parts` ranges, then the rest.

    The last tile may be filled up with zeros, so the rest takes the width that wastes least.
    """
    widest = _WIDEST_TILE
    tiles = columns // widest + (columns % widest > widest // 2)
    bounds = [min(columns, widest * (part * tiles // parts)) for part in range(parts + 1)]
    ranges = [(widest, a, b) for a, b in pairwise(bounds) if b > a]
    rest = columns - bounds[-1]
    if rest > 0:
        ranges.append((8 if rest > 1 else 1, bounds[-1], columns))
    return ranges
