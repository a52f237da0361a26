"""Rounds of index selection on a large sparse matrix: many groups that do not overlap at once.

The matrix of a round is a CSR matrix in the original coordinates; rows that were dropped are
empty. The kernels work on a range of pivots or groups, so that threads can share a round.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .blocks import sparse_blocks
from .candidates import keep_best, wavelets_of
from .episode import SIGNIFICANT
from .listed import add_listed
from .local import complete_rotation, local_score

__all__ = ["pick_disjoint", "rotate_groups", "score_rows"]


@jit
def score_rows(
    indptr, indices, data, energy, k, drop,
    candidates, cosines, sizes, scores, neighbors, rows, first, last,
):  # fmt: skip
    """Score the pivots ``rows[first:last]``.

    ``candidates[p, :sizes[p]]`` becomes the pivot and the rows most correlated with it, best
    first, `cosines` their squared cosines with the pivot; the score is half the squared error that
    the best wavelet of the first k of them would add, `neighbors` the number of rows correlated
    with it.
    """
    n = indptr.size - 1
    workspace = np.zeros(n)
    store = (indices, data, indptr[:-1], np.diff(indptr))
    seen = np.empty(n, np.int64)
    best = np.empty(candidates.shape[1])
    for index in range(first, last):
        p = rows[index]
        count = _gram_row(p, indptr, indices, data, workspace, seen)
        group = candidates[p]
        group[0] = p
        size = 1
        near = 0
        for q in range(count):
            j = seen[q]
            squared = workspace[j] * workspace[j]
            workspace[j] = 0.0
            if j == p or squared < 1e-200 or energy[j] <= 0.0:
                continue
            relative = squared / energy[j]
            if relative > SIGNIFICANT * energy[p]:
                near += 1
            size = keep_best(best, group, size, relative, j)
        sizes[p] = size
        neighbors[p] = near
        cosines[p, 0] = 1.0
        for q in range(1, size):
            cosines[p, q] = best[q] / energy[p]
        members = group[: min(size, k)]
        gram, block = sparse_blocks(store, energy, members, workspace)
        wavelets = wavelets_of(members.size, drop)
        scores[p] = local_score(gram, block, wavelets)[0] / wavelets


@jit
def pick_disjoint(groups, sizes, n, limit):
    """Go through the groups and take those that meet none taken before, at most `limit`."""
    taken = np.zeros(n, np.bool_)
    picked = np.empty(limit, np.int64)
    count = 0
    for g in range(groups.shape[0]):
        if count == limit:
            break
        free = True
        for member in groups[g, : sizes[g]]:
            if taken[member]:
                free = False
                break
        if free:
            for member in groups[g, : sizes[g]]:
                taken[member] = True
            picked[count] = g
            count += 1
    return picked[:count]


@jit
def rotate_groups(
    indptr, indices, data, energy, groups, sizes, drops, anywhere, nearest,
    out_wavelets, out_blocks, first, last,
):  # fmt: skip
    """Closed-form rotations of the groups from `first` up to `last`; the matrix is not changed.

    Wavelets are the leading members of a group or, with `anywhere`, those they overlap most.
    """
    workspace = np.zeros(indptr.size - 1)
    store = (indices, data, indptr[:-1], np.diff(indptr))
    for g in range(first, last):
        size, count = sizes[g], drops[g]
        members = groups[g, :size]
        gram, block = sparse_blocks(store, energy, members, workspace)
        _, basis = local_score(gram, block, count)
        allowed = np.ones(size, np.bool_)
        if not anywhere:
            allowed[count:] = False
        rotation, places = complete_rotation(basis, count, allowed, nearest)
        out_blocks[g, :size, :size] = rotation
        out_wavelets[g, :count] = members[places]


@jit
def _gram_row(p, indptr, indices, data, workspace, seen):
    """Add up the rows of the neighbours of `p` in `workspace`; `seen` lists what was written."""
    count = 0
    for q in range(indptr[p], indptr[p + 1]):
        c = indices[q]
        weight = data[q]
        for z in range(indptr[c], indptr[c + 1]):
            count = add_listed(workspace, seen, count, indices[z], weight * data[z])
    return count
