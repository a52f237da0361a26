"""Small pieces that the dense and the sparse greedy selection share."""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = [
    "CENTRED",
    "HEAVY",
    "ORTHOGONAL",
    "SHIFTED",
    "among",
    "comparable",
    "insert_sorted",
    "keep_best",
    "offer",
    "pair_cost",
    "same_members",
    "wavelets_of",
]

#: Partners of a pivot are ranked by how parallel their rows are to its row, with the diagonal that
#: `wavemmf.kernels.centre` gave the matrix and with a diagonal of mean zero; and by what they have
#: in common with it, however long they are.
SHIFTED, CENTRED, HEAVY = 0, 1, 2
#: Rows whose squared cosine is below this count as orthogonal.
ORTHOGONAL = 1e-24

# Differences of scores below this are rounding: the entries of all matrices are around one.
_RESOLUTION = 2.0**-46
# Multiplying by this and taking it back keeps the leading 29 binary digits of a number.
_SPLIT = 2.0**24 + 1.0

# Few pairs need more than five; near a tie of two solutions convergence is slow.
_PAIR_STEPS = 40


@jit
def wavelets_of(size, drop):
    """A group smaller than asked for drops all but one of its rows (or its only row)."""
    return min(drop, max(size - 1, 1))


@jit
def comparable(score):
    """The score to nine digits: what is equal in exact arithmetic is equal here too."""
    coarse = np.floor(score / _RESOLUTION + 0.5) * _RESOLUTION
    product = coarse * _SPLIT
    return product - (product - coarse)


@jit
def insert_sorted(keys, members, position, key, member):
    """Insert into a list sorted by decreasing key that begins after the pivot."""
    while position > 1 and keys[position - 1] < key:
        keys[position] = keys[position - 1]
        members[position] = members[position - 1]
        position -= 1
    keys[position] = key
    members[position] = member


@jit
def keep_best(keys, members, size, key, member):
    """Put a row into its place among the best, if it is one of them; returns how many there are."""
    last = members.size - 1
    if size <= last:
        insert_sorted(keys, members, size, key, member)
        size += 1
    elif key > keys[last]:
        insert_sorted(keys, members, last, key, member)
    return size


@jit
def offer(keys, candidates, lengths, measure, key, row):
    """Put a row into its place among the best by a measure, if it is one of them."""
    lengths[measure] = keep_best(
        keys[measure], candidates[measure], lengths[measure], comparable(key), row
    )


@jit
def among(group, size, row):
    """Whether `row` is one of the first `size` of a group."""
    for a in range(size):
        if group[a] == row:
            return True
    return False


@jit
def same_members(first, second, size):
    for a in range(size):
        found = False
        for b in range(size):
            if first[a] == second[b]:
                found = True
                break
        if not found:
            return False
    return True


@jit
def pair_cost(g11, g12, g22, a11, a12, a22, limit):
    """Half the squared error of the best wavelet of two rows; anything above if not below `limit`.

    With ``u = (cos 2t, sin 2t)`` for a wavelet at angle t, and the mean of the two diagonal entries
    taken out of the matrix, the residual of `wavemmf.kernels.local` is ``m + b.u - (r.u)^2``. Along
    r and across it that is a problem in ``x = |r.u| / |r|``, solved by repeating the step that
    is exact for the tangent of the square: it descends, and from one on it cannot miss the best.
    """
    mean = 0.5 * (a11 + a22)
    r1, r2 = 0.5 * (a11 - a22), a12
    b1 = 0.5 * (g11 - g22) - 2.0 * mean * r1
    b2 = g12 - 2.0 * mean * r2
    squared = r1 * r1 + r2 * r2
    middle = 0.5 * (g11 + g22) - mean * mean
    length = np.sqrt(b1 * b1 + b2 * b2)
    if middle - length - squared >= limit:
        return max(middle - length - squared, 0.0)
    if squared == 0.0:
        return max(middle - length, 0.0)
    radius = np.sqrt(squared)
    along = abs(b1 * r1 + b2 * r2) / radius
    across = abs(b2 * r1 - b1 * r2) / radius
    x = 1.0
    for _ in range(_PAIR_STEPS):
        pull = along + 2.0 * squared * x
        step = np.sqrt(pull * pull + across * across)
        if step == 0.0:
            break
        before = x
        x = pull / step
        if before - x < 1e-9:
            break
    y = np.sqrt(max(1.0 - x * x, 0.0))
    return max(middle - along * x - across * y - squared * x * x, 0.0)
