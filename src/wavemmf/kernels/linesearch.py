"""Search along a curve for a step that satisfies the Armijo and Wolfe conditions: the decisions.

Whoever searches moves, evaluates and asks `judge` what to make of it, compiled or not:

    F(t) <= F(0) + sufficient t F'(0),   F'(t) >= curvature F'(0).      (Eq. 29 and 30 of the paper)

Steps that decrease too little are cut, by quadratic interpolation within safe bounds; steps that
are too short are lengthened, doubling until the minimum is bracketed, then bisecting. If the trials
run out, the best step with enough decrease is taken.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["FOUND", "LOWEST", "SEARCH_SIZE", "STEP", "begin_search", "judge"]

# What is known of a search: the step lies between two ends, the next one to try, the best with
# enough decrease (0 if there is none) and the value there, and how many were tried.
LOW, HIGH, STEP, FOUND, LOWEST, TRIED = 0, 1, 2, 3, 4, 5
SEARCH_SIZE = 6
_TRIALS = 30


@jit
def begin_search(search, step):
    """Nothing is known yet; `step` is to be tried first."""
    search[LOW], search[HIGH], search[STEP] = 0.0, np.inf, step
    search[FOUND], search[LOWEST], search[TRIED] = 0.0, np.inf, 0.0


@jit
def judge(search, value, slope, reached, rate, sufficient, curvature):
    """Take note of what the step reached; return whether it is the best, and the search over.

    `value` and `slope` are F and F' at 0, `reached` and `rate` those at the step tried.
    """
    step = search[STEP]
    search[TRIED] += 1.0
    best, enough = False, False
    if not reached <= value + sufficient * step * slope:  # also true for NaN
        search[HIGH] = step
        search[STEP] = _shorter(value, slope, search[LOW], step, reached)
    else:
        enough = rate >= curvature * slope
        best = enough or search[FOUND] == 0.0 or reached < search[LOWEST]
        if best:
            search[FOUND], search[LOWEST] = step, reached
        search[LOW] = step
        search[STEP] = 2.0 * step if np.isinf(search[HIGH]) else 0.5 * (step + search[HIGH])
    closed = search[HIGH] - search[LOW] <= 1e-12 * search[LOW]  # never without an upper end
    return best, enough or closed or search[TRIED] >= _TRIALS


@jit
def _shorter(value, slope, low, step, reached):
    """Minimum of the parabola through what is known, kept between a tenth and a half."""
    excess = reached - value - step * slope
    guess = -0.5 * slope * step * step / excess if excess > 0.0 else 0.5 * step
    span = step - low
    if not np.isfinite(guess):
        return low + 0.1 * span
    return min(max(guess, low + 0.1 * span), low + 0.5 * span)
