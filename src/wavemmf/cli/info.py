"""``wavemmf info``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..factorization import load
from ..report._summary import as_facts, summarize
from .inputs import JsonOption
from .output import print_facts, print_json

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
    size = file.stat().st_size
    if as_json:
        print_json({**summary, "file": str(file), "file_bytes": size})
    else:
        print_facts({"file": f"{file} ({size} bytes)", **as_facts(summary)})
