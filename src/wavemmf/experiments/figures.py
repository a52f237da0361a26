"""The paper's figures: settings as published, curves of errors, pictures of wavelets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._factorize import factorize
from .._files import atomic_write
from .._fingerprint import fingerprint
from .._json import json_text
from .._optional import require
from .._progress import Progress, silent
from ..factorization import Factorization
from ..graphs import Graph, cayley_tree, named
from ..plot import comparison, wavelet
from ._compare import ComparisonRow, compare

__all__ = [
    "PANELS",
    "WAVELET_LEVELS",
    "Panel",
    "draw_curves",
    "draw_wavelets",
    "run_panel",
    "wavelet_tree",
]

#: The levels whose wavelets the paper shows.
WAVELET_LEVELS = (1, 20, 39)
_SHOWN = ("learned", "greedy-k2", "nystrom")


@dataclass(frozen=True)
class Panel:
    """One matrix of the paper's first figure.

    Attributes
    ----------
    name : str
        As `wavemmf.graphs.named` knows it.
    title : str
        For people.
    k, drop : int
        Coordinates per rotation and wavelets per level of the learned factorization, as
        published; the greedy one has 2 and 1.
    cores : tuple of int
        Core sizes.
    """

    name: str
    title: str
    k: int
    drop: int
    cores: tuple[int, ...]


#: Matrices, k and drop as published; the paper gives no list of core sizes.
PANELS = (
    Panel("karate", "Karate club, n = 34", 8, 1, (4, 8, 12, 16, 20, 24)),
    Panel("kronecker", "Kronecker, n = 512", 16, 8, (16, 32, 64, 128)),
    Panel("cayley", "Cayley tree, n = 161", 8, 1, (8, 16, 32, 64, 96)),
)


def run_panel(
    panel: Panel,
    folder: Path,
    steps: int = 100,
    runs: int = 5,
    seed: int = 0,
    progress: Progress = silent,
) -> list[ComparisonRow]:
    """Compute the curves of one matrix, or read them if they were computed like this before.

    Parameters
    ----------
    panel : Panel
        What to compute.
    folder : path
        Keeps the result as JSON.
    steps, runs, seed, progress
        As for `compare`.

    Returns
    -------
    list of ComparisonRow

    Examples
    --------
    >>> import tempfile
    >>> panel = Panel("karate", "Karate", 4, 1, (8,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run_panel(panel, Path(folder), steps=2, runs=1)
    ...     run_panel(panel, Path(folder), steps=2, runs=1) == first
    True
    """
    settings = {**asdict(panel), "steps": steps, "runs": runs, "seed": seed}
    graph = named(panel.name)
    key = fingerprint("curves", matrix=graph, methods=_SHOWN, settings=settings)
    kept = folder / f"{panel.name}.json"
    if (rows := _kept_rows(kept, key)) is not None:
        return rows
    rows = compare(
        graph, panel.cores, panel.k, panel.drop, _SHOWN, seed, runs, progress, steps=steps
    )
    whole = {"key": key, "settings": settings, "rows": [asdict(row) for row in rows]}
    with atomic_write(kept) as stream:
        stream.write(json_text(whole).encode("utf-8"))
    return rows


def _kept_rows(path: Path, key: str) -> list[ComparisonRow] | None:
    """Return what a file keeps, None if it has another key or cannot be understood."""
    if not path.is_file():
        return None
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        if whole["key"] != key:
            return None
        return [ComparisonRow(**row) for row in whole["rows"]]
    except (ValueError, KeyError, TypeError):
        return None


def draw_curves(panels: Sequence[Panel], rows: Sequence[Sequence[ComparisonRow]]) -> Any:
    """Draw error against core size, one panel per matrix; return the figure."""
    figure = require("matplotlib.figure", extra="plot").Figure(
        (4.3 * len(panels), 4.0), layout="constrained"
    )
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel, lines in zip(axes, panels, rows, strict=True):
        comparison(lines, ax)
        ax.set_xlabel("core size")
        ax.set_title(f"{panel.title}\nk = {panel.k}, drop = {panel.drop}")
    for ax in axes[1:]:
        ax.set_ylabel(ax.get_ylabel().partition("\n")[2])  # no more than the note on small errors
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(_SHOWN), frameon=False)
    return figure


def wavelet_tree(steps: int = 100) -> tuple[Graph, Factorization]:
    """Return the Cayley tree of 46 vertices and a factorization of it in 39 levels."""
    tree = cayley_tree(3, 4)
    core = tree.n - WAVELET_LEVELS[-1]
    return tree, factorize(tree, core=core, k=8, optimize="lbfgs", steps=steps)


def draw_wavelets(tree: Graph, f: Factorization) -> Any:
    """Draw the wavelets of the paper's second figure, as stems and flat; return the figure."""
    figure = require("matplotlib.figure", extra="plot").Figure(
        (4.0 * len(WAVELET_LEVELS), 7.2), layout="constrained"
    )
    for row, stems in enumerate((True, False)):
        for column, level in enumerate(WAVELET_LEVELS, 1):
            place = row * len(WAVELET_LEVELS) + column
            ax = figure.add_subplot(
                2, len(WAVELET_LEVELS), place, projection="3d" if stems else None
            )
            wavelet(f, level, tree, ax=ax, stems=stems, bar=not stems)
            ax.set_title(f"ℓ = {level}" if stems else "")
    return figure
