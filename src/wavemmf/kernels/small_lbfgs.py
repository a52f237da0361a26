"""L-BFGS on the rotations of a small matrix: many steps in one call.

The algorithm is that of `wavemmf.optimize.lbfgs`, which is told the same way there with
Python's words. For a matrix of a hundred rows those words take longer than the arithmetic.

Skew matrices are kept as the entries below their diagonals, back to back: `lower` says where
these stand among the packed blocks, `upper` where their mirror images do. The scalar product of
two skew matrices is twice that of such vectors. Zeros fill the vectors up to a multiple of
`simd.LANES`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .gradient import loss_and_gradient
from .simd import add_and_multiply
from .stiefel import cayley_move
from .vectors import dot

__all__ = ["DESCENDED", "STUCK", "lbfgs_steps"]

# How a step can end.
DESCENDED, STUCK = 0, 1
# The Armijo and Wolfe constants, and how many points a search tries.
_SUFFICIENT, _CURVATURE, _TRIALS = 1e-4, 0.9, 30
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
    steepness = _norm(gradient)
    place = counts[1]
    direction = moves[place]  # times the step found, this is the next move to keep
    _descent(gradient, moves, changes, products, counts, direction)
    slope = 2.0 * dot(direction, gradient)
    if slope >= -_NEGLIGIBLE * steepness * _norm(direction):
        counts[0] = 0
        direction[:] = -gradient
        slope = -steepness * steepness
    first = 1.0
    if counts[0] == 0:
        first = 0.1 / np.abs(direction).max()
    length, reached = _search(
        problem, sizes, lower, upper, blocks, value, slope, direction, first, counts, scratch,
        trial, best,
    )  # fmt: skip
    if length == 0.0:
        if counts[0] == 0:
            return STUCK, value
        counts[0] = 0
        return DESCENDED, value
    direction *= length
    for i in range(gradient.size):
        changes[place, i] = best[1][i] - gradient[i]
    blocks[:] = best[0]
    gradient[:] = best[1]
    _keep(moves, changes, products, counts)
    return DESCENDED, reached


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
    """Find a step with enough decrease that is not too short, as `armijo_wolfe` does.

    Returns the step and its value, and leaves its point in `best`; step 0 if there is none.
    """
    full, skew, change = scratch
    for i in range(lower.size):
        skew[lower[i]] = direction[i]
        skew[upper[i]] = -direction[i]
    low, high = 0.0, np.inf
    found, lowest = 0.0, np.inf
    for _ in range(_TRIALS):
        cayley_move(blocks, sizes, problem[7], skew, step, trial[0], change)
        reached = _evaluate(problem, lower, trial[0], full, trial[1])
        counts[2] += 1
        if not reached <= value + _SUFFICIENT * step * slope:  # also true for NaN
            high = step
            step = _shorter(value, slope, low, step, reached)
        else:
            rate = 0.0
            for i in range(lower.size):
                rate += trial[1][i] * (change[lower[i]] - change[upper[i]])
            enough = rate / step >= _CURVATURE * slope
            if enough or found == 0.0 or reached < lowest:
                found, lowest = step, reached
                best[0][:] = trial[0]
                best[1][:] = trial[1]
            if enough:
                break
            low = step
            step = 2.0 * step if np.isinf(high) else 0.5 * (low + high)
        if high - low <= 1e-12 * low:  # never while there is no upper end
            break
    return found, lowest


@jit
def _shorter(value, slope, low, step, reached):
    """Minimum of the parabola through what is known, kept between a tenth and a half."""
    excess = reached - value - step * slope
    guess = -0.5 * slope * step * step / excess if excess > 0.0 else 0.5 * step
    span = step - low
    if not np.isfinite(guess):
        return low + 0.1 * span
    return min(max(guess, low + 0.1 * span), low + 0.5 * span)


@jit
def _evaluate(problem, lower, blocks, full, gradient):
    """The squared error, and its gradient."""
    full[:] = 0.0
    matrix, rotated, core, weights, dropped, offsets, groups, block_offsets = problem
    loss = loss_and_gradient(
        matrix, rotated, core, weights, dropped, offsets, groups, block_offsets, blocks, full
    )
    for i in range(lower.size):
        gradient[i] = full[lower[i]]
    return loss
