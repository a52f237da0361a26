"""``wavemmf reproduce all``: every experiment of the paper, and a page that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from .._validation import check_choice, check_integer
from ..errors import InvalidInputError, WavemmfError
from ..experiments.records import RECORD_HELP, Recorder
from ..report._index import Section, write_index
from .classification import EpochsOption, JobsOption
from .figures import fig1, fig2, make_folder
from .inputs import words
from .reproduce import table1
from .table2 import table2

__all__ = ["reproduce_all"]

# Modest settings: hours, not days. The commands on the page run more with other options.
_NODE_MODELS = "wavelet,gcn,appnp"
_GRAPH_DATASETS, _GRAPH_MODELS, _GRAPH_PROTOCOLS = "MUTAG,PTC", "wavelet,gin,wl", "honest"

_SECTIONS = {
    "fig1": Section(
        "Figure 1: matrix factorization",
        "Frobenius error against core size. Matrices, k and drop are those of the paper (Karate "
        "k = 8, Kronecker k = 16 with up to 8 wavelets per level, Cayley tree k = 8; greedy with "
        "k = 2; Nyström with uniform columns). The paper shows curves without numbers; core sizes "
        "are ours, and rotations are optimised from greedy indices, not learned ones. Equal core "
        "is not equal cost: the table has the numbers that each method stores.",
        "wavemmf reproduce fig1",
        ("fig1/figure1.png",),
        ("fig1/figure1.csv",),
    ),
    "fig2": Section(
        "Figure 2: wavelets",
        "Wavelets of levels 1, 20 and 39 on the Cayley tree of 46 vertices, as in the paper; its k "
        "and core are not given: ours are 8 and 7.",
        "wavemmf reproduce fig2",
        ("fig2/figure2.png",),
    ),
    "table1": Section(
        "Table 1: node classification",
        "Test accuracy on Cora and Citeseer with 20, 40 and 60 per cent of the nodes for training, "
        "beside the paper's.",
        "wavemmf reproduce table1",
        tables=("table1/table1.csv",),
    ),
    "table2": Section(
        "Table 2: graph classification",
        "Test accuracy of some of the paper's data sets, beside the paper's.",
        "wavemmf reproduce table2",
        tables=("table2/table2.csv",),
    ),
}


def reproduce_all(
    results: Annotated[
        Path, typer.Option(help="Folder that keeps everything; index.html shows it.")
    ] = Path("reproduction"),
    only: Annotated[
        str, typer.Option(help="Experiments, separated by commas.")
    ] = "fig1,fig2,table1,table2",
    runs: Annotated[int, typer.Option(help="Seeds of the tables.")] = 3,
    steps: Annotated[int, typer.Option(help="Optimisation steps of the figures.")] = 100,
    epochs: EpochsOption = None,
    jobs: JobsOption = 2,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help=f"{RECORD_HELP} Every experiment has one of its own."),
    ] = None,
) -> None:
    """Run the figures and tables of the paper and write a page that shows them all.

    An interrupted command goes on where it was. What cannot be run, because a package or a data
    set is missing, is named on the page.

    \b
    Examples:
      wavemmf reproduce all
      wavemmf reproduce all --only fig1,fig2
    """  # noqa: D301
    chosen = [check_choice("--only", name, _SECTIONS) for name in words(only) or []]
    for name, value in (("runs", runs), ("jobs", jobs)):
        check_integer(f"--{name}", value, 1)
    check_integer("--steps", steps, 0)
    if record is not None and not record.is_dir():
        raise InvalidInputError(f"--record must be a folder that exists, got {record}")
    Recorder(record)  # refuses, before any long work, a folder in which nothing can be written
    commands: dict[str, Callable[[], None]] = {
        "fig1": lambda: fig1(results=results / "fig1", steps=steps, record=record),
        "fig2": lambda: fig2(results=results / "fig2", steps=steps, record=record),
        "table1": lambda: _table1(results / "table1", runs, epochs, jobs, record),
        "table2": lambda: _table2(results / "table2", runs, epochs, jobs, record),
    }
    make_folder(results)
    page = results / "index.html"
    shown: list[Section] = []
    for name in chosen:
        typer.echo(f"\n{_SECTIONS[name].title}\n")
        told = f"{_SECTIONS[name].command} {_options(name, runs, steps, epochs)}"
        shown.append(_run(commands[name], replace(_SECTIONS[name], command=told)))
        write_index(page, "The paper's experiments, run again", shown)
    typer.echo(f"\nsummary, open it in a browser: {page}")


def _run(command: Callable[[], None], section: Section) -> Section:
    try:
        command()
    except WavemmfError as error:
        typer.echo(f"not run: {error}", err=True)
        return replace(section, missing=" ".join(str(error).split()))
    return section


def _table1(folder: Path, runs: int, epochs: int | None, jobs: int, record: Path | None) -> None:
    make_folder(folder)
    table1(results=folder, models=_NODE_MODELS, runs=runs, epochs=epochs, jobs=jobs, record=record)


def _table2(folder: Path, runs: int, epochs: int | None, jobs: int, record: Path | None) -> None:
    make_folder(folder)
    table2(
        datasets=_GRAPH_DATASETS,
        models=_GRAPH_MODELS,
        protocols=_GRAPH_PROTOCOLS,
        runs=runs,
        epochs=epochs,
        jobs=jobs,
        results=folder / "folds",
        output=folder / "table2.csv",
        record=record,
    )


def _options(name: str, runs: int, steps: int, epochs: int | None) -> str:
    """Return the options that run an experiment on its own as it was run here."""
    if name in ("fig1", "fig2"):
        return f"--steps {steps}"
    shorter = "" if epochs is None else f" --epochs {epochs}"
    if name == "table1":
        return f"--models {_NODE_MODELS} --runs {runs}{shorter}"
    return (
        f"--datasets {_GRAPH_DATASETS} --models {_GRAPH_MODELS} --protocols {_GRAPH_PROTOCOLS} "
        f"--runs {runs}{shorter}"
    )
