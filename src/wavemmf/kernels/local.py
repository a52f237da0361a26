"""The k-by-k problem inside one level: which wavelets, and which rotation takes rows to them.

For a group I of active rows let ``B = A[I, S] A[S, I]`` (`gram`) and ``R = A[I, I]`` (`block`). A
unit vector w that becomes a wavelet adds twice

    w^T B w - (w^T R w)^2  =  min over rho of  w^T (B - 2 rho R + rho^2 I) w

to the squared error: the Gram matrix of ``A - rho I``, at the wavelet's own frequency. So the best
wavelet is the eigenvector of the smallest eigenvalue of that matrix, for the rho at which
this eigenvalue is smallest: a problem in one number, which does not notice if a multiple of
the identity is added to A. Its other eigenvectors are the rows that survive.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .arrays import copy_into, identity, marked
from .eigen import diagonalize, symmetric_eigen
from .small import congruence, product, products

__all__ = ["complete_rotation", "local_score", "quick_score", "quick_wavelet"]

# Scores only rank groups: entries below this share of the trace need not be rotated away.
_NEGLIGIBLE = 1e-9
# Costs and overlaps that differ by less than this, relative to their scale, count as equal.
_EQUAL = 1e-10
# Steps to the best frequency. Newton's method: most groups need three.
_STEPS = 12


@jit
def local_score(gram, block, drop):
    """Half the squared error of the best `drop` wavelets, and a basis that begins with them.

    The wavelets are chosen one after the other, each with the smallest true residual given those
    before it, and then turned among themselves so that the block is diagonal on them. The rows
    after them are the survivors.
    """
    size = gram.shape[0]
    basis = identity(size)
    score = 0.0
    for q in range(drop):
        rest = basis[q:]
        inner = congruence(rest, block)
        outer = congruence(rest, gram)
        for p in range(q):
            # What two wavelets share is counted once, not twice.
            shared = products(rest, block, basis[p])
            for a in range(size - q):
                for b in range(size - q):
                    outer[a, b] -= 2.0 * shared[a] * shared[b]
        cost, turn = _best_wavelet(outer, inner)
        score += cost
        copy_into(basis, q, product(turn, rest))
    _, turn = symmetric_eigen(congruence(basis[drop:], gram))
    copy_into(basis, drop, product(turn, basis[drop:]))
    if drop > 1:
        inner = congruence(basis[:drop], block)
        turn = identity(drop)
        diagonalize(inner, turn, 1e-15)
        copy_into(basis, 0, product(turn, basis[:drop]))
    return max(score, 0.0), basis


@jit
def _best_wavelet(gram, block):
    """The smallest cost, and an orthonormal basis that begins with the wavelet that has it.

    The search begins at the best eigenvector of each of the two matrices: between them lies the
    best wavelet of two rows, and usually that of more.
    """
    values, rows = symmetric_eigen(gram)
    best, basis = _descend(gram, block, values, congruence(rows, block), rows)
    _, rows = symmetric_eigen(block)
    turned = congruence(rows, block)
    energies = np.empty(rows.shape[0])
    for e in range(energies.size):
        energies[e] = products(rows[e : e + 1], gram, rows[e])[0]
    other, turn = _descend(gram, block, energies, turned, rows)
    if other < best - _EQUAL * (abs(values[0]) + abs(values[values.size - 1])):
        return other, turn
    return best, basis


@jit
def _descend(gram, block, energies, turned, rows):
    """Improve the best of some orthonormal rows, by the frequency at which it is looked for.

    `energies` and `turned` are the diagonal of `gram`, and `block`, in the basis of the rows.
    """
    size = gram.shape[0]
    pick = _cheapest(energies, turned)
    own = frequency = turned[pick, pick]
    best = energies[pick] - own * own
    scale = 0.0
    for a in range(size):
        scale += abs(gram[a, a])
    basis = rows.copy()
    basis[0] = rows[pick]
    for a in range(pick):
        basis[a + 1] = rows[a]
    for _ in range(_STEPS):
        shifted = np.empty((size, size))
        for a in range(size):
            for b in range(size):
                shifted[a, b] = gram[a, b] - 2.0 * frequency * block[a, b]
            shifted[a, a] += frequency * frequency
        values, turn = symmetric_eigen(congruence(rows, shifted))
        rows = product(turn, rows)
        turned = congruence(rows, block)
        found = turned[0, 0]
        cost = values[0] - (found - frequency) * (found - frequency)
        if cost < best - 1e-14 * scale:
            best = cost
            own = found
            copy_into(basis, 0, rows)
            frequency = _next_frequency(frequency, values, turned)
        elif frequency != own:
            frequency = own  # a step that went too far: this one cannot
        else:
            break
    return best, basis


@jit
def _next_frequency(frequency, values, turned):
    """Newton's step for the smallest eigenvalue as a function of the frequency.

    Its derivative is ``2 (rho - R_00)`` in the basis of eigenvectors, and perturbation theory gives
    the second one; where that is not positive the wavelet's own frequency is a safe step.
    """
    own = turned[0, 0]
    curvature = 1.0
    for e in range(1, values.size):
        gap = values[e] - values[0]
        if gap <= 0.0:
            return own
        curvature -= 4.0 * turned[0, e] * turned[0, e] / gap
    if curvature < 0.05:
        return own
    return frequency - (frequency - own) / curvature


@jit
def _cheapest(values, turned):
    """The row with the smallest true residual; of equals the first."""
    scale = 0.0
    for e in range(values.size):
        scale = max(scale, abs(values[e]))
    best = np.inf
    pick = 0
    for e in range(values.size):
        cost = values[e] - turned[e, e] * turned[e, e]
        if cost < best - _EQUAL * scale:
            best = cost
            pick = e
    return pick


@jit
def quick_score(gram, block, drop):
    """About what `local_score` returns first, much faster: it only ranks groups."""
    if drop == 1:
        return quick_wavelet(gram, block)[0]
    size = gram.shape[0]
    work = gram.copy()
    rows = identity(size)
    diagonalize(work, rows, _NEGLIGIBLE)
    costs = np.empty(size)
    turned = congruence(rows, block)
    for e in range(size):
        costs[e] = work[e, e] - turned[e, e] * turned[e, e]
    score = 0.0
    for _ in range(drop):
        pick = np.argmin(costs)
        score += costs[pick]
        costs[pick] = np.inf
        for e in range(size):
            # What two wavelets share is counted once, not twice.
            costs[e] -= 2.0 * turned[e, pick] * turned[e, pick]
    return max(score, 0.0)


@jit
def quick_wavelet(gram, block):
    """A good wavelet and its cost: the best eigenvector of `gram`, and one step from there."""
    size = gram.shape[0]
    work = gram.copy()
    rows = identity(size)
    diagonalize(work, rows, _NEGLIGIBLE)
    frequencies = np.empty(size)
    best = np.inf
    pick = 0
    for e in range(size):
        diagonal = 0.0
        for a in range(size):
            total = 0.5 * block[a, a] * rows[e, a]
            for b in range(a):
                total += block[a, b] * rows[e, b]
            diagonal += rows[e, a] * total
        frequencies[e] = 2.0 * diagonal
        cost = work[e, e] - frequencies[e] * frequencies[e]
        if cost < best:
            best = cost
            pick = e
    cost, wavelet = _improved(work, rows, frequencies, block, pick)
    if cost < best:
        return max(cost, 0.0), wavelet
    return max(best, 0.0), rows[pick]


@jit
def _improved(work, rows, frequencies, block, pick):
    """One step of Newton's method from an eigenvector, coordinate by coordinate, and its cost."""
    size = rows.shape[0]
    own = frequencies[pick]
    image = np.zeros(size)
    for a in range(size):
        for b in range(size):
            image[a] += block[a, b] * rows[pick, b]
    wavelet = rows[pick].copy()
    energy = work[pick, pick]
    squared = 1.0
    for e in range(size):
        if e == pick:
            continue
        coupling = 0.0
        for a in range(size):
            coupling += rows[e, a] * image[a]
        gap = work[e, e] - work[pick, pick] - 2.0 * own * (frequencies[e] - own)
        curvature = gap - 4.0 * coupling * coupling
        if curvature <= 0.1 * abs(gap):
            continue
        step = 2.0 * own * coupling / curvature
        energy += step * step * work[e, e]
        squared += step * step
        for a in range(size):
            wavelet[a] += step * rows[e, a]
    length = np.sqrt(squared)
    frequency = 0.0
    for a in range(size):
        wavelet[a] /= length
    for a in range(size):
        total = 0.0
        for b in range(size):
            total += block[a, b] * wavelet[b]
        frequency += wavelet[a] * total
    return energy / squared - frequency * frequency, wavelet


