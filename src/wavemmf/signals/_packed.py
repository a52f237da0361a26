"""The bytes of compressed signals: a header, coded numbers, and a checksum."""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_memory
from ..errors import FileFormatError, InvalidInputError
from ..factorization import Rotations
from ..kernels.range_coder import LONGEST, decode_numbers, encode_numbers
from ._tree import coarse_to_fine

__all__ = ["LARGEST_NUMBER", "Packed", "pack", "unpack"]

Integers = npt.NDArray[np.int64]

#: Magnitudes that can be coded.
LARGEST_NUMBER = 2**LONGEST - 1

_MAGIC, _VERSION = b"WMS", 1
# Magic, version, digest of the basis, flags, step, rows, signals.
_HEADER = struct.Struct("<3sB8sBdII")
_CHECKSUM = struct.Struct("<I")
_BATCH, _CHOOSING = 1, 2
# A number costs at least 1/710 bits, so these many fit into a byte. A little more is allowed.
_NUMBERS_PER_BYTE = 8 * 1024
_SPARE = 64


@dataclass(frozen=True)
class Packed:
    """Signals as whole numbers.

    Attributes
    ----------
    numbers : array of shape (n, m)
        Quantised coefficients in coordinate order.
    step : float
        Step of the quantiser.
    batch : bool
        Whether the signals were of shape (n, m), not (n,).
    choices : array of shape (levels,), optional
        Which levels set a coordinate aside.
    """

    numbers: Integers
    step: float
    batch: bool
    choices: Integers | None = None


def pack(packed: Packed, rotations: Rotations) -> bytes:
    """Return the bytes of quantised coefficients in the basis of `rotations`.

    Examples
    --------
    >>> import wavemmf as wm
    >>> r = wm.wavelets(wm.graphs.path(8), core=1).rotations
    >>> numbers = np.arange(8)[:, None] - 3
    >>> unpack(pack(Packed(numbers, 0.5, False), r), r).numbers.ravel()
    array([-3, -2, -1,  0,  1,  2,  3,  4])
    """
    order, parents = coarse_to_fine(rotations)
    flags = _BATCH * packed.batch + _CHOOSING * (packed.choices is not None)
    shape = packed.numbers.shape
    head = _HEADER.pack(_MAGIC, _VERSION, _digest(rotations), flags, packed.step, *shape)
    choices = np.zeros(rotations.n, np.int64)
    if packed.choices is not None:
        choices[rotations.wavelets] = packed.choices
    coded = encode_numbers(
        packed.numbers[order], parents, choices[order], packed.choices is not None
    )
    # The decoder reads zeros past the end.
    body = head + coded.tobytes().rstrip(b"\0")
    packed_bytes: bytes = body + _CHECKSUM.pack(zlib.crc32(body))
    return packed_bytes


def unpack(data: Any, rotations: Rotations) -> Packed:
    """Return what `pack` was given.

    Raises
    ------
    FileFormatError
        If the bytes are damaged, of another kind, or of a later version.
    InvalidInputError
        If they belong to another basis.
    """
    content = bytes(data)
    flags, step, n, m = _read_header(content, rotations)
    batch, choosing = bool(flags & _BATCH), bool(flags & _CHOOSING)
    coded = np.frombuffer(content[_HEADER.size : -_CHECKSUM.size], np.uint8)
    if n * m > _NUMBERS_PER_BYTE * (coded.size + _SPARE) or (m != 1 and not batch):
        raise FileFormatError(f"compressed signals are damaged: {coded.size} bytes claim {n} x {m}")
    check_memory(4 * 8 * n * m, f"{m} signals of {n} numbers")
    order, parents = coarse_to_fine(rotations)
    coarse_first, chosen = decode_numbers(coded, parents, m, choosing)
    numbers, choices = np.empty_like(coarse_first), np.empty_like(chosen)
    numbers[order], choices[order] = coarse_first, chosen
    return Packed(numbers, step, batch, choices[rotations.wavelets] if choosing else None)


def _read_header(content: bytes, rotations: Rotations) -> tuple[int, float, int, int]:
    if len(content) < _HEADER.size + _CHECKSUM.size or content[:3] != _MAGIC:
        raise FileFormatError(f"these {len(content)} bytes are not compressed signals")
    _, version, digest, flags, step, n, m = _HEADER.unpack_from(content)
    if version != _VERSION:
        raise FileFormatError(
            f"compressed signals have version {version}, and only {_VERSION} is known: upgrade"
        )
    (checksum,) = _CHECKSUM.unpack(content[-_CHECKSUM.size :])
    if checksum != zlib.crc32(content[: -_CHECKSUM.size]):
        raise FileFormatError("compressed signals are damaged: their checksum is wrong")
    if n != rotations.n or digest != _digest(rotations):
        raise InvalidInputError(
            f"the signals were compressed in another basis (of {n} rows) than the one given "
            f"({rotations.n} rows): keep the factorization with save(), and load() it"
        )
    if not (np.isfinite(step) and step > 0.0) or flags & ~(_BATCH | _CHOOSING):
        raise FileFormatError(f"compressed signals are damaged: step {step}, flags {flags}")
    return flags, step, n, m


def _digest(rotations: Rotations) -> bytes:
    digest = hashlib.sha256()
    for name in ("offsets", "groups", "drop_offsets", "wavelets"):
        digest.update(getattr(rotations, name).astype("<i8").tobytes())
    digest.update(rotations.blocks.astype("<f8").tobytes())
    return digest.digest()[:8]
