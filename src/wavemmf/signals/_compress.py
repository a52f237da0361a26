"""Signals as bytes, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_positive
from ..errors import InvalidInputError
from ..factorization import Factorization
from ._aside import aside_levels, can_set_aside, with_aside
from ._check import as_signals, check_factorization
from ._packed import LARGEST_NUMBER, Packed, pack, unpack

__all__ = ["Coder", "Compressed", "compress", "decompress"]

Floats = npt.NDArray[np.float64]

# Halvings of the interval of steps; its ends are a factor of 2^30 apart.
_HALVINGS = 24


@dataclass(frozen=True)
class Compressed:
    """Compressed signals.

    Attributes
    ----------
    data : bytes
        All that `decompress` needs, beside the factorization.
    bits_per_node : float
        Size of `data` in bits, divided by the numbers that it stands for.
    error : float or array
        Relative error of each signal.
    step : float
        Step of the quantiser.
    set_aside : int
        Levels that set a node aside, as `compress` was allowed to.
    """

    data: bytes
    bits_per_node: float
    error: Any
    step: float
    set_aside: int

    def __bytes__(self) -> bytes:
        return self.data


def compress(
    x: Any,
    f: Factorization,
    *,
    step: float | None = None,
    error: float | None = None,
    bits: float | None = None,
    adapt: bool = False,
) -> Compressed:
    r"""Quantise the wavelet coefficients of signals and code them as bytes.

    With the step s, a coefficient c becomes :math:`\mathrm{sign}(c) \lfloor |c| / s \rfloor`.
    Numbers are coded from coarse to fine by an adaptive range coder, whose contexts are the sizes
    of the parent in the tree of wavelets, its parent, the sibling, and the same coefficient of the
    signal before. The same coefficients give the same bytes on every machine.

    Parameters
    ----------
    x : array of shape (n,) or (n, m), Series or DataFrame
        One signal or m of them.
    f : Factorization
        The basis. Keep it: without it the bytes cannot be read.
    step : float, optional
        Step of the quantiser.
    error : float, optional
        Instead: the relative error of all signals together is at most this.
    bits : float, optional
        Instead: the size is at most so many bits per number.
    adapt : bool
        Let levels of two nodes set one aside as it is, if that makes the bytes fewer (or the error
        smaller, with `bits`): a spike is then one coefficient. Which do is coded as well.

    Returns
    -------
    Compressed
        ``data`` are the bytes; size and error are told.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.grid(16, 16))
    >>> x = np.add.outer(np.arange(16.0), np.arange(16.0)).ravel()
    >>> small = compress(x, f, error=0.05)
    >>> bool(small.error <= 0.05), small.bits_per_node < 4
    (True, True)
    >>> bool(np.linalg.norm(decompress(small.data, f) - x) <= 0.05 * np.linalg.norm(x))
    True
    """
    signals, _ = as_signals(x, f)
    found = _compressed(Coder(f, signals), step, error, bits)
    if not (adapt and signals.size and can_set_aside(f.rotations)):
        return found
    other = _compressed(Coder(f, signals, adapt=True), step, error, bits)
    size = (lambda c: np.mean(c.error)) if bits is not None else (lambda c: c.bits_per_node)
    return min(found, other, key=size)


def _compressed(coder: Coder, step: Any, error: Any, bits: Any) -> Compressed:
    return coder.compressed(_step(coder, step, error, bits))


def decompress(data: Any, f: Factorization) -> Floats:
    """Return the signals that `compress` was given, up to its error.

    Parameters
    ----------
    data : bytes or Compressed
        What `compress` returned.
    f : Factorization
        The same basis.

    Returns
    -------
    array of shape (n,) or (n, m)

    Raises
    ------
    FileFormatError
        If the bytes are damaged, of another kind, or of a later version.
    InvalidInputError
        If they were compressed in another basis.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.path(8), core=2)
    >>> decompress(compress(np.ones((8, 3)), f, step=0.01), f).shape
    (8, 3)
    """
    check_factorization(f)
    packed = unpack(data, f.rotations)
    rotations = f.rotations
    if packed.choices is not None:
        if packed.choices.any() and not can_set_aside(rotations):
            raise InvalidInputError("compressed signals set nodes aside, which takes levels of two")
        rotations = with_aside(rotations, packed.choices)
    values = _restored(packed.numbers, packed.step)
    signals: Floats = replace(f, rotations=rotations).synthesize(values)
    return signals if packed.batch else signals[:, 0]


def _restored(numbers: Any, step: float) -> Floats:
    """Return the middles of what a quantiser makes the same number."""
    middles: Floats = (numbers + 0.5 * np.sign(numbers)) * step
    return middles


class Coder:
    """Signals, and what becomes of them with every step.

    Signals and steps are in units of a power of two near the largest number, so that squares stay
    in range.
    """

    def __init__(self, f: Factorization, signals: Floats, adapt: bool = False) -> None:
        self.f = f
        self.batch = signals.ndim == 2
        self.adapt = adapt
        columns = np.ascontiguousarray(signals.reshape(f.n, -1))
        self.unit = float(np.exp2(np.frexp(np.abs(columns).max(initial=0.0))[1]))
        self.signals = columns / self.unit
        self.fixed: Floats = f.analyze(self.signals)
        # No coefficient is larger, whatever the basis.
        self.largest = float(np.sqrt((self.signals**2).sum(axis=0).max(initial=0.0)))

    def quantised(self, step: float) -> tuple[Packed, Floats]:
        """Return the numbers, and the coefficients they were made of."""
        if not self.adapt:
            numbers = np.trunc(self.fixed / step).astype(np.int64)
            return Packed(numbers, step * self.unit, self.batch), self.fixed
        choices = aside_levels(self.f.rotations, self.signals, step)
        coefficients = _analyzed(self.f, choices, self.signals)
        numbers = np.trunc(coefficients / step).astype(np.int64)
        _say(numbers, coefficients, self.f.rotations.wavelets[choices != 0])
        return Packed(numbers, step * self.unit, self.batch, choices), coefficients

    def error(self, step: float) -> float:
        """Return the relative error of all signals together."""
        packed, exact = self.quantised(step)
        lost, whole = exact - _restored(packed.numbers, step), np.linalg.norm(exact)
        return float(np.linalg.norm(lost) / whole) if whole else 0.0

    def compressed(self, step: float) -> Compressed:
        """Return the bytes, and how good they are."""
        packed, exact = self.quantised(step)
        data = pack(packed, self.f.rotations)
        lost = np.linalg.norm(exact - _restored(packed.numbers, step), axis=0)
        whole = np.linalg.norm(exact, axis=0)
        errors = lost / np.where(whole > 0.0, whole, 1.0)
        return Compressed(
            data,
            8 * len(data) / max(1, exact.size),
            errors if self.batch else float(errors[0]),
            packed.step,
            0 if packed.choices is None else int(np.count_nonzero(packed.choices)),
        )


def _analyzed(f: Factorization, choices: Any, signals: Floats) -> Floats:
    adapted: Floats = replace(f, rotations=with_aside(f.rotations, choices)).analyze(signals)
    return adapted


def _say(numbers: Any, coefficients: Floats, rows: Any) -> None:
    """Let no row be zero that belongs to a level with a choice: nothing would say the choice.

    Such a coefficient is as large as the step, and smaller by rounding only.
    """
    silent = rows[~numbers[rows].any(axis=1)]
    largest = np.abs(coefficients[silent]).argmax(axis=1)
    numbers[silent, largest] = np.where(coefficients[silent, largest] < 0.0, -1, 1)


def _step(coder: Coder, step: Any, error: Any, bits: Any) -> float:
    """Return the step that was asked for, in the coder's units."""
    if sum(each is not None for each in (step, error, bits)) != 1:
        raise InvalidInputError("give one of step, error or bits")
    largest = 1.01 * coder.largest or 1.0  # all is zero then
    least = coder.largest / LARGEST_NUMBER
    if step is not None:
        wanted = check_positive("step", step) / coder.unit
        if not least <= wanted < np.inf:
            raise InvalidInputError(
                f"step must be at least {least * coder.unit:.3g} for these signals, got {step!r}"
            )
        return wanted
    least = max(least, 1e-9 * largest)
    if error is not None:
        limit = check_positive("error", error)
        if coder.error(least) > limit:
            raise InvalidInputError(
                f"error must be at least {coder.error(least):.3g} for these signals, got {error!r}"
            )
        return _bisect(least, largest, lambda s: coder.error(s) <= limit)
    limit = check_positive("bits", bits)
    smallest = coder.compressed(largest).bits_per_node
    if smallest > limit:
        raise InvalidInputError(
            f"bits must be at least {smallest:.3g} for these signals, got {bits!r}"
        )
    return _bisect(largest, least, lambda s: coder.compressed(s).bits_per_node <= limit)


def _bisect(allowed: float, wished: float, is_allowed: Callable[[float], bool]) -> float:
    """Return an allowed number as near to the wished one as can be."""
    if is_allowed(wished):
        return wished
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(allowed) * np.sqrt(wished))
        if is_allowed(middle):
            allowed = middle
        else:
            wished = middle
    return allowed
