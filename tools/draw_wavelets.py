"""Draw the picture of README: wavelets of three scales on the roads of Minnesota.

    python tools/draw_wavelets.py docs/images

writes `wavelets-light.png` and `wavelets-dark.png` into the folder. It needs the extra `plot` and
the road network among the data.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import wavemmf as wm

#: Background, ink and roads.
THEMES = {"light": ("#ffffff", "#1f2328", "#c3cad1"), "dark": ("#0d1117", "#e6edf3", "#3d444d")}
#: Title, hops that a wavelet of the panel reaches, and how many of them are drawn.
PANELS = (("fine", 4, 12), ("medium", 14, 5), ("coarse", 50, 1))


def far_apart(points: np.ndarray, candidates: np.ndarray, centres: np.ndarray, count: int) -> list:
    """Return candidates whose centres are far from each other: always the farthest next."""
    chosen = [int(candidates[0])]
    while len(chosen) < count:
        apart = points[centres[candidates]][:, None] - points[centres[chosen]]
        chosen.append(int(candidates[np.argmax((apart**2).sum(axis=2).min(axis=1))]))
    return chosen


def panel(f: wm.Factorization, graph: wm.graphs.Graph, reach: int, count: int) -> np.ndarray:
    """Return the sum of a few wavelets of one scale, each scaled to a largest value of one."""
    rows = wm.signals.describe(f, graph)
    wavelets = np.flatnonzero(rows["level"])
    nearest = wavelets[np.argsort(np.abs(rows["hops"][wavelets] - reach), kind="stable")]
    candidates = nearest[: 20 * count if count > 1 else 1]
    basis = f.basis()
    total = np.zeros(f.n)
    for row in far_apart(graph.coordinates, candidates, rows["centre"], count):
        values = basis[[row]].toarray()[0]
        total += values / np.abs(values).max()
    return total


def draw_wavelet(ax: Any, graph: wm.graphs.Graph, values: np.ndarray, roads: str) -> None:
    """Draw roads, and at each node a dot whose size and colour say how large the wavelet is."""
    points = graph.coordinates
    start, end = graph.adjacency.tocoo().coords
    segments = np.stack([points[start], points[end]], axis=1)[start < end]
    ax.add_collection(LineCollection(segments, colors=roads, linewidths=0.5, zorder=1))
    shown = np.flatnonzero(np.abs(values) > 0.02)
    shown = shown[np.argsort(np.abs(values[shown]))]
    sizes = 4 + 30 * np.abs(values[shown])
    ax.scatter(
        *points[shown].T, c=values[shown], s=sizes, cmap="coolwarm", vmin=-1, vmax=1, lw=0, zorder=2
    )
    ax.set_aspect(1.4)  # a degree of longitude is shorter than one of latitude there
    ax.autoscale_view()
    ax.axis("off")


def main() -> None:
    mpl.use("Agg")
    graph = wm.graphs.minnesota()
    f = wm.wavelets(graph)
    values = [panel(f, graph, reach, count) for _, reach, count in PANELS]
    for theme, (background, ink, roads) in THEMES.items():
        figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), facecolor=background)
        for ax, (title, _, _), value in zip(axes, PANELS, values, strict=True):
            draw_wavelet(ax, graph, value, roads)
            ax.set_title(title, color=ink, fontsize=14)
        figure.tight_layout()
        figure.savefig(Path(sys.argv[1]) / f"wavelets-{theme}.png", dpi=100, facecolor=background)
        plt.close(figure)


if __name__ == "__main__":
    main()
