"""The sequence of small rotations (Definition 1 of the paper) that defines a wavelet basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_choice, check_integer, check_memory
from ..errors import InvalidFactorizationError
from ..kernels.check import first_violation
from ..kernels.planes import expand_planes, extract_planes

__all__ = ["KINDS", "ORTHOGONALITY_TOLERANCE", "Rotations"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# From here on it is asked whether there is memory for a few numbers per coordinate.
_LARGE = 1_000_000

#: How levels may be stored: as blocks, or as the wavelet that each drops.
KINDS = ("full", "compact")

#: Largest entry of ``O @ O.T - I`` accepted in a rotation block.
ORTHOGONALITY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Rotations:
    """The orthogonal matrix W of a factorization: the product of the rotations of its levels.

    Level l rotates the coordinates ``groups[offsets[l]:offsets[l+1]]`` by the orthogonal block
    stored row by row in ``blocks[block_offsets[l]:block_offsets[l+1]]`` and then sets aside
    ``wavelets[drop_offsets[l]:drop_offsets[l+1]]``. Groups may differ in size. The constraints
    of the factorization are checked once, at construction, and the arrays are made read-only.

    Compact levels drop one wavelet each, and ``blocks`` holds nothing but those wavelets, unit
    vectors of the size of the group, which lists the coordinate of the wavelet first. The
    rotation is the one in the plane of the wavelet and the axis of that coordinate.

    Parameters
    ----------
    n : int
        Number of coordinates.
    offsets, groups : int arrays of length L+1 and ``offsets[-1]``
        The rotated coordinates of all levels, back to back.
    blocks : float array of length ``sum(size**2)``, or ``sum(size)`` for compact levels
        The orthogonal blocks, or the wavelets, back to back.
    drop_offsets, wavelets : int arrays of length L+1 and ``drop_offsets[-1]``
        The coordinates each level drops.
    kind : {"full", "compact"}
        Whether levels are stored as blocks or as wavelets.

    Raises
    ------
    InvalidFactorizationError
        If an index is out of range, rotated after it was dropped, repeated in a group, dropped
        outside its group, if a block is not orthogonal to `ORTHOGONALITY_TOLERANCE`, or if a
        compact level is not one wavelet, first in its group and of unit length. The message and
        the attribute ``level`` name the level at fault.

    Examples
    --------
    >>> r = Rotations.from_levels(2, [[0, 1]], [[[0.6, 0.8], [-0.8, 0.6]]], [[1]])
    >>> r.num_levels, r.core
    (1, array([0]))
    """

    n: int
    offsets: Integers
    groups: Integers
    blocks: Floats
    drop_offsets: Integers
    wavelets: Integers
    kind: str = "full"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        object.__setattr__(self, "n", check_integer("n", self.n, 0))
        for name in ("offsets", "groups", "drop_offsets", "wavelets"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.int64, name))
        object.__setattr__(self, "blocks", _frozen(self.blocks, np.float64, "blocks"))
        self._check_lengths()
        if self.n > _LARGE:
            check_memory(32.0 * self.n, f"rotations of {self.n} coordinates")
        code, level, detail = first_violation(
            self.n,
            self.offsets,
            self.groups,
            self.block_offsets,
            self.blocks,
            self.drop_offsets,
            self.wavelets,
            ORTHOGONALITY_TOLERANCE,
        )
        if code:
            raise InvalidFactorizationError(
                f"level {level + 1} of {self.num_levels}: " + _explain(code, detail, self.n),
                level + 1,
            )

    @classmethod
    def one_after_another(cls, n: int, pieces: Sequence[tuple[Rotations, Integers]]) -> Rotations:
        """Join the levels of pieces, each with the numbers that its coordinates have in the whole.

        Examples
        --------
        >>> half = Rotations.from_levels(2, [[0, 1]], [np.eye(2)], [[1]])
        >>> whole = [(half, np.array([0, 2])), (half, np.array([0, 1]))]
        >>> Rotations.one_after_another(3, whole).wavelets
        array([2, 1])
        """
        if len({piece.kind for piece, _ in pieces}) > 1:
            pieces = [(piece.to_full(), labels) for piece, labels in pieces]
        none = np.empty(0, np.int64)
        sizes = np.concatenate([none, *(piece.sizes for piece, _ in pieces)])
        drops = np.concatenate([none, *(np.diff(piece.drop_offsets) for piece, _ in pieces)])
        return cls(
            n=n,
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            groups=np.concatenate([none, *(labels[piece.groups] for piece, labels in pieces)]),
            blocks=np.concatenate([np.empty(0), *(piece.blocks for piece, _ in pieces)]),
            drop_offsets=np.concatenate([[0], np.cumsum(drops)]),
            wavelets=np.concatenate([none, *(labels[piece.wavelets] for piece, labels in pieces)]),
            kind=pieces[0][0].kind if pieces else "full",
        )

    @classmethod
    def from_levels(
        cls,
        n: int,
        groups: Sequence[Any],
        blocks: Sequence[Any],
        wavelets: Sequence[Any],
    ) -> Rotations:
        """Build from one group, block and list of wavelets per level.

        Examples
        --------
        >>> Rotations.from_levels(3, [], [], []).num_levels
        0
        """
        if not len(groups) == len(blocks) == len(wavelets):
            raise InvalidFactorizationError(
                f"got {len(groups)} groups, {len(blocks)} blocks and {len(wavelets)} wavelet sets; "
                "every level needs one of each"
            )
        for level, (group, block) in enumerate(zip(groups, blocks, strict=True), start=1):
            if np.shape(block) != (len(group), len(group)):
                raise InvalidFactorizationError(
                    f"level {level}: the block has shape {np.shape(block)} "
                    f"but the group has {len(group)} indices",
                    level,
                )
        return cls(
            n=n,
            offsets=_offsets(groups),
            groups=_join(groups, np.int64),
            blocks=_join(blocks, np.float64),
            drop_offsets=_offsets(wavelets),
            wavelets=_join(wavelets, np.int64),
        )

    @property
    def num_levels(self) -> int:
        """Number of levels L."""
        return self.offsets.size - 1

    @cached_property
    def sizes(self) -> Integers:
        """Number of coordinates rotated at each level."""
        return np.diff(self.offsets)

    @cached_property
    def block_offsets(self) -> Integers:
        """Where each level's block or wavelet starts in `blocks`; L+1 entries."""
        if self.kind == "compact":
            return self.offsets
        ends = np.cumsum(np.diff(self.offsets) ** 2)
        return np.concatenate([np.zeros(1, np.int64), ends])

    @cached_property
    def transposed_entries(self) -> Integers:
        """Permutation of `blocks` that transposes every block; for full blocks."""
        level = np.repeat(np.arange(self.num_levels), self.sizes**2)
        within = np.arange(level.size) - self.block_offsets[level]
        size = self.sizes[level]
        mirrored: Integers = self.block_offsets[level] + (within % size) * size + within // size
        return mirrored

    @cached_property
    def single_precision_blocks(self) -> npt.NDArray[np.float32]:
        """The blocks rounded to float32, for transforms of float32 signals."""
        return self.blocks.astype(np.float32)

    @property
    def codes(self) -> npt.NDArray[Any] | None:
        """The few digits that `blocks` was made from, which are what is stored; usually None."""
        codes: npt.NDArray[Any] | None = self.__dict__.get("_codes")
        return codes

    @cached_property
    def core(self) -> Integers:
        """Coordinates that were never dropped, ascending."""
        return np.flatnonzero(self.level_of == 0)

    @cached_property
    def level_of(self) -> Integers:
        """The 1-based level that drops each coordinate, 0 for the core."""
        levels = np.zeros(self.n, np.int64)
        levels[self.wavelets] = np.repeat(
            np.arange(1, self.num_levels + 1), np.diff(self.drop_offsets)
        )
        return levels

    @cached_property
    def elimination_order(self) -> Integers:
        """All coordinates: the core first, then the wavelets from the last level to the first.

        In this order the coordinates active at any level are a leading block.
        """
        return np.concatenate([self.core, self.wavelets[::-1]])

    def group(self, level: int) -> Integers:
        """Coordinates rotated at the 1-based `level`."""
        level = self._checked(level)
        return self.groups[self.offsets[level - 1] : self.offsets[level]]

    def block(self, level: int) -> Floats:
        """Orthogonal block of the 1-based `level`, also if only its wavelet is stored."""
        level = self._checked(level)
        size = self.sizes[level - 1]
        entries = self.blocks[self.block_offsets[level - 1] : self.block_offsets[level]]
        if self.kind == "compact":
            wavelet, entries = entries, np.empty(size * size)
            expand_planes(np.array([0, size]), wavelet, np.array([0, size * size]), entries)
        return entries.reshape(size, size)

    @property
    def multiplications(self) -> int:
        """Multiplications to apply all levels to one vector."""
        return self.blocks.size * (2 if self.kind == "compact" else 1)

    def to_full(self) -> Rotations:
        """Return the same rotations as full blocks.

        Examples
        --------
        >>> r = Rotations(2, [0, 2], [1, 0], [0.6, 0.8], [0, 1], [1], kind="compact")
        >>> r.to_full().block(1)
        array([[ 0.6,  0.8],
               [-0.8,  0.6]])
        """
        if self.kind == "full":
            return self
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes**2)])
        check_memory(8.0 * float(starts[-1]), f"full blocks of {self.num_levels} levels")
        blocks = np.empty(starts[-1])
        expand_planes(self.offsets, self.blocks, starts, blocks)
        return replace(self, blocks=blocks, kind="full")

    def to_compact(self) -> Rotations:
        """Return the same rotations, each stored as the wavelet it drops.

        Raises
        ------
        InvalidFactorizationError
            If a level drops more than one wavelet, or turns the rows that survive otherwise than
            the rotation in the plane of the wavelet and its axis does.

        Examples
        --------
        >>> r = Rotations.from_levels(2, [[0, 1]], [[[0.6, 0.8], [-0.8, 0.6]]], [[1]])
        >>> r.to_compact().blocks, r.to_compact().groups
        (array([ 0.6, -0.8]), array([1, 0]))
        """
        if self.kind == "compact":
            return self
        self._check_one_wavelet_per_level()
        groups, wavelets = np.empty_like(self.groups), np.empty(self.groups.size)
        wrong = extract_planes(
            self.offsets, self.groups, self.wavelets, self.block_offsets, self.blocks,
            ORTHOGONALITY_TOLERANCE, groups, wavelets,
        )  # fmt: skip
        if wrong >= 0:
            raise InvalidFactorizationError(
                f"level {wrong + 1} is no compact level: its block is not the rotation in the "
                "plane of its wavelet and an axis; choose survivors='nearest'",
                wrong + 1,
            )
        return replace(self, groups=groups, blocks=wavelets, kind="compact")

    def dropped(self, level: int) -> Integers:
        """Coordinates set aside as wavelets at the 1-based `level`."""
        level = self._checked(level)
        return self.wavelets[self.drop_offsets[level - 1] : self.drop_offsets[level]]

    def _checked(self, level: int) -> int:
        return check_integer("level (they count from 1)", level, 1, self.num_levels)

    def __getstate__(self) -> dict[str, Any]:
        # Derived arrays are cheap to make again and need not travel to worker processes.
        names = [*self.__dataclass_fields__, *(["_codes"] if self.codes is not None else [])]
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _check_lengths(self) -> None:
        for name, values in (("offsets", self.groups), ("drop_offsets", self.wavelets)):
            offsets = getattr(self, name)
            if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != values.size:
                raise InvalidFactorizationError(
                    f"{name} must run from 0 to {values.size}, the number of indices it divides"
                )
            if (np.diff(offsets) < 0).any():
                raise InvalidFactorizationError(f"{name} must not decrease")
        if self.offsets.size != self.drop_offsets.size:
            raise InvalidFactorizationError(
                f"{self.offsets.size - 1} groups but {self.drop_offsets.size - 1} wavelet sets"
            )
        empty = np.flatnonzero(np.diff(self.offsets) == 0)
        if empty.size:
            raise InvalidFactorizationError(
                f"level {empty[0] + 1}: the group is empty", int(empty[0]) + 1
            )
        if self.kind == "compact":
            self._check_one_wavelet_per_level()
        if self.blocks.size != self.block_offsets[-1]:
            raise InvalidFactorizationError(
                f"blocks holds {self.blocks.size} numbers, the groups ask for "
                f"{self.block_offsets[-1]}"
            )

    def _check_one_wavelet_per_level(self) -> None:
        others = np.flatnonzero(np.diff(self.drop_offsets) != 1)
        if others.size:
            level = int(others[0]) + 1
            raise InvalidFactorizationError(
                f"level {level} drops {self.dropped(level).size} wavelets; compact levels drop "
                "one each",
                level,
            )


