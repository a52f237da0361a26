"""Which wavelet is the parent of which."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..factorization import Rotations

__all__ = ["coarse_to_fine", "following"]

Integers = npt.NDArray[np.int64]


def following(groups: Integers) -> Integers:
    """Return for every position of `groups` the next one that holds the same coordinate, or -1.

    Examples
    --------
    >>> following(np.array([0, 1, 2, 1]))
    array([-1,  3, -1, -1])
    """
    order = np.argsort(groups, kind="stable")
    found = np.full(groups.size, -1, np.int64)
    again = groups[order[1:]] == groups[order[:-1]]
    found[order[:-1][again]] = order[1:][again]
    return found


def coarse_to_fine(rotations: Rotations) -> tuple[Integers, Integers]:
    """Return all coordinates, the core first and the finest wavelet last, and their parents.

    What survives the level that dropped a wavelet is rotated again at a later one: the first
    wavelet of the earliest such level is the parent, or the survivor itself if it is in the core.

    Returns
    -------
    order : array of shape (n,)
        Coordinates.
    parents : array of shape (n,)
        For each of them, in that order, the place of its parent in it; -1 if there is none.

    Examples
    --------
    >>> import wavemmf as wm
    >>> order, parents = coarse_to_fine(wm.wavelets(wm.graphs.path(8), core=1).rotations)
    >>> parents
    array([-1,  0,  1,  ...])
    """
    order = np.concatenate([rotations.core, rotations.wavelets[::-1]])
    place = np.empty(rotations.n, np.int64)
    place[order] = np.arange(rotations.n)
    above = _parent_coordinates(rotations)
    of_wavelets = np.repeat(above, np.diff(rotations.drop_offsets))[::-1]
    parents = np.full(rotations.n, -1, np.int64)
    known = of_wavelets >= 0
    parents[rotations.core.size :][known] = place[of_wavelets[known]]
    return order, parents


def _parent_coordinates(rotations: Rotations) -> Integers:
    """Return for every level the coordinate that was, or will be, its wavelets' parent; or -1."""
    levels = np.repeat(np.arange(rotations.num_levels), rotations.sizes)
    last_seen = np.full(rotations.n, rotations.num_levels, np.int64)
    last_seen[rotations.wavelets] = np.repeat(
        np.arange(rotations.num_levels), np.diff(rotations.drop_offsets)
    )
    survives = last_seen[rotations.groups] > levels
    after = following(rotations.groups)
    found = np.full(rotations.num_levels, -1, np.int64)
    # Written from the last position to the first, so that the first survivor counts.
    in_core = np.flatnonzero(survives & (after < 0))[::-1]
    found[levels[in_core]] = rotations.groups[in_core]
    # The earliest level comes last, for the same reason.
    goes_on = np.flatnonzero(survives & (after >= 0))
    goes_on = goes_on[np.argsort(-levels[after[goes_on]], kind="stable")]
    next_level = levels[after[goes_on]]
    has_wavelet = np.diff(rotations.drop_offsets)[next_level] > 0
    goes_on, next_level = goes_on[has_wavelet], next_level[has_wavelet]
    found[levels[goes_on]] = rotations.wavelets[rotations.drop_offsets[next_level]]
    return found
