"""Take noise out of signals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from ..factorization import Factorization
from ._check import as_signals, check_factorization
from ._threshold import noise_of, threshold
from ._tikhonov import STRENGTHS, Tikhonov

__all__ = ["denoise"]

Floats = npt.NDArray[np.float64]
_Denoiser = Callable[[Floats], Floats]

# Random directions along which the risk is estimated, and how far to go, beside the noise.
_PROBES = 4
_SHORT = 0.1


def denoise(
    x: Any,
    f: Factorization | Sequence[Factorization],
    method: str | float = "bayes",
    shrink: str = "soft",
    noise: Any = None,
    *,
    smooth: Any = None,
) -> Any:
    r"""Remove white noise from signals by thresholding their wavelet coefficients.

    Parameters
    ----------
    x : array of shape (n,) or (n, m), Series or DataFrame
        One noisy signal or m of them.
    f : Factorization or sequence of them
        The basis. Of several bases of the same graph the mean of all results is returned (cycle
        spinning): what one basis does at the edges of its wavelets, others do elsewhere.
    method, shrink, noise
        The rule, and the rest, as for `threshold`.
    smooth : graph or matrix, optional
        Smooth first, by :math:`s = (I + a L)^{-1} x` with the normalized Laplacian of the graph, or
        the given matrix (Tikhonov), and threshold only what is left, :math:`x - s`. The strength a
        is that of least risk, by Stein's estimate for the whole (Monte Carlo along a few random
        directions), for every signal; not to smooth at all is among the choices.

    Returns
    -------
    array of the shape of `x`, or Series or DataFrame with its index

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.grid(20, 20)
    >>> clean = np.repeat([0.0, 10.0], 200)
    >>> noisy = clean + np.random.default_rng(0).normal(size=400)
    >>> walks = [wm.select.Diffusion(balanced=balanced) for balanced in (True, False)]
    >>> bases = [wm.wavelets(graph, select=walk) for walk in walks]
    >>> found = [denoise(noisy, bases), denoise(noisy, bases, "sure", smooth=graph)]
    >>> errors = [np.linalg.norm(y - clean) for y in (noisy, *found)]
    >>> bool(max(errors[1:]) < 0.6 * errors[0])
    True
    """
    several = list(f) if isinstance(f, Iterable) else [f]
    if not several:
        raise InvalidInputError("denoise needs at least one factorization, got an empty sequence")
    for each in several:
        check_factorization(each)
    signals, labelled = as_signals(x, several[0])
    columns = signals.reshape(len(signals), -1)
    if smooth is None:
        found = _spun(several, columns, method, shrink, noise)
    else:
        # What is left after smoothing has less noise than there was: the level is that of x.
        level = np.mean([noise_of(each, each.analyze(columns), noise) for each in several], axis=0)
        found = _smoothed_first(
            Tikhonov(smooth, len(signals)),
            lambda y: _spun(several, y, method, shrink, level),
            columns,
            level,
        )
    return labelled(found.reshape(signals.shape))


def _spun(several: list[Factorization], x: Floats, method: Any, shrink: str, noise: Any) -> Floats:
    """Return the mean of what the bases make of the signals."""
    total = np.zeros_like(x)
    for each in several:
        total += each.synthesize(threshold(each, each.analyze(x), method, shrink, noise))
    return total / len(several)


def _smoothed_first(tikhonov: Tikhonov, thresholded: _Denoiser, x: Floats, level: Floats) -> Floats:
    """Return for every signal the result with the strength of least estimated risk."""
    best = thresholded(x)
    least = _risk(thresholded, best, x, level)
    for strength in STRENGTHS:
        smoother = tikhonov.smoother(strength)

        def denoised(y: Floats, smoother: _Denoiser = smoother) -> Floats:
            smooth = smoother(y)
            return smooth + thresholded(y - smooth)

        found = denoised(x)
        risk = _risk(denoised, found, x, level)
        best = np.where(risk < least, found, best)
        least = np.minimum(risk, least)
    return best


def _risk(denoised: _Denoiser, found: Floats, x: Floats, level: Floats) -> Floats:
    r"""Estimate the squared error of every signal, up to a constant.

    Stein: :math:`|x - F(x)|^2 + 2 \sigma^2 \operatorname{div} F`; the divergence is the mean of
    :math:`z^T (F(x + hz) - F(x)) / h` over random signs z (Ramani, Blu and Unser, 2008).
    """
    rng = np.random.default_rng(0)
    short = np.where(level > 0.0, _SHORT * level, 1.0)
    divergence = np.zeros(x.shape[1])
    for _ in range(_PROBES):
        signs = rng.choice([-1.0, 1.0], size=(len(x), 1))
        divergence += (signs * (denoised(x + short * signs) - found)).sum(axis=0) / short
    return np.asarray(((x - found) ** 2).sum(axis=0) + 2.0 * level**2 * divergence / _PROBES)