@jit
def complete_rotation(basis, drop, allowed, nearest):
    """Turn a basis into a rotation: rows in coordinate order, wavelets on their coordinates.

    Parameters
    ----------
    basis : (m, m) orthonormal rows, the wavelets first.
    drop : int, how many of them are wavelets.
    allowed : (m,) bool, the coordinates that may carry a wavelet (at least `drop` of them).
    nearest : bool
        Whether the surviving rows are those closest to the coordinate axes instead of
        the other rows of the basis.

    Returns
    -------
    rotation : (m, m), determinant one unless every row is a wavelet
    positions : (drop,) the coordinates of the wavelets, ascending
    """
    size = basis.shape[0]
    rotation = np.empty((size, size))
    taken = np.zeros(size, np.bool_)
    _place_rows(rotation, basis[:drop], taken, allowed)
    positions = marked(taken)
    if not (nearest and _nearest_survivors(rotation, taken, drop)):
        _place_rows(rotation, basis[drop:], taken, np.ones(size, np.bool_))
    if drop < size and _is_reflection(rotation):
        for where in range(size - 1, -1, -1):
            if not _contains(positions, where):
                for j in range(size):
                    rotation[where, j] = -rotation[where, j]
                break
    return rotation, positions


@jit
def _place_rows(rotation, rows, taken, allowed):
    """Put each row on the free coordinate it overlaps most, best match first."""
    count, size = rows.shape
    placed = np.zeros(count, np.bool_)
    for _ in range(count):
        best = -1.0
        pick = where = -1
        for q in range(count):
            if not placed[q]:
                for j in range(size):
                    if allowed[j] and not taken[j] and abs(rows[q, j]) > best + _EQUAL:
                        best = abs(rows[q, j])
                        pick = q
                        where = j
        placed[pick] = True
        taken[where] = True
        sign = -1.0 if rows[pick, where] < 0.0 else 1.0
        for j in range(size):
            rotation[where, j] = sign * rows[pick, j]


