"""The matrix as it is compressed, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import require
from .._validation import check_memory
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..graphs import as_matrix
from ._canvas import axes_or_new

__all__ = ["compression", "elimination_order", "h_matrix"]

# Entries so much smaller than the largest are white.
_DECADES = 4


def elimination_order(f: Factorization) -> NDArray[np.int64]:
    """Return all coordinates: the core first, then what was dropped last, and so on.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    >>> bool((elimination_order(f)[:8] == f.core_indices).all())
    True
    """
    return np.concatenate([f.core_indices, f.rotations.wavelets[::-1]])


def h_matrix(f: Factorization, ax: Any = None, bar: bool = True) -> Any:
    """Draw H in the order of elimination: the core in the upper left corner, then a diagonal.

    Parameters
    ----------
    f : Factorization
        What to draw.
    ax : Axes, optional
        Where; new axes by default.
    bar : bool
        Whether to draw the scale of colours.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> h_matrix(wm.factorize(wm.graphs.karate(), core=8, k=4)).get_title()
    'H, core of 8'
    """
    check_memory(8 * f.n**2, f"a picture of {f.n} by {f.n} entries")
    order = elimination_order(f)
    dense = f.h.to_dense()[np.ix_(order, order)]
    return _draw(dense, ax, f"H, core of {f.core_size}", f.core_size, bar)


def compression(
    f: Factorization, A: Any, levels: Sequence[int] | None = None, axes: Any = None
) -> Any:
    """Draw the matrix after some of the levels, rows in the order of elimination.

    Parameters
    ----------
    f : Factorization
        Of the matrix.
    A : matrix or graph
        What was factorized; a graph stands for its normalized Laplacian.
    levels : sequence of int, optional
        From 0, the matrix itself, to ``f.num_levels``; four of them by default.
    axes : sequence of Axes, optional
        One for each level; a new row of them by default.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> karate = wm.graphs.karate()
    >>> f = wm.factorize(karate, core=8, k=4)
    >>> [ax.get_title() for ax in compression(f, karate, [0, 26])]
    ['the matrix', 'after level 26']
    """
    shown = _default_levels(f.num_levels) if levels is None else list(levels)
    for level in shown:
        if not 0 <= level <= f.num_levels:
            raise InvalidInputError(f"levels must be from 0 to {f.num_levels}, got {level}")
    matrix = as_matrix(A)
    if matrix.shape != f.shape:
        raise InvalidInputError(f"A must have shape {f.shape}, got {matrix.shape}")
    check_memory(3 * 8 * f.n**2, f"pictures of {f.n} by {f.n} entries")
    if axes is None:
        pyplot = require("matplotlib.pyplot", extra="plot")
        size = (2.6 * len(shown), 2.9)
        _, axes = pyplot.subplots(1, len(shown), figsize=size, layout="constrained", squeeze=False)
    panels = np.ravel(axes)
    if panels.size != len(shown):
        raise InvalidInputError(f"{len(shown)} levels need as many axes, got {panels.size}")
    order = elimination_order(f)
    for ax, level, state in zip(panels, shown, _states(f, matrix, shown), strict=True):
        active = f.n - int(f.rotations.drop_offsets[level])
        title = f"after level {level}" if level else "the matrix"
        _draw(state[np.ix_(order, order)], ax, title, active if level else None, bar=False)
    return panels


def _default_levels(count: int) -> list[int]:
    return sorted({0, count // 3, 2 * count // 3, count})


def _states(f: Factorization, matrix: Any, levels: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return the rotated matrices after the levels, in their order."""
    r = f.rotations
    state = matrix.toarray() if hasattr(matrix, "toarray") else np.array(matrix)
    kept = {0: state.copy()}
    for level in range(1, max(levels, default=0) + 1):
        group, rotation = r.group(level), r.block(level)
        state[group] = rotation @ state[group]
        state[:, group] = state[:, group] @ rotation.T
        if level in levels:
            kept[level] = state.copy()
    return [kept[level] for level in levels]


def _draw(dense: Any, ax: Any, title: str, marked: int | None, bar: bool) -> Any:
    ax = axes_or_new(ax)
    largest = float(np.abs(dense).max(initial=0.0)) or 1.0
    with np.errstate(divide="ignore"):
        shades = np.maximum(np.log10(np.abs(dense) / largest), -_DECADES)
    drawn = ax.imshow(
        shades, cmap="Blues", vmin=-_DECADES, vmax=0.0, interpolation="nearest", aspect="equal"
    )
    if marked is not None and 0 < marked < len(dense):
        edge = marked - 0.5
        ax.plot([-0.5, edge, edge], [edge, edge, -0.5], color="#D55E00", linewidth=1)
    ax.set_title(title)
    ax.set_xticks([])
    ax.set_yticks([])
    if bar:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7, label="log10 of |entry| / largest")
    return ax
