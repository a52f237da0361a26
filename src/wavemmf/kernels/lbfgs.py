"""L-BFGS on rotations: where to go (`aim`), what to remember (`settle`), many steps in one call.

A large problem is evaluated on all threads, so `wavemmf.optimize.LBFGS` calls `aim` and `settle`
and evaluates in between. For a matrix of a hundred rows Python's words take longer than the
arithmetic, and `lbfgs_steps` does all of it.

Skew matrices are kept as the entries below their diagonals, back to back: `lower` says where
these stand among the packed blocks, `upper` where their mirror images do; compact levels have their
coordinates (`planes.py`) in place of those entries, and no mirror images. The scalar product of
two skew matrices is twice that of such vectors. Zeros fill the vectors up to a multiple of
`simd.LANES`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .gradient import loss_and_gradient
from .linesearch import FOUND, LOWEST, SEARCH_SIZE, STEP, begin_search, judge
from .planes import by_coordinates, move_planes
from .simd import add_and_multiply
from .stiefel import cayley_move
from .vectors import dot

__all__ = ["CURVATURE", "DESCENDED", "STUCK", "SUFFICIENT", "aim", "lbfgs_steps", "settle"]

# How a step can end.
DESCENDED, STUCK = 0, 1
# The Armijo and Wolfe constants.
SUFFICIENT, CURVATURE = 1e-4, 0.9
_NEGLIGIBLE = 1e-12


@jit
def lbfgs_steps(
    problem, sizes, lower, upper, blocks, gradient, moves, changes, products, counts,
    values, done, stop, window, tolerance, gradient_tolerance,
):  # fmt: skip
    """Take steps until there are `stop` values, or a reason to look; return how many there are.

    `problem` holds the first arguments of `loss_and_gradient`. Overwritten are `blocks`, their
    `gradient`, and the memory: a ring of `moves`, `changes` and their `products`, with
    ``counts = (pairs kept, the place of the next, evaluations)``. ``values[:done]`` are the values
    so far; new ones are added. The second result is DESCENDED or STUCK.
    """
    full = np.empty_like(blocks)
    skew, change = np.zeros_like(blocks), np.empty_like(blocks)
    trial = (np.empty_like(blocks), np.zeros_like(gradient))
    best = (np.empty_like(blocks), np.zeros_like(gradient))
    while done < stop:
        outcome, value = _step(
            problem, sizes, lower, upper, blocks, gradient, values[done - 1], moves, changes,
            products, counts, (full, skew, change), trial, best,
        )  # fmt: skip
        values[done] = value
        done += 1
        if outcome == STUCK or _norm(gradient) <= gradient_tolerance:
            return done, outcome
        if _stalled(values, done, window, tolerance):
            break
    return done, DESCENDED


@jit
def _stalled(values, done, window, tolerance):
    """Whether the last `window` values together are hardly below those before."""
    if done <= window or tolerance <= 0.0:
        return False
    before = values[: done - window].min()
    return before - min(before, values[done - window : done].min()) <= tolerance * before


@jit
def _norm(x):
    return np.sqrt(2.0 * dot(x, x))


@jit
def _step(
    problem, sizes, lower, upper, blocks, gradient, value, moves, changes, products, counts,
    scratch, trial, best,
):  # fmt: skip
    """Search along the quasi-Newton direction, or along the gradient if that fails."""
    slope, first = aim(gradient, moves, changes, products, counts)
    length, reached = _search(
        problem, sizes, lower, upper, blocks, value, slope, moves[counts[1]], first, counts,
        scratch, trial, best,
    )  # fmt: skip
    outcome = settle(length, best[1], gradient, moves, changes, products, counts)
    if length == 0.0:
        return outcome, value
    blocks[:] = best[0]
    gradient[:] = best[1]
    return outcome, reached


@jit
def aim(gradient, moves, changes, products, counts):
    """Leave the direction of the next step in its place among the moves.

    Returns the slope along it and the first step to try.
    """
    steepness = _norm(gradient)
    direction = moves[counts[1]]  # times the step found, this is the next move to keep
    _descent(gradient, moves, changes, products, counts, direction)
    slope = 2.0 * dot(direction, gradient)
    if slope >= -_NEGLIGIBLE * steepness * _norm(direction):
        counts[0] = 0
        direction[:] = -gradient
        slope = -steepness * steepness
    if counts[0] == 0:
        return slope, 0.1 / np.abs(direction).max()
    return slope, 1.0


@jit
def settle(length, after, gradient, moves, changes, products, counts):
    """Remember a step of this length to where the gradient is `after`; 0 if none was found."""
    if length == 0.0:
        if counts[0] == 0:
            return STUCK
        counts[0] = 0
        return DESCENDED
    place = counts[1]
    moves[place] *= length
    for i in range(gradient.size):
        changes[place, i] = after[i] - gradient[i]
    _keep(moves, changes, products, counts)
    return DESCENDED


@jit
def _keep(moves, changes, products, counts):
    """Keep the pair just written, unless its curvature is not positive."""
    memory, place = moves.shape[0], counts[1]
    products[place] = dot(moves[place], changes[place])
    if 2.0 * products[place] > _NEGLIGIBLE * _norm(moves[place]) * _norm(changes[place]):
        counts[0] = min(counts[0] + 1, memory - 1)
        counts[1] = (place + 1) % memory


@jit
def _descent(gradient, moves, changes, products, counts, out):
    """``out`` is minus the inverse Hessian times the gradient: the two-loop recursion."""
    memory, kept, newest = moves.shape[0], counts[0], counts[1] - 1
    weights = np.empty(memory)
    for i in range(gradient.size):
        out[i] = -gradient[i]
    if kept == 0:
        return
    newest %= memory
    product = dot(moves[newest], out)
    for back in range(kept):
        place = (newest - back) % memory
        following = moves[(place - 1) % memory] if back + 1 < kept else changes[place]
        weights[place] = product / products[place]
        product = add_and_multiply(out, -weights[place], changes[place], following)
    scale = products[newest] / dot(changes[newest], changes[newest])
    for i in range(out.size):
        out[i] *= scale
    product *= scale
    for back in range(kept - 1, -1, -1):
        place = (newest - back) % memory
        weight = weights[place] - product / products[place]
        product = add_and_multiply(out, weight, moves[place], changes[(place + 1) % memory])


@jit
def _search(
    problem, sizes, lower, upper, blocks, value, slope, direction, step, counts, scratch,
    trial, best,
):  # fmt: skip
    """Find a step that `judge` accepts.

    Returns the step and its value, and leaves its point in `best`; step 0 if there is none.
    """
    full, skew, change = scratch
    for i in range(lower.size):
        skew[lower[i]] = direction[i]
    for i in range(upper.size):
        skew[upper[i]] = -direction[i]
    search = np.empty(SEARCH_SIZE)
    begin_search(search, step)
    over = False
    while not over:
        step = search[STEP]
        _move(problem, sizes, upper, blocks, skew, step, trial[0], change)
        reached = _evaluate(problem, lower, upper, trial[0], full, trial[1])
        counts[2] += 1
        rate = _rate(trial[1], lower, upper, change)
        better, over = judge(search, value, slope, reached, rate / step, SUFFICIENT, CURVATURE)
        if better:
            best[0][:] = trial[0]
            best[1][:] = trial[1]
    return search[FOUND], search[LOWEST]


@jit
def _move(problem, sizes, upper, blocks, skew, step, out, change):
    """Move all levels, and leave in `change` how they turned."""
    if upper.size == 0:
        move_planes(problem[5], blocks, skew, step, out)
        for i in range(skew.size):
            change[i] = step * skew[i]
    else:
        cayley_move(blocks, sizes, problem[7], skew, step, out, change)


@jit
def _rate(gradient, lower, upper, change):
    """The step times the slope after it."""
    rate = 0.0
    if upper.size == 0:
        for i in range(lower.size):
            rate += 2.0 * gradient[i] * change[lower[i]]
    else:
        for i in range(lower.size):
            rate += gradient[i] * (change[lower[i]] - change[upper[i]])
    return rate


@jit
def _evaluate(problem, lower, upper, blocks, full, gradient):
    """The squared error, and its gradient."""
    full[:] = 0.0
    matrix, rotated, core, weights, dropped, offsets, groups, block_offsets = problem
    loss = loss_and_gradient(
        matrix, rotated, core, weights, dropped, offsets, groups, block_offsets, blocks, full
    )
    if upper.size == 0:
        by_coordinates(offsets, blocks, full)
    for i in range(lower.size):
        gradient[i] = full[lower[i]]
    return loss
