"""Wavelets, scaling functions and signals on a drawing of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from .._validation import check_integer
from ..errors import InvalidInputError
from ..factorization import Factorization
from ._canvas import axes_or_new
from ._layout import as_points, edges, layout

__all__ = ["scaling_function", "signal", "wavelet"]


def wavelet(
    f: Factorization, level: int, graph: Any, ax: Any = None, stems: bool = False, **style: Any
) -> Any:
    """Draw the wavelet that a level set aside.

    Parameters
    ----------
    f : Factorization
        Of a matrix of the graph.
    level : int
        From 1 to ``f.num_levels``.
    graph : Graph, networkx graph, PyG Data or adjacency matrix
        The graph, for edges and coordinates.
    ax : Axes, optional
        Where to draw; new axes by default.
    stems : bool
        Draw values as heights, as in the paper, on three-dimensional axes.
    **style
        As for `signal`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> tree = wm.graphs.cayley_tree(3, 3)
    >>> wavelet(wm.factorize(tree, core=8, k=4), 1, tree).get_title()
    'wavelet of level 1, frequency ...'
    """
    values = f.wavelet(level)
    own = f.rotations.wavelets[f.rotations.drop_offsets[level - 1]]
    title = f"wavelet of level {level}, frequency {f.frequencies[own]:.3g}"
    return signal(values[0] if values.ndim == 2 else values, graph, ax, stems, title=title, **style)


def scaling_function(
    f: Factorization, index: int, graph: Any, ax: Any = None, stems: bool = False, **style: Any
) -> Any:
    """Draw one of the scaling functions, the rows of the basis that form the core.

    Parameters
    ----------
    f : Factorization
        Of a matrix of the graph.
    index : int
        From 0 to ``f.core_size - 1``.
    graph, ax, stems, **style
        As for `wavelet`.

    Returns
    -------
    Axes
    """
    if not 0 <= check_integer("index", index, 0) < f.core_size:
        raise InvalidInputError(f"index must be below the core size {f.core_size}, got {index}")
    title = f"scaling function {index + 1} of {f.core_size}"
    return signal(f.scaling_functions()[index], graph, ax, stems, title=title, **style)


def signal(
    values: npt.ArrayLike,
    graph: Any,
    ax: Any = None,
    stems: bool = False,
    title: str = "",
    size: float | None = None,
    bar: bool = True,
    coordinates: npt.ArrayLike | None = None,
) -> Any:
    """Draw a number for every vertex: red above zero, blue below.

    Parameters
    ----------
    values : array of shape (n,)
        The signal.
    graph, ax, stems
        As for `wavelet`.
    title : str
        Shown above.
    size : float, optional
        Area of a vertex in points squared.
    bar : bool
        Whether to draw the scale of colours.
    coordinates : array of shape (n, 2), optional
        Where to draw the vertices; as `layout` says by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import wavemmf as wm
    >>> signal(np.arange(20.0), wm.graphs.grid(4, 5), title="rows").get_title()
    'rows'
    """
    points = layout(graph) if coordinates is None else as_points(coordinates, graph)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(points),):
        raise InvalidInputError(
            f"the signal must have one value for each of {len(points)} vertices, got shape "
            f"{numbers.shape}"
        )
    ax = axes_or_new(ax, "3d" if stems else None)
    if stems and ax.name != "3d":
        raise InvalidInputError('stems need three-dimensional axes: projection="3d"')
    area = size or float(np.clip(6000 / len(points), 3, 120))
    limit = float(np.abs(numbers).max(initial=0.0)) or 1.0
    colours = {"c": numbers, "cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    draw = _stems if stems else _flat
    drawn = draw(ax, points, numbers, edges(graph), area, colours)
    ax.set_title(title)
    if bar:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7, label="value")
    return ax


def _flat(ax: Any, points: Any, numbers: Any, edges: Any, area: float, colours: Any) -> Any:
    collections = require("matplotlib.collections", extra="plot")
    ax.add_collection(
        collections.LineCollection(points[edges], colors="0.75", linewidths=0.6, zorder=1)
    )
    # The largest values on top: they are what the picture is about.
    order = np.argsort(np.abs(numbers))
    shades = {**colours, "c": numbers[order]}
    edge = "0.4" if area > 12 else "none"
    drawn = ax.scatter(
        *points[order].T, s=area, **shades, edgecolors=edge, linewidths=0.4, zorder=2
    )
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.autoscale_view()
    return drawn


def _stems(ax: Any, points: Any, numbers: Any, edges: Any, area: float, colours: Any) -> Any:
    art = require("mpl_toolkits.mplot3d.art3d", extra="plot")
    flat = np.concatenate([points, np.zeros((len(points), 1))], axis=1)
    raised = np.concatenate([points, numbers[:, np.newaxis]], axis=1)
    # By itself mplot3d sorts whole collections by depth and hides the edges behind its panes.
    ax.computed_zorder = False
    ax.add_collection3d(art.Line3DCollection(flat[edges], colors="0.35", linewidths=0.9, zorder=1))
    upright = np.stack([flat, raised], axis=1)
    shades = require("matplotlib", extra="plot").colormaps[colours["cmap"]]
    tones = shades(0.5 + 0.5 * numbers / colours["vmax"])
    ax.add_collection3d(art.Line3DCollection(upright, colors=tones, linewidths=1.6, zorder=2))
    drawn = ax.scatter(
        *raised.T,
        s=area * (0.12 + 0.48 * np.abs(numbers) / colours["vmax"]),  # zeros do not hide edges
        **colours,
        edgecolors="0.3",
        linewidths=0.4,
        zorder=3,
        depthshade=False,
    )
    ax.set_xticks([])
    ax.set_yticks([])
    ax.view_init(elev=24, azim=-60)
    ax.set_box_aspect((1, 1, 0.6), zoom=1.15)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.pane.fill = False
        axis.pane.set_edgecolor("0.85")
    return drawn
