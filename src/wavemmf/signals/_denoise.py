"""Take noise out of signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from ..factorization import Factorization
from ._check import as_signals, check_factorization
from ._threshold import threshold

__all__ = ["denoise"]


def denoise(
    x: npt.ArrayLike,
    f: Factorization | Sequence[Factorization],
    method: str | float = "bayes",
    shrink: str = "soft",
    noise: Any = None,
) -> npt.NDArray[np.float64]:
    """Remove white noise from signals by thresholding their wavelet coefficients.

    Parameters
    ----------
    x : array of shape (n,) or (n, m)
        One noisy signal or m of them.
    f : Factorization or sequence of them
        The basis. Of several bases of the same graph the mean of all results is returned (cycle
        spinning): what one basis does at the edges of its wavelets, others do elsewhere.
    method, shrink, noise
        The rule, and the rest, as for `threshold`.

    Returns
    -------
    array of the shape of `x`

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.grid(20, 20)
    >>> clean = np.repeat([0.0, 10.0], 200)
    >>> noisy = clean + np.random.default_rng(0).normal(size=400)
    >>> bases = [wm.wavelets(graph, select=wm.select.Diffusion(time=t)) for t in (2, 4)]
    >>> errors = [np.linalg.norm(y - clean) for y in (noisy, denoise(noisy, bases))]
    >>> bool(errors[1] < 0.6 * errors[0])
    True
    """
    several = [f] if isinstance(f, Factorization) else list(f)
    if not several:
        raise InvalidInputError("denoise needs at least one factorization, got an empty sequence")
    for each in several:
        check_factorization(each)
    signals, labelled = as_signals(x, several[0])
    total = np.zeros_like(signals)
    for each in several:
        total += each.synthesize(threshold(each, each.analyze(signals), method, shrink, noise))
    return labelled(total / len(several))
