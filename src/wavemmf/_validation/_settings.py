"""What settings may be: numbers within bounds, names out of a list."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._suggest import did_you_mean
from ..errors import InputTypeError, InvalidInputError

__all__ = [
    "as_generator",
    "check_choice",
    "check_finite",
    "check_integer",
    "check_mmf_parameters",
    "check_named",
    "check_not_negative",
    "check_positive",
    "core_size",
]


def check_integer(
    name: str, value: Any, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return `value` as an int within the bounds; True, 8.0 and "8" are not integers.

    Examples
    --------
    >>> check_integer("k", np.int64(8), minimum=2)
    8
    >>> check_integer("k", 1, minimum=2)
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: k must be an integer at least 2, got 1
    """
    bounds = [f"at least {minimum}"] * (minimum is not None)
    bounds += [f"at most {maximum}"] * (maximum is not None)
    allowed = " ".join(["an integer", " and ".join(bounds)]).strip()
    message = f"{name} must be {allowed}, got {value!r}"
    if isinstance(value, bool | np.bool_):
        raise InputTypeError(message)
    try:
        number = operator.index(value)
    except TypeError:
        raise InputTypeError(message) from None
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise InvalidInputError(message)
    return number


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero."""
    message = f"{name} must be a finite number above 0, got {value!r}"
    number = _as_float(value, message)
    if not (np.isfinite(number) and number > 0):
        raise InvalidInputError(message)
    return number


def check_not_negative(name: str, value: Any) -> float:
    """Return `value` as a finite float that is at least zero.

    Examples
    --------
    >>> check_not_negative("weight_decay", 0)
    0.0
    """
    number = check_finite(name, value)
    if number < 0:
        raise InvalidInputError(f"{name} must be >= 0, got {value!r}")
    return number


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a finite float.

    Examples
    --------
    >>> check_finite("shift", 1)
    1.0
    """
    message = f"{name} must be a finite number, got {value!r}"
    number = _as_float(value, message)
    if not np.isfinite(number):
        raise InvalidInputError(message)
    return number


def _as_float(value: Any, message: str) -> float:
    """Return a number as a float; a text that Python would read as one is none."""
    if isinstance(value, str | bytes):
        raise InputTypeError(message)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputTypeError(message) from None
    except OverflowError:  # an integer beyond all floats
        raise InvalidInputError(message) from None


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator of random numbers that the caller gave or named by a seed.

    Examples
    --------
    >>> as_generator("dice")
    Traceback (most recent call last):
    ...
    wavemmf.errors.InputTypeError: rng must be a numpy Generator or a seed >= 0, got 'dice'
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InputTypeError(f"rng must be a numpy Generator or a seed >= 0, got {rng!r}") from None


def check_choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`, or list them.

    Examples
    --------
    >>> check_choice("optimize", "newton", ["lbfgs", "sgd"])
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: optimize must be one of 'lbfgs', 'sgd'; got 'newton'
    """
    valid = list(options)
    if isinstance(value, str) and value in valid:
        return value
    meant = did_you_mean(value, valid)
    raise InvalidInputError(f"{name} must be one of {str(valid)[1:-1]}; got {value!r}{meant}")


def check_named(kind: str, name: Any, names: Iterable[Any]) -> None:
    """Refuse a name that is not among the names of a kind of thing, and list these.

    Examples
    --------
    >>> check_named("column", "wieght", ["source", "target", "weight"])
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: there is no column 'wieght'; ... did you mean 'weight'?
    """
    known = list(names)
    if name not in known:
        listed = ", ".join(map(repr, known)) or "none"
        meant = did_you_mean(name, known)
        raise InvalidInputError(f"there is no {kind} {name!r}; there are {listed}{meant}")


def core_size(n: int, core: Any) -> int:
    """Return how many of n rows the core has: as given, a share of them, or the default.

    Parameters
    ----------
    n : int
        Number of rows.
    core : int, float or None
        A number of rows, a share between 0 and 1, or None for a tenth, at least 8.

    Examples
    --------
    >>> core_size(50, 8), core_size(50, 0.2), core_size(5, None)
    (8, 10, 5)
    """
    if core is None:
        return min(n, max(8, n // 10))
    if isinstance(core, float | np.floating):
        if not 0.0 < core < 1.0:
            raise InputTypeError(
                f"core must be an integer, or a share of the rows between 0 and 1, got {core!r}"
            )
        return min(n, max(1, round(core * n)))
    return check_integer(f"core (for n = {n})", core, 0, n)


def check_mmf_parameters(n: int, core: Any, k: Any, drop: Any) -> tuple[int, int, int]:
    """Return ``(core, k, drop)`` as ints if a matrix of order n can be factorized with them.

    The core is given as for `core_size`.

    Examples
    --------
    >>> check_mmf_parameters(34, core=8, k=8, drop=1)
    (8, 8, 1)
    """
    k = check_integer("k", k, minimum=2)
    drop = check_integer(f"drop (for k = {k})", drop, minimum=1, maximum=k - 1)
    return core_size(n, core), k, drop
