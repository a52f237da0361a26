"""What both commands that classify have in common: names of models, and how results are told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .._validation import check_choice
from ..errors import InvalidInputError
from ..experiments.records import Record
from .inputs import words
from .output import print_json, print_record

__all__ = [
    "EpochsOption",
    "JobsOption",
    "KeptRunsOption",
    "models_named",
    "print_results",
    "without_outcomes",
]

EpochsOption = Annotated[
    int | None, typer.Option(help="Another number of epochs than the models' own.")
]
JobsOption = Annotated[int, typer.Option(help="Trained at a time, in processes of one thread.")]
KeptRunsOption = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps every run; runs found there are not repeated."),
]


def models_named(text: str, known: Collection[str]) -> list[str]:
    """Return the models that an option names, separated by commas, each once.

    Examples
    --------
    >>> models_named("gin, wl", ["gin", "wl"])
    ['gin', 'wl']
    """
    models = words(text) or []
    if not models or len(set(models)) < len(models):
        raise InvalidInputError(f"--model must name models, each once, got {text!r}")
    return [check_choice("model", name, known) for name in models]


def without_outcomes(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a record keeps of a result: all but the curves of every single training."""
    return {name: value for name, value in told.items() if name != "outcomes"}


def print_results(
    told: Sequence[Mapping[str, Any]], record: Record, shared: Sequence[str], as_json: bool
) -> None:
    """Print the table of a record, or all that is told of each model, what they share once."""
    if not as_json:
        print_record(record)
    elif len(told) == 1:
        print_json(told[0])
    else:
        print_json({**{name: told[0][name] for name in shared}, "models": told})
