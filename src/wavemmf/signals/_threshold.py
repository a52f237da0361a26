"""Set small wavelet coefficients to zero: how small, without knowing the clean signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_choice
from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization
from ._bands import bands
from ._check import as_signals

__all__ = ["RULES", "SHRINKS", "noise_level", "noise_of", "threshold"]

Floats = npt.NDArray[np.float64]

RULES = ("universal", "sure", "bayes")
SHRINKS = ("soft", "hard")

# Median of the magnitude of a standard normal variable.
_NORMAL_MEDIAN = 0.6744897501960817
# So many times the largest coefficient, noise is all there is, and its square is still a number.
_ALL_NOISE = 1e100


def noise_level(f: Factorization, coefficients: Any) -> Any:
    """Estimate the standard deviation of white noise from the finest wavelets.

    There signals have few large coefficients, which the median does not see: it is the median of
    the magnitudes in the finest band, divided by 0.6745.

    Parameters
    ----------
    f : Factorization
        The basis.
    coefficients : array of shape (n,) or (n, m), Series or DataFrame
        Wavelet coefficients of noisy signals.

    Returns
    -------
    float, or array of shape (m,)

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.grid(20, 20))
    >>> noise = np.random.default_rng(0).normal(scale=3.0, size=400)
    >>> bool(2.5 < noise_level(f, f.analyze(noise)) < 3.5)
    True
    """
    values, _ = as_signals(coefficients, f)
    finest = values[bands(f) == 0]
    if not len(finest):
        raise InvalidInputError(
            "all rows are in the core: there are no wavelets to take noise from"
        )
    levels = np.median(np.abs(finest), axis=0) / _NORMAL_MEDIAN
    return float(levels) if values.ndim == 1 else levels


def threshold(
    f: Factorization,
    coefficients: Any,
    rule: str | float = "bayes",
    shrink: str = "soft",
    noise: Any = None,
) -> Any:
    r"""Set small wavelet coefficients to zero; those of the core stay as they are.

    Parameters
    ----------
    f : Factorization
        The basis.
    coefficients : array of shape (n,) or (n, m), Series or DataFrame
        What ``f.analyze`` gave; signals are treated one by one.
    rule : {"bayes", "sure", "universal"} or float
        How the threshold is chosen, with the noise level :math:`\sigma`: "universal" takes
        :math:`\sigma \sqrt{2 \log n}` for all; "sure" the value of least Stein's unbiased risk for
        soft thresholding, for each band of wavelets; "bayes" takes
        :math:`\sigma^2 / \sqrt{\max(0, \overline{c^2} - \sigma^2)}` for each band, all of it being
        set to zero if nothing is above the noise. Or a number, the threshold itself.
    shrink : {"soft", "hard"}
        Move what is larger towards zero by the threshold, or keep it as it is.
    noise : float or array of shape (m,), optional
        Standard deviation of the noise, if it is known; otherwise that of `noise_level`.

    Returns
    -------
    array of the shape of `coefficients`

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.path(8), core=2)
    >>> kept = threshold(f, np.full(8, 2.0), rule=0.5)
    >>> np.unique(kept)
    array([1.5, 2. ])
    """
    check_choice("shrink", shrink, SHRINKS)
    fixed = None if isinstance(rule, str) else _check_fixed(rule)
    if isinstance(rule, str):
        check_choice("rule", rule, RULES)
    values, labelled = as_signals(coefficients, f)
    columns = values.reshape(f.n, -1)
    band = bands(f)
    limits = np.zeros(columns.shape)
    if fixed is not None:
        limits[band >= 0] = fixed
    elif (band >= 0).any():
        limits = _limits(columns, band, noise_of(f, columns, noise), str(rule))
    size = np.abs(columns)
    if shrink == "soft":
        result = np.sign(columns) * np.maximum(size - limits, 0.0)
    else:
        result = np.where(size > limits, columns, 0.0)
    return labelled(result.reshape(values.shape))


def _check_fixed(rule: Any) -> float:
    allowed = f"one of {', '.join(map(repr, RULES))} or a finite number >= 0"
    try:
        number = float(rule)
    except (TypeError, ValueError):
        raise InputTypeError(f"rule must be {allowed}, got {rule!r}") from None
    except OverflowError:  # an integer beyond all floats
        number = np.inf
    if not (np.isfinite(number) and number >= 0.0):
        raise InvalidInputError(f"rule must be {allowed}, got {rule!r}")
    return number


def noise_of(f: Factorization, columns: Floats, noise: Any) -> Floats:
    """Return the noise level of every signal: the given one, or else that of `noise_level`."""
    if noise is None:
        return np.asarray(noise_level(f, columns))
    count = columns.shape[1]
    message = (
        f"noise must be a finite number >= 0, or one for each of {count} signals, got {noise!r}"
    )
    given = np.asarray(noise)
    if given.dtype.kind not in "buif":
        raise InputTypeError(message)
    if given.shape not in ((), (count,)) or not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidInputError(message)
    return np.broadcast_to(given.astype(np.float64), (count,))


def _limits(columns: Floats, band: Any, sigma: Floats, rule: str) -> Floats:
    """Return the threshold of every coefficient; zero in the core."""
    limits = np.zeros(columns.shape)
    # Powers of two, so dividing is exact: squares stay in range whatever the unit of a signal is.
    largest = np.abs(columns).max(axis=0)
    units = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1021, 1023))
    columns, sigma = columns / units, np.minimum(sigma / units, _ALL_NOISE)
    if rule == "universal":
        limits[band >= 0] = sigma * np.sqrt(2.0 * np.log(max(2, len(columns))))
    else:
        choose = _sure if rule == "sure" else _bayes
        for each in range(band.max() + 1):
            inside = band == each
            limits[inside] = choose(columns[inside], sigma)
    # More than the largest coefficient sets all to zero, as that does.
    return np.asarray(np.minimum(limits, largest / units) * units)


def _bayes(values: Floats, sigma: Floats) -> Floats:
    """One threshold per column: noise variance over signal deviation."""
    signal = np.sqrt(np.maximum(np.mean(values**2, axis=0) - sigma**2, 0.0))
    above = signal > 0.0
    limit = sigma**2 / np.where(above, signal, 1.0)
    largest: Floats = np.abs(values).max(axis=0)
    return np.where(above, np.minimum(limit, largest), largest)


def _sure(values: Floats, sigma: Floats) -> Floats:
    r"""One threshold per column, zero or one of the magnitudes, of least estimated risk.

    The risk of soft thresholding at t is estimated by
    ``sum(min(c^2, t^2)) + sigma^2 (n - 2 #{|c| <= t})``.
    """
    count = len(values)
    ranked = np.sort(np.abs(values), axis=0)
    candidates = np.concatenate([np.zeros((1, values.shape[1])), ranked])
    inside = np.arange(count + 1)[:, None]
    below = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(ranked**2, axis=0)])
    risk = below + (count - inside) * candidates**2 - 2.0 * inside * sigma**2
    best = np.argmin(risk, axis=0)
    limits: Floats = np.take_along_axis(candidates, best[None], axis=0)[0]
    return limits
