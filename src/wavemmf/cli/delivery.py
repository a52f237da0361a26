"""Hand over a factorization: save it, print its figures, say if it was cut short."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from .._files import check_writable
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..report._summary import as_facts, summarize
from .errors import INTERRUPTED
from .output import print_facts, print_json

__all__ = ["check_output", "deliver"]


def check_output(output: Path, source: str) -> None:
    """Refuse, before any work, an output that cannot be written or is the input matrix."""
    check_writable(output)
    if output.exists() and Path(source).exists() and output.samefile(source):
        raise InvalidInputError(f"the output {output} is the input: it would be overwritten")


def deliver(
    result: Factorization,
    output: Path | None,
    checkpoint: Path | None,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
    more_facts: Mapping[str, str] | None = None,
) -> None:
    """Save and print a result; an interrupted optimisation ends the command with its own code.

    Parameters
    ----------
    result : Factorization
        What was computed.
    output : path, optional
        Where to save it.
    checkpoint : path, optional
        Where an interrupted optimisation has left its state.
    as_json : bool
        Whether to print JSON.
    more : dict, optional
        Further figures, for JSON.
    more_facts : dict, optional
        Facts to print in place of the usual ones of the same names.
    """
    # The summary may take a while: last of all the file appears, so Ctrl-C leaves none behind.
    summary = {**summarize(result), **(more or {})}
    summary["output"] = None if output is None else str(output)
    if output is not None:
        result.save(output)
    if as_json:
        print_json(summary)
    else:
        facts = {**as_facts(summary), **(more_facts or {})}
        print_facts({**facts, "saved in": output or "nothing (give -o FILE)"})
    if result.history.stopped == "interrupted":
        typer.echo(_interruption(result, output, checkpoint), err=True)
        raise typer.Exit(INTERRUPTED)


def _interruption(result: Factorization, output: Path | None, checkpoint: Path | None) -> str:
    steps = len(result.history.errors) - 1
    written = "nothing was written"
    if output is not None:
        written = f"the best result of {steps} steps was written to {output}"
    if checkpoint is not None:
        written += f"; the same command continues from {checkpoint}"
    return f"interrupted; {written}"
