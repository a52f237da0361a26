"""Search for a step that satisfies the Armijo and Wolfe conditions (Eq. 29, 30 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .optimizer import Point

__all__ = ["armijo_wolfe"]


def armijo_wolfe(
    start: Point,
    slope: float,
    move: Callable[[float], Point],
    slope_at: Callable[[Point, float], float],
    step: float,
    sufficient: float,
    curvature: float,
    max_trials: int = 30,
) -> tuple[float, Point] | None:
    r"""Find a step t with enough decrease that is not too short.

    .. math:: F(t) \le F(0) + \rho_1 t F'(0), \qquad F'(t) \ge \rho_2 F'(0)

    Steps that decrease too little are cut, by quadratic interpolation within safe bounds; steps
    that are too short are lengthened, doubling until the minimum is bracketed, then bisecting. If
    the trials run out, the best step with enough decrease is taken.

    Parameters
    ----------
    start : Point
        Where the curve begins.
    slope : float
        F'(0), negative.
    move : callable
        Gives the point at a step.
    slope_at : callable
        Gives F' at a point and its step.
    step : float
        The first step tried.
    sufficient, curvature : float
        :math:`0 < \rho_1 < \rho_2 < 1`.
    max_trials : int
        Number of points tried.

    Returns
    -------
    (float, Point) or None
        The step and its point; None if no step decreases the objective.
    """
    low, high = 0.0, np.inf
    best: tuple[float, Point] | None = None
    for _ in range(max_trials):
        point = move(step)
        if not point.value <= start.value + sufficient * step * slope:  # also true for NaN
            high = step
            step = _shorter(start.value, slope, low, step, point.value)
        else:
            if best is None or point.value < best[1].value:
                best = (step, point)
            if slope_at(point, step) >= curvature * slope:
                return step, point
            low = step
            step = 2.0 * step if np.isinf(high) else 0.5 * (low + high)
        if high - low <= 1e-12 * low:  # never while there is no upper end
            break
    return best


def _shorter(value: float, slope: float, low: float, step: float, reached: float) -> float:
    """Minimum of the parabola through what is known, kept between a tenth and a half."""
    excess = reached - value - step * slope
    guess = -0.5 * slope * step * step / excess if excess > 0.0 else 0.5 * step
    span = step - low
    if not np.isfinite(guess):
        return low + 0.1 * span
    return float(np.clip(guess, low + 0.1 * span, low + 0.5 * span))
