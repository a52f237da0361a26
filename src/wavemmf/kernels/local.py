"""The k-by-k problem inside one level: which rotation, and which of its rows become wavelets.

For a group I of active rows let ``gram = A[I, S] A[S, I]`` and ``block = A[I, I]``. If the rows of
an orthogonal matrix are eigenvectors of `gram` with eigenvalues w, and the set T of them is
dropped, the squared error grows by ``2 * (sum_T w - ||R_TT||^2)`` with R the rotated block,
provided R_TT is made diagonal afterwards by a rotation inside T, which costs nothing.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["complete_rotation", "local_score", "nearest_survivors", "smallest_cost"]

# More than enough: Jacobi's method converges quadratically.
_SWEEPS = 12
# Scores only rank groups: entries below this share of the trace need not be rotated away.
_NEGLIGIBLE = 1e-9


@jit
def local_score(gram, block, drop):
    """Return half the squared error of the best `drop` wavelets, their eigenvectors, and which.

    The wavelets are picked one after the other, each with the smallest true residual given those
    already picked. Eigenvectors are columns.
    """
    size = gram.shape[0]
    values, vectors = np.linalg.eigh(gram)
    rotated = vectors.T @ (block @ vectors)
    chosen = np.empty(drop, np.int64)
    free = np.ones(size, np.bool_)
    score = 0.0
    for position in range(drop):
        best = np.inf
        pick = -1
        for e in range(size):
            if free[e]:
                cost = values[e] - rotated[e, e] * rotated[e, e]
                for q in range(position):
                    cost -= 2.0 * rotated[e, chosen[q]] * rotated[e, chosen[q]]
                if cost < best or pick < 0:
                    best = cost
                    pick = e
        chosen[position] = pick
        free[pick] = False
        score += best
    return max(score, 0.0), vectors, chosen


@jit
def smallest_cost(gram, block):
    """What `local_score` returns first for a single wavelet, several times faster.

    Jacobi rotations in place of a library call, whose overhead is most of its time at this size.
    """
    size = gram.shape[0]
    work = gram.copy()
    rows = np.zeros((size, size))
    trace = 0.0
    for a in range(size):
        rows[a, a] = 1.0
        trace += gram[a, a]
    for _ in range(_SWEEPS):
        if not _jacobi_sweep(work, rows, _NEGLIGIBLE * trace):
            break
    best = np.inf
    for e in range(size):
        diagonal = 0.0
        for a in range(size):
            total = 0.5 * block[a, a] * rows[e, a]
            for b in range(a):
                total += block[a, b] * rows[e, b]
            diagonal += rows[e, a] * total
        best = min(best, work[e, e] - 4.0 * diagonal * diagonal)
    return max(best, 0.0)


@jit
def _jacobi_sweep(work, rows, negligible):
    """Rotate away every entry above the diagonal once; whether there was one to rotate away."""
    size = work.shape[0]
    found = False
    for p in range(size - 1):
        for q in range(p + 1, size):
            if abs(work[p, q]) > negligible:
                found = True
                _jacobi_rotation(work, rows, p, q)
    return found


@jit
def _jacobi_rotation(work, rows, p, q):
    """Rotate away the entry (p, q); only the upper triangle of `work` is kept."""
    off = work[p, q]
    half = 0.5 * (work[q, q] - work[p, p])
    longer = abs(half) + np.sqrt(half * half + off * off)
    scale = 1.0 / np.sqrt(longer * longer + off * off)
    c = longer * scale
    s = off * scale if half >= 0.0 else -off * scale
    shift = off * off / longer if half >= 0.0 else -off * off / longer
    work[p, p] -= shift
    work[q, q] += shift
    work[p, q] = 0.0
    size = work.shape[0]
    for a in range(p):
        x, y = work[a, p], work[a, q]
        work[a, p] = c * x - s * y
        work[a, q] = s * x + c * y
    for a in range(p + 1, q):
        x, y = work[p, a], work[a, q]
        work[p, a] = c * x - s * y
        work[a, q] = s * x + c * y
    for a in range(q + 1, size):
        x, y = work[p, a], work[q, a]
        work[p, a] = c * x - s * y
        work[q, a] = s * x + c * y
    for a in range(size):
        x, y = rows[p, a], rows[q, a]
        rows[p, a] = c * x - s * y
        rows[q, a] = s * x + c * y


@jit
def complete_rotation(vectors, chosen, block, allowed, nearest):
    """Turn eigenvectors into a rotation: rows in coordinate order, wavelets on their coordinates.

    Parameters
    ----------
    vectors : (m, m) eigenvectors as columns.
    chosen : (c,) which of them are wavelets.
    block : (m, m) the block ``A[I, I]``.
    allowed : (m,) bool, the coordinates that may carry a wavelet (at least c of them).
    nearest : bool
        Whether the surviving rows are those closest to the coordinate axes instead of
        the other eigenvectors.

    Returns
    -------
    rotation : (m, m), determinant one unless every row is a wavelet
    positions : (c,) the coordinates of the wavelets, ascending
    """
    size = vectors.shape[0]
    drop = chosen.size
    wavelets = _diagonalize_inside(vectors, chosen, block)
    rotation = np.empty((size, size))
    taken = np.zeros(size, np.bool_)
    positions = np.empty(drop, np.int64)
    placed = np.zeros(drop, np.bool_)
    for step in range(drop):
        row, where = _largest_overlap(wavelets, placed, taken, allowed)
        placed[row] = True
        taken[where] = True
        positions[step] = where
        sign = -1.0 if wavelets[row, where] < 0.0 else 1.0
        for j in range(size):
            rotation[where, j] = sign * wavelets[row, j]
    positions.sort()
    survivors = np.empty((size - drop, size))
    count = 0
    for e in range(size):
        if not _contains(chosen, e):
            survivors[count] = vectors[:, e]
            count += 1
    if not (nearest and nearest_survivors(rotation, positions, taken)):
        _place_survivors(rotation, survivors, taken)
    if drop < size and np.linalg.det(rotation) < 0.0:
        for where in range(size - 1, -1, -1):
            if not _contains(positions, where):
                for j in range(size):
                    rotation[where, j] = -rotation[where, j]
                break
    return rotation, positions


@jit
def _diagonalize_inside(vectors, chosen, block):
    """Rows spanning the chosen eigenvectors, turned so that the block is diagonal on them."""
    drop = chosen.size
    size = vectors.shape[0]
    rows = np.empty((drop, size))
    for q in range(drop):
        rows[q] = vectors[:, chosen[q]]
    if drop == 1:
        return rows
    inner = rows @ (block @ np.ascontiguousarray(rows.T))
    for a in range(drop):
        for b in range(a):
            value = 0.5 * (inner[a, b] + inner[b, a])
            inner[a, b] = value
            inner[b, a] = value
    _, turn = np.linalg.eigh(inner)
    return np.ascontiguousarray(turn.T) @ rows


@jit
def _largest_overlap(rows, placed, taken, allowed):
    best = -1.0
    pick = -1
    where = -1
    for q in range(rows.shape[0]):
        if not placed[q]:
            for j in range(rows.shape[1]):
                if allowed[j] and not taken[j] and abs(rows[q, j]) > best:
                    best = abs(rows[q, j])
                    pick = q
                    where = j
    return pick, where


@jit
def _place_survivors(rotation, survivors, taken):
    """Put each surviving eigenvector on the free coordinate it overlaps most, best match first."""
    count = survivors.shape[0]
    placed = np.zeros(count, np.bool_)
    occupied = taken.copy()
    everywhere = np.ones(survivors.shape[1], np.bool_)
    for _ in range(count):
        row, where = _largest_overlap(survivors, placed, occupied, everywhere)
        placed[row] = True
        occupied[where] = True
        sign = -1.0 if survivors[row, where] < 0.0 else 1.0
        for j in range(survivors.shape[1]):
            rotation[where, j] = sign * survivors[row, j]


@jit
def nearest_survivors(rotation, positions, taken):
    """Fill the other rows with the orthonormal completion closest to the identity.

    The polar factor of the coordinate axes projected away from the wavelets. Returns False, and
    leaves the rows alone, when that projection is too close to singular to be trusted.
    """
    size = rotation.shape[0]
    rest = np.empty(size - positions.size, np.int64)
    count = 0
    for j in range(size):
        if not taken[j]:
            rest[count] = j
            count += 1
    projected = np.zeros((count, size))
    for a in range(count):
        projected[a, rest[a]] = 1.0
        for q in range(positions.size):
            weight = rotation[positions[q], rest[a]]
            for j in range(size):
                projected[a, j] -= weight * rotation[positions[q], j]
    if count == 0:
        return True
    values, vectors = np.linalg.eigh(projected @ np.ascontiguousarray(projected.T))
    if values[0] < 1e-3:
        return False
    scaled = vectors / np.sqrt(values)
    polar = (scaled @ np.ascontiguousarray(vectors.T)) @ projected
    for a in range(count):
        rotation[rest[a]] = polar[a]
    return True


@jit
def _contains(values, wanted):
    for value in values:
        if value == wanted:
            return True
    return False
