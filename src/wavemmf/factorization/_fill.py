"""How much memory the basis takes, before it is computed."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np

from .._validation import check_memory
from ..errors import LargeResultWarning, TooLargeError
from ._rotations import Rotations

__all__ = ["check_basis_memory", "estimated_fill", "warn_of_large_basis"]

# While rows grow, an entry of 12 bytes is there with slack, in the old store and in the new one.
_BYTES_PER_ENTRY = 52
_BYTES_PER_ROW = 256
# Random numbers per coordinate, and how many standard errors are added to the estimate.
_NUMBERS = 32
_CAUTION = 4.0
# A basis with more entries than this (12 bytes each) is not made without a word.
_MANY = 50_000_000


def check_basis_memory(rotations: Rotations) -> None:
    """Raise TooLargeError if the basis may need more memory than there is.

    If not even a dense basis could be too large, that is all that is looked at.
    """
    n, widest = rotations.n, int(rotations.sizes.max(initial=1))
    fixed = float(n) * (_BYTES_PER_ROW + 16 * widest)
    what = f"the basis of {n} coordinates"
    try:
        check_memory(fixed + _BYTES_PER_ENTRY * float(n) ** 2, what)
    except TooLargeError:
        check_memory(fixed + 8.0 * n * _NUMBERS, what)  # for the estimate itself
        check_memory(fixed + _BYTES_PER_ENTRY * estimated_fill(rotations), what)


def estimated_fill(rotations: Rotations, seed: int = 0) -> float:
    """Return more non-zeros than the basis has, almost certainly, without computing it.

    Every coordinate gets random numbers, exponentially distributed. The smallest that a set of
    coordinates has tells how many they are, and those of a union are the smaller of both: so
    the levels are gone through with a few numbers in place of each row (Cohen, 1997).

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.grid(12, 12), core=10, k=3)
    >>> f.basis_nonzeros <= estimated_fill(f.rotations) <= 3 * f.basis_nonzeros
    True
    """
    caution = 1.0 + _CAUTION / float(np.sqrt(_NUMBERS - 2))
    return min(_expected_fill(rotations, seed) * caution, float(rotations.n) ** 2)


def warn_of_large_basis(rotations: Rotations) -> None:
    """Say how many entries the basis will have if they are very many."""
    if float(rotations.n) ** 2 <= _MANY:
        return
    expected = _expected_fill(rotations)
    if expected > _MANY:
        warnings.warn(
            f"the basis has about {expected / 1e6:.0f} million entries "
            f"({12 * expected / 2**30:.1f} GiB), {expected / rotations.n**2:.0%} of a dense one; "
            "analyze and synthesize need none of them",
            LargeResultWarning,
            stacklevel=3,
        )


def _expected_fill(rotations: Rotations, seed: int = 0) -> float:
    least = np.random.default_rng(seed).exponential(size=(rotations.n, _NUMBERS))
    offsets = rotations.offsets.tolist()
    for first, last in pairwise(offsets):
        group = rotations.groups[first:last]
        least[group] = least[group].min(axis=0)
    sizes = (_NUMBERS - 1) / least.sum(axis=1)
    return float(np.minimum(sizes, rotations.n).sum())