def _frozen(values: Any, dtype: type, name: str) -> npt.NDArray[Any]:
    given = np.asarray(values)
    array: npt.NDArray[Any] = np.ascontiguousarray(given, dtype=dtype)
    if array.ndim != 1:
        raise InvalidFactorizationError(f"{name} must be one-dimensional, got shape {array.shape}")
    if dtype is np.int64 and given.size and not np.array_equal(array, given):
        raise InvalidFactorizationError(f"{name} must hold integers")
    if array.flags.writeable:
        # The caller may go on writing to its own array; ours must never change.
        array = array.copy() if np.may_share_memory(array, given) else array
        array.setflags(write=False)
    return array


def _offsets(parts: Sequence[Any]) -> Integers:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


def _join(parts: Sequence[Any], dtype: type) -> npt.NDArray[Any]:
    flat = [np.asarray(part).ravel() for part in parts]
    return np.concatenate(flat) if flat else np.empty(0, dtype)


def _explain(code: int, detail: float, n: int) -> str:
    index = int(detail) if code not in (6, 8) else -1
    return {
        1: f"index {index} is outside 0..{n - 1}",
        2: f"index {index} is rotated although an earlier level has dropped it",
        3: f"index {index} appears twice in the group",
        4: f"wavelet {index} is not in the group of its level",
        5: f"index {index} is dropped twice",
        6: f"the block is not orthogonal: |O O^T - I| reaches {detail:.3g}, "
        f"at most {ORTHOGONALITY_TOLERANCE:g} is allowed",
        7: f"a compact level lists its wavelet first in its group, but {index} is first",
        8: f"the wavelet is not of unit length, or opposite to its axis: off by {detail:.3g}, "
        f"at most {ORTHOGONALITY_TOLERANCE:g} is allowed",
    }[code]
