"""Search along a curve, from Python, for an Armijo-Wolfe step (Eq. 29, 30 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.linesearch import SEARCH_SIZE, STEP, begin_search, judge
from ._descent import Point

__all__ = ["armijo_wolfe"]


def armijo_wolfe(
    start: Point,
    slope: float,
    move: Callable[[float], Point],
    slope_at: Callable[[Point, float], float],
    step: float,
    sufficient: float,
    curvature: float,
) -> tuple[float, Point] | None:
    r"""Find a step t with enough decrease that is not too short.

    .. math:: F(t) \le F(0) + \rho_1 t F'(0), \qquad F'(t) \ge \rho_2 F'(0)

    `wavemmf.kernels.linesearch` decides what is tried.

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

    Returns
    -------
    (float, Point) or None
        The step and its point; None if no step decreases the objective.
    """
    search = np.empty(SEARCH_SIZE)
    begin_search(search, step)
    best: tuple[float, Point] | None = None
    over = False
    while not over:
        tried = float(search[STEP])
        point = move(tried)
        rate = slope_at(point, tried)
        better, over = judge(search, start.value, slope, point.value, rate, sufficient, curvature)
        if better:
            best = tried, point
    return best
