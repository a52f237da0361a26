"""Levels that set a node aside as it is: a basis that knows where a signal has spikes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations
from ..kernels.aside import choose_aside, inputs_of_levels
from ._tree import following

__all__ = ["aside_levels", "can_set_aside", "with_aside"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# What a choice costs beside a coefficient: it is said for coefficients that are not zero only, so
# it takes two to four bits where a coefficient takes eight to ten.
_PRICE = 0.4
# Every level is looked at again until nothing changes, which takes three to six sweeps.
_SWEEPS = 20


def can_set_aside(rotations: Rotations) -> bool:
    """Whether all levels rotate two coordinates and drop one of them."""
    single = np.diff(rotations.drop_offsets) == 1
    return bool((rotations.sizes == 2).all() and single.all())


def aside_levels(rotations: Rotations, signals: Floats, threshold: float) -> Integers:
    r"""Return for every level whether it rotates (0), or which coordinate it sets aside (1, 2).

    A spike on one node spreads over all coarser wavelets. If the first level that meets it sets it
    aside, it is one coefficient, and nothing is left of it. The choices make

    .. math:: \sum_i \min(c_i^2, t^2) + 0.4 \, t^2 \, \#\{\text{levels that set a node aside}\}

    small, with the coefficients c of all signals: what is lost by leaving out coefficients below
    the threshold t, plus :math:`t^2` for each that is said and a part of it for each choice.

    Parameters
    ----------
    rotations : Rotations
        Levels of two coordinates that drop one; see `can_set_aside`.
    signals : array of shape (n, m)
        What the basis is to suit.
    threshold : float
        t, above 0.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.wavelets(wm.graphs.path(32), core=1)
    >>> spike = 10.0 * (np.arange(32) == 7)[:, None]
    >>> int(np.count_nonzero(aside_levels(f.rotations, spike, 1.0)))
    1
    """
    parents, slots = _parents(rotations)
    return np.asarray(
        choose_aside(
            rotations.blocks.reshape(-1, 4),
            _places(rotations),
            parents,
            slots,
            inputs_of_levels(rotations.groups, rotations.blocks, signals.copy()),
            float(threshold),
            _PRICE * float(threshold) ** 2,
            _SWEEPS,
        )
    )


def with_aside(rotations: Rotations, choices: Integers) -> Rotations:
    """Return the rotations in which some levels set a coordinate aside.

    Examples
    --------
    >>> r = Rotations.from_levels(2, [[0, 1]], [[[0.6, 0.8], [-0.8, 0.6]]], [[1]])
    >>> with_aside(r, np.array([1])).block(1)
    array([[0., 1.],
           [1., 0.]])
    """
    blocks = rotations.blocks.reshape(-1, 2, 2).copy()
    levels = np.flatnonzero(choices)
    dropped, places = choices[levels] - 1, _places(rotations)[levels]
    blocks[levels] = 0.0
    blocks[levels, places, dropped] = 1.0
    blocks[levels, 1 - places, 1 - dropped] = 1.0
    return replace(rotations, blocks=blocks.ravel())


def _places(rotations: Rotations) -> Integers:
    """Which of its two coordinates every level drops."""
    return np.asarray(rotations.groups[1::2] == rotations.wavelets, np.int64)


def _parents(rotations: Rotations) -> tuple[Integers, Integers]:
    """Return the level that takes what each level keeps, or -1, and as which of its coordinates."""
    pairs = rotations.groups.reshape(-1, 2)
    kept = 2 * np.arange(len(pairs)) + 1 - _places(rotations)
    after = following(rotations.groups)[kept]
    return np.where(after < 0, -1, after // 2), np.where(after < 0, 0, after % 2)