@jit
def _nearest_survivors(rotation, taken, drop):
    """Fill the other rows with the orthonormal completion closest to the identity.

    The polar factor of the coordinate axes projected away from the wavelets. Returns False, and
    leaves the rows alone, when that projection is too close to singular to be trusted.
    """
    size = rotation.shape[0]
    if drop == 1:
        _turn_plane(rotation, marked(taken)[0])
        return True
    rest = marked(~taken)
    count = rest.size
    projected = np.zeros((count, size))
    for a in range(count):
        projected[a, rest[a]] = 1.0
        for q in range(size):
            if taken[q]:
                weight = rotation[q, rest[a]]
                for j in range(size):
                    projected[a, j] -= weight * rotation[q, j]
    if count == 0:
        return True
    values, vectors = symmetric_eigen(congruence(projected, identity(size)))
    if values[0] < 1e-3:
        return False
    polar = product(vectors, projected)
    for e in range(count):
        factor = 1.0 / np.sqrt(values[e])
        for j in range(size):
            polar[e, j] *= factor
    for a in range(count):
        for j in range(size):
            total = 0.0
            for e in range(count):
                total += vectors[e, a] * polar[e, j]
            rotation[rest[a], j] = total
    return True


@jit
def _turn_plane(rotation, p):
    """The rotation in the plane of e_p and the wavelet w in row p: it takes w to e_p."""
    size = rotation.shape[0]
    factor = 1.0 / (1.0 + rotation[p, p])
    for a in range(size):
        if a != p:
            weight = factor * rotation[p, a]
            for j in range(size):
                rotation[a, j] = -weight * rotation[p, j]
            rotation[a, a] += 1.0
            rotation[a, p] -= weight


@jit
def _is_reflection(rotation):
    """Whether the determinant of an orthogonal matrix is negative: the sign of its pivots."""
    size = rotation.shape[0]
    work = rotation.copy()
    negative = False
    for p in range(size):
        pivot = p
        for a in range(p + 1, size):
            if abs(work[a, p]) > abs(work[pivot, p]):
                pivot = a
        if pivot != p:
            negative = not negative
            for j in range(size):
                work[p, j], work[pivot, j] = work[pivot, j], work[p, j]
        if work[p, p] < 0.0:
            negative = not negative
        for a in range(p + 1, size):
            factor = work[a, p] / work[p, p]
            for j in range(p, size):
                work[a, j] -= factor * work[p, j]
    return negative


@jit
def _contains(values, wanted):
    for value in values:
        if value == wanted:
            return True
    return False
