"""Curves: how an optimisation went, what a policy learned, where the frequencies are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_integer
from ..errors import InvalidInputError
from ..factorization import Factorization
from ._canvas import BLUE, ORANGE, axes_or_new, tidy

__all__ = ["convergence", "sparse_approximation", "spectrum", "training"]


def convergence(f: Factorization, ax: Any = None, against: str = "step", label: str = "") -> Any:
    """Draw the error along an optimisation.

    Parameters
    ----------
    f : Factorization
        With a history, as `wavemmf.factorize` returns it with ``optimize=``.
    ax : Axes, optional
        Where to draw; new axes by default.
    against : {"step", "seconds"}
        What is on the horizontal axis.
    label : str
        For a legend.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4, optimize="lbfgs", steps=20)
    >>> convergence(f).get_ylabel()
    'error in the Frobenius norm'
    """
    errors = np.array(f.history.errors)
    if errors.size < 2:
        raise InvalidInputError("there is no history to draw: factorize with optimize=")
    if against not in ("step", "seconds"):
        raise InvalidInputError(f"against must be step or seconds, got {against!r}")
    x = np.arange(errors.size) if against == "step" else np.array(f.history.seconds)
    ax = axes_or_new(ax)
    ax.plot(x, errors, color=None if label else BLUE, label=label or None)
    if errors.min() > 0:
        ax.set_yscale("log")
    ax.set_xlabel(against)
    ax.set_ylabel("error in the Frobenius norm")
    tidy(ax)
    return ax


def training(history: Any, ax: Any = None, window: int = 50) -> Any:
    """Draw the errors of the episodes a policy was trained with, and their running mean.

    Parameters
    ----------
    history : TrainingHistory
        ``policy.history`` of a trained policy.
    ax : Axes, optional
        Where to draw; new axes by default.
    window : int
        Episodes that the running mean covers.

    Returns
    -------
    Axes
    """
    errors = np.asarray(history.errors, dtype=np.float64)
    if errors.size == 0:
        raise InvalidInputError("there is no history to draw: the policy was not trained")
    width = min(check_integer("window", window, 1), errors.size)
    ax = axes_or_new(ax)
    ax.plot(errors, ".", color="0.75", markersize=2, label="episode")
    mean = np.convolve(errors, np.full(width, 1.0 / width), mode="valid")
    ax.plot(np.arange(width - 1, errors.size), mean, color=ORANGE, label=f"mean of {width}")
    ax.set_xlabel("episode")
    ax.set_ylabel("error in the Frobenius norm")
    ax.legend(frameon=False)
    tidy(ax)
    return ax


def spectrum(f: Factorization, ax: Any = None) -> Any:
    """Draw the frequency of every wavelet against the level that set it aside.

    Lines at the end are the eigenvalues of the core.

    Parameters
    ----------
    f : Factorization
        What to draw.
    ax : Axes, optional
        Where; new axes by default.

    Returns
    -------
    Axes
    """
    ax = axes_or_new(ax)
    r = f.rotations
    levels = np.repeat(np.arange(1, f.num_levels + 1), np.diff(r.drop_offsets))
    ax.plot(levels, f.frequencies[r.wavelets], ".", color=BLUE, markersize=4, label="wavelets")
    if f.core_size:
        end = f.num_levels * 1.04 + 1
        values = f.h.spectrum.values[f.core_indices]
        ax.plot(np.full(values.size, end), values, "_", color=ORANGE, markersize=12, label="core")
    ax.set_xlabel("level")
    ax.set_ylabel("frequency")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)  # above
    tidy(ax)
    return ax


def sparse_approximation(
    f: Factorization, values: npt.ArrayLike, ax: Any = None, label: str = "wavelets"
) -> Any:
    """Draw what is left of a signal without all but its largest coefficients.

    Parameters
    ----------
    f : Factorization
        Gives the basis.
    values : array of shape (n,)
        The signal.
    ax : Axes, optional
        Where to draw; new axes by default.
    label : str
        For the legend; the signal's own entries are drawn beside it.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.grid(6, 6), core=9, k=4)
    >>> sparse_approximation(f, np.arange(36.0)).get_xlabel()
    'coefficients kept'
    """
    x = np.asarray(values, dtype=np.float64)
    if x.shape != (f.n,):
        raise InvalidInputError(f"the signal must have shape ({f.n},), got {x.shape}")
    norm = float(np.linalg.norm(x))
    if norm == 0.0:
        raise InvalidInputError("the signal is zero: nothing to approximate")
    ax = axes_or_new(ax)
    ax.plot(_left(f.analyze(x)) / norm, color=BLUE, label=label)
    ax.plot(_left(x) / norm, "--", color="0.5", label="entries of the signal")
    ax.set_xlabel("coefficients kept")
    ax.set_ylabel("relative error")
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)  # above
    tidy(ax)
    return ax


def _left(coefficients: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the norm of what is left out if 0, 1, 2, ... largest coefficients are kept."""
    squares = np.sort(np.abs(coefficients.astype(np.float64)))[::-1] ** 2
    # Summed from the smallest on: differences would lose what is small beside the whole.
    left = np.concatenate([np.cumsum(squares[::-1])[::-1], [0.0]])
    norms: npt.NDArray[np.float64] = np.sqrt(left)
    return norms
