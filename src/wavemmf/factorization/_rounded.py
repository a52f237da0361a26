"""Levels stored with fewer digits, as exact rotations nevertheless."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_choice
from ..kernels.rounding import nearest_rotations, unit_vectors
from ._core_diagonal import CoreDiagonal
from ._rotations import Rotations

__all__ = ["DIGITS", "rotations_of_codes", "round_h", "round_rotations"]

#: What levels may be rounded to.
DIGITS = ("float32", "int16")

# A one, in 16 bits.
_UNIT = 32767

Codes = npt.NDArray[Any]


def round_rotations(rotations: Rotations, digits: str) -> Rotations:
    """Return rotations that can be stored with so many digits, close to those given.

    Examples
    --------
    >>> r = Rotations(2, [0, 2], [1, 0], [0.6, 0.8], [0, 1], [1], kind="compact")
    >>> rounded = round_rotations(r, "int16")
    >>> rounded.codes, bool(abs(rounded.blocks - r.blocks).max() < 2e-5)
    (array([19660, 26214], dtype=int16), True)
    """
    check_choice("digits", digits, DIGITS)
    if digits == "int16":
        codes: Codes = np.rint(rotations.blocks * _UNIT).astype(np.int16)
    else:
        codes = rotations.blocks.astype(np.float32)
    fields = {name: getattr(rotations, name) for name in rotations.__dataclass_fields__}
    return rotations_of_codes({**fields, "blocks": codes})


def rotations_of_codes(fields: dict[str, Any]) -> Rotations:
    """Return the rotations whose rounded blocks, or wavelets, are given in their place.

    Rounding leaves them not quite orthogonal: wavelets are divided by their length, and blocks are
    replaced by the nearest orthogonal ones.
    """
    codes = np.array(fields["blocks"])
    if codes.dtype.name not in DIGITS:
        raise TypeError(f"rounded levels hold {' or '.join(DIGITS)}, got {codes.dtype}")
    offsets = np.array(fields["offsets"], np.int64)
    blocks = codes.astype(np.float64)
    if codes.dtype == np.int16:
        blocks /= _UNIT
    compact = fields["kind"] == "compact"
    if _fit(offsets, blocks, 1 if compact else 2):
        if compact:
            unit_vectors(offsets, blocks)
        else:
            sizes = np.diff(offsets)
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes**2)])
            nearest_rotations(sizes, starts, blocks)
    rotations = Rotations(**{**fields, "blocks": blocks})
    codes.setflags(write=False)
    object.__setattr__(rotations, "_codes", codes)
    return rotations


def round_h(h: CoreDiagonal) -> tuple[CoreDiagonal, float]:
    """Return H in single precision, if its range allows that, and the norm of the difference."""
    largest = max(float(np.abs(h.diagonal).max(initial=0.0)), float(abs(h.core).max(initial=0.0)))
    if not 1e-25 < largest < 1e35:
        return h, 0.0
    rounded = CoreDiagonal(_single(h.diagonal), _single(h.core), h.core_indices)
    apart = CoreDiagonal(h.diagonal - rounded.diagonal, h.core - rounded.core, h.core_indices)
    return rounded, apart.norm()


def _fit(offsets: npt.NDArray[np.int64], blocks: Codes, power: int) -> bool:
    """Whether the levels fill the blocks; if not, whoever checks them says what is wrong."""
    if offsets.ndim != 1 or offsets.size == 0 or offsets[0] != 0:
        return False
    sizes = np.diff(offsets).astype(np.float64)
    return bool((sizes > 0).all() and (sizes**power).sum() == blocks.size)


def _single(values: Any) -> Any:
    return values.astype(np.float32).astype(np.float64)
