"""``wavemmf reproduce fig1`` and ``fig2``: the paper's curves and wavelets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._progress import progress_bar
from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ..experiments import ComparisonRow, save_csv
from ..experiments.figures import (
    PANELS,
    WAVELET_LEVELS,
    Panel,
    draw_curves,
    draw_wavelets,
    run_panel,
    wavelet_tree,
)
from ..experiments.records import Recorder
from ..plot import check_plot_path, save_figure
from .inputs import RecordOption, SeedOption, words
from .output import print_record

__all__ = ["fig1", "fig2", "make_folder"]

_COLUMNS = (
    "matrix", "k", "drop", "method", "core", "error", "error_std", "relative_error",
    "stored_numbers",
)  # fmt: skip


def fig1(
    results: Annotated[
        Path, typer.Option(help="Folder for picture and table; keeps what was computed.")
    ] = Path("fig1"),
    matrices: Annotated[
        str | None,
        typer.Option(
            help="Some of karate, kronecker, cayley, separated by commas; all by default."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="Optimisation steps of the learned method.")] = 100,
    runs: Annotated[int, typer.Option(help="Runs of the Nyström method, which is random.")] = 5,
    seed: SeedOption = 0,
    record: RecordOption = None,
) -> None:
    """Draw error against core size on the paper's three matrices, at its k and drop.

    Learned rotations, the greedy factorization with k = 2 and Nyström's method, as in the paper.
    Its figure is a picture without numbers, and it names no core sizes: those are ours. An
    interrupted command goes on where it was.

    \b
    Example:
      wavemmf reproduce fig1 --matrices karate,cayley
    """  # noqa: D301
    panels = _panels(matrices)
    for name, value in (("steps", steps), ("seed", seed)):
        check_integer(f"--{name}", value, 0)
    check_integer("--runs", runs, 1)
    keep = Recorder(record)
    make_folder(results)
    picture = results / "figure1.png"
    check_plot_path(picture)
    with progress_bar("figure 1") as progress:
        rows = [run_panel(panel, results, steps, runs, seed, progress) for panel in panels]
    table = [_line(panel, row) for panel, part in zip(panels, rows, strict=True) for row in part]
    settings = {"steps": steps, "runs": runs}
    seeds, names = range(seed, seed + runs), [panel.name for panel in panels]
    measured = keep("reproduce fig1", names, settings, seeds, table)
    lines = ({name: row[name] for name in _COLUMNS} for row in table)
    save_csv(_COLUMNS, lines, results / "figure1.csv")
    save_figure(draw_curves(panels, rows), picture)
    print_record(measured)
    typer.echo(f"\nfigure 1: {picture}")


def fig2(
    results: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("fig2"),
    steps: Annotated[int, typer.Option(help="Optimisation steps.")] = 100,
    record: RecordOption = None,
) -> None:
    """Draw wavelets on the Cayley tree of 46 vertices at the paper's levels 1, 20 and 39.

    The paper names the tree and the levels; k = 8, which it uses on the larger Cayley tree, and
    a core of 7, so that level 39 is the last, are ours.

    \b
    Example:
      wavemmf reproduce fig2
    """  # noqa: D301
    check_integer("--steps", steps, 0)
    keep = Recorder(record)
    make_folder(results)
    picture = results / "figure2.png"
    check_plot_path(picture)
    tree, f = wavelet_tree(steps)
    save_figure(draw_wavelets(tree, f), picture)
    f.save(results / "figure2.mmf")
    values = {"n": f.n, "k": f.parameters["k"], "core": f.core_size, "levels": f.num_levels}
    values |= {"error": f.error(), "relative_error": f.relative_error()}
    print_record(keep("reproduce fig2", [tree.name], {"steps": steps}, [], [values]))
    typer.echo(f"figure 2, levels {', '.join(map(str, WAVELET_LEVELS))}: {picture}")


def make_folder(folder: Path) -> None:
    """Make a folder for results, or say why it cannot be made."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"--results must be a folder, but {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)


def _panels(matrices: str | None) -> list[Panel]:
    known = {panel.name: panel for panel in PANELS}
    chosen = list(known) if matrices is None else words(matrices)
    if not chosen:
        raise InvalidInputError(f"--matrices must name some of {', '.join(known)}")
    return [known[check_choice("--matrices", name, known)] for name in chosen]


def _line(panel: Panel, row: ComparisonRow) -> dict[str, object]:
    settings = {"matrix": panel.name, "k": panel.k, "drop": panel.drop}
    if row.method != "learned":
        settings |= {"k": "", "drop": ""} if row.method == "nystrom" else {"k": 2, "drop": 1}
    return {"title": panel.title, **settings, **vars(row)}
