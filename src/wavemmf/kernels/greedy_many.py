"""Greedy selection on many small matrices in one call."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import diagonal, numbers, offsets_of, put, taken_from
from .canonical import canonical_order, dense_to_csr, row_values, shuffled
from .centre import add_to_diagonal, centre_dense
from .compress import compress_dense
from .greedy_dense import Choice, greedy_levels
from .noise import seeded
from .rotate import TILE

__all__ = ["greedy_many", "small_gram"]

_NO_GROUPS = np.zeros((0, 1), np.int64)
_NO_SIZES = np.zeros(0, np.int64)


# Strength of the noise on the scores of the last tries; how many there are, and for matrices of
# few rows, where they cost next to nothing.
_NOISE = 0.05
_NOISY_TRIES = 2
_NOISY_TRIES_IF_FEW = 4
_FEW = 32


@jit
def greedy_many(
    matrices, orders, cores, k, drop, exhaustive, eigenvectors, nearest,
    out_levels, out_sizes, out_groups, out_blocks, out_drops, out_wavelets,
):  # fmt: skip
    """Choose indices and rotations for matrices of entries around one, all back to back.

    Matrix g has ``orders[g]`` rows and keeps ``cores[g]``. Survivors are `eigenvectors`, or
    `nearest` to the axes, or both are tried (a pair has one survivor, which is both). `_attempt`
    lists what is tried; the smallest error wins. ``out_levels[g]`` is the number of levels. Sizes,
    drops and wavelets start at the sum of ``order - core`` over the matrices before, groups at k
    times that, blocks at k^2 times.
    """
    entry = 0
    place = 0
    for g in range(orders.size):
        n, core = orders[g], cores[g]
        centred = matrices[entry : entry + n * n].copy().reshape((n, n))
        _, shift = centre_dense(centred)
        sparse = dense_to_csr(centred)
        order = shuffled(canonical_order(*sparse, row_values(*sparse)), 0)
        matrix = _reordered(centred, order)
        most = n - core  # every level drops at least one row
        best = np.inf
        for attempt in range(3 + (_NOISY_TRIES_IF_FEW if n <= _FEW else _NOISY_TRIES)):
            if attempt == 0 and not nearest:
                continue
            if attempt > 0 and not eigenvectors:
                break
            record = (
                np.empty((most, k), np.int64),
                np.empty(most, np.int64),
                np.empty((most, drop), np.int64),
                np.empty(most, np.int64),
                np.empty((most, k, k)),
            )
            choice, moved = _attempt(attempt, drop, exhaustive, shift)
            levels = _run(matrix, moved, core, choice, seeded(attempt), record)
            packed = _pack(levels, record)
            error = _squared_error(matrix, core, packed)
            if error < best * (1.0 - 1e-9):  # of equals the first
                best = error
                out_levels[g] = levels
                sizes, groups, blocks, drops, wavelets = packed
                put(out_sizes, place, sizes)
                put(out_drops, place, drops)
                put(out_wavelets, place, taken_from(order, wavelets))
                put(out_groups, place * k, taken_from(order, groups))
                put(out_blocks, place * k * k, blocks)
        entry += n * n
        place += most


@jit
def _reordered(matrix, order):
    n = order.size
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = matrix[order[i], order[j]]
    return result


@jit
def _attempt(attempt, drop, exhaustive, shift):
    """How a try chooses, and what it adds to the diagonal.

    The first has survivors nearest to the axes; then eigenvectors, the same with half of the shift
    and without the rows that wavelets do not use, and tries with a little noise on their scores,
    which also breaks ties in other ways. The last two of those have half and twice the shift.
    """
    noise = _NOISE if attempt > 2 else 0.0
    moved = 0.0
    if attempt == 2 or attempt == 5:
        moved = -0.5 * shift
    elif attempt == 6:
        moved = shift
    return Choice(drop, exhaustive, attempt == 0, noise, 0.0, shift + moved, attempt == 2), moved


@jit
def _run(matrix, moved, core, choice, rng, record):
    n = matrix.shape[0]
    k = record[0].shape[1]
    work = matrix.copy()
    add_to_diagonal(work, moved)
    gram = small_gram(work)
    energy = diagonal(gram)
    groups, sizes, drops = np.zeros((n, k), np.int64), np.zeros(n, np.int64), np.ones(n, np.bool_)
    _, levels = greedy_levels(
        work, gram, energy, numbers(n), groups, sizes, np.zeros(n), drops, n, core, choice, rng,
        _NO_GROUPS, _NO_SIZES, *record, 0, n,
    )  # fmt: skip
    return levels


@jit
def small_gram(matrix):
    """The square of a symmetric matrix, with the same bits wherever it is called from."""
    n = matrix.shape[0]
    gram = np.zeros((n, n))
    for i in range(n):
        row = gram[i]
        for j in range(n):
            weight = matrix[i, j]
            if weight != 0.0:
                other = matrix[j]
                for c in range(n):
                    row[c] += weight * other[c]
    return gram


@jit
def _pack(levels, record):
    """Sizes, groups, blocks, drops and wavelets of all levels, back to back."""
    all_groups, all_sizes, all_wavelets, all_drops, all_blocks = record
    sizes, drops = all_sizes[:levels].copy(), all_drops[:levels].copy()
    rows = entries = dropped = 0
    for level in range(levels):
        rows += sizes[level]
        entries += sizes[level] * sizes[level]
        dropped += drops[level]
    groups = np.empty(rows, np.int64)
    blocks = np.empty(entries)
    wavelets = np.empty(dropped, np.int64)
    g = b = w = 0
    for level in range(levels):
        for a in range(sizes[level]):
            groups[g] = all_groups[level, a]
            g += 1
            for c in range(sizes[level]):
                blocks[b] = all_blocks[level, a, c]
                b += 1
        for q in range(drops[level]):
            wavelets[w] = all_wavelets[level, q]
            w += 1
    return sizes, groups, blocks, drops, wavelets


@jit
def _squared_error(matrix, core, packed):
    sizes, groups, blocks, drops, wavelets = packed
    n = matrix.shape[0]
    position = np.empty(n, np.int64)
    for i in range(n):
        position[i] = -1
    for q in range(wavelets.size):
        position[wavelets[q]] = n - 1 - q
    count = 0
    for i in range(n):
        if position[i] < 0:
            position[i] = count
            count += 1
    work = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            work[position[i], position[j]] = matrix[i, j]
    largest = 1
    entries = np.empty(sizes.size, np.int64)
    for level in range(sizes.size):
        largest = max(largest, sizes[level])
        entries[level] = sizes[level] * sizes[level]
    added = compress_dense(
        work, offsets_of(sizes), taken_from(position, groups), offsets_of(entries), blocks,
        offsets_of(drops), np.empty((largest, TILE)), np.empty(n, np.int64),
    )  # fmt: skip
    total = 0.0
    for level in range(added.size):
        total += added[level]
    return total
