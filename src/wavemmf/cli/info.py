"""``wavemmf info``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..factorization import load
from ..report._summary import as_facts, summarize
from .inputs import JsonOption
from .output import print_file

__all__ = ["info"]


def info(
    file: Annotated[Path, typer.Argument(help="A saved factorization.")],
    as_json: JsonOption = False,
) -> None:
    """Show error, size, cost and settings of a saved factorization.

    \b
    Example:
      wavemmf info karate.mmf
    """  # noqa: D301
    summary = summarize(load(file))
    print_file(file, summary, as_facts(summary), as_json)
