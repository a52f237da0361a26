"""Greedy selection on many small matrices in one call."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .compress import compress_dense
from .greedy_dense import Choice, greedy_levels
from .rotate import TILE

__all__ = ["greedy_many", "small_gram"]

_NO_GROUPS = np.zeros((0, 1), np.int64)
_NO_SIZES = np.zeros(0, np.int64)


@jit
def greedy_many(
    matrices, orders, cores, k, drop, exhaustive, first_kind, last_kind, rng,
    out_levels, out_sizes, out_groups, out_blocks, out_drops, out_wavelets,
):  # fmt: skip
    """Choose indices and rotations for matrices of entries around one, all back to back.

    Matrix g has ``orders[g]`` rows and keeps ``cores[g]``. The kinds of survivors tried run from
    `first_kind` to `last_kind` (0 eigenvectors, 1 nearest); the smaller error wins. A pair has one
    survivor, of one kind: then the second try breaks ties the other way, from the last row on.
    ``out_levels[g]`` is the number of its levels. Its sizes, drops and wavelets start at the sum of
    ``order - core`` over the matrices before, its groups at k times that, its blocks at k^2 times.
    """
    entry = 0
    place = 0
    for g in range(orders.size):
        n, core = orders[g], cores[g]
        matrix = matrices[entry : entry + n * n].reshape((n, n))
        most = n - core  # every level drops at least one row
        best = np.inf
        for kind in range(first_kind, last_kind + 1):
            record = (
                np.empty((most, k), np.int64),
                np.empty(most, np.int64),
                np.empty((most, drop), np.int64),
                np.empty(most, np.int64),
                np.empty((most, k, k)),
            )
            choice = Choice(drop, exhaustive, kind == 1, 0.0, 0.0)
            mirrored = k == 2 and kind > first_kind
            source = matrix[::-1, ::-1].copy() if mirrored else matrix
            levels = _run(source, core, choice, rng, record)
            if mirrored:
                record[0][:levels] = n - 1 - record[0][:levels]
                record[2][:levels] = n - 1 - record[2][:levels]
            packed = _pack(levels, record)
            error = _squared_error(matrix, core, packed) if first_kind < last_kind else 0.0
            if error < best:
                best = error
                out_levels[g] = levels
                sizes, groups, blocks, drops, wavelets = packed
                out_sizes[place : place + levels] = sizes
                out_drops[place : place + levels] = drops
                out_wavelets[place : place + most] = wavelets
                out_groups[place * k : place * k + groups.size] = groups
                out_blocks[place * k * k : place * k * k + blocks.size] = blocks
        entry += n * n
        place += most


@jit
def _run(matrix, core, choice, rng, record):
    n = matrix.shape[0]
    k = record[0].shape[1]
    work = matrix.copy()
    gram = small_gram(work)
    energy = np.diag(gram).copy()
    groups, sizes, drops = np.zeros((n, k), np.int64), np.zeros(n, np.int64), np.ones(n, np.bool_)
    _, levels = greedy_levels(
        work, gram, energy, np.arange(n), groups, sizes, np.zeros(n), drops, n, core, choice, rng,
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
    groups = np.empty(sizes.sum(), np.int64)
    blocks = np.empty((sizes * sizes).sum())
    wavelets = np.empty(drops.sum(), np.int64)
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
    position = np.full(n, -1, np.int64)
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
    for size in sizes:
        largest = max(largest, size)
    added = compress_dense(
        work, _offsets(sizes), position[groups], _offsets(sizes * sizes), blocks, _offsets(drops),
        np.empty((largest, TILE)), np.empty(n, np.int64),
    )  # fmt: skip
    return added.sum()


@jit
def _offsets(lengths):
    result = np.zeros(lengths.size + 1, np.int64)
    result[1:] = np.cumsum(lengths)
    return result
