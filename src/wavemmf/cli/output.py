"""Results on standard output: JSON, or tables that survive a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from .._json import json_text
from .._progress import is_terminal
from ..experiments.records import Record
from ..experiments.tables import table_of

__all__ = ["print_facts", "print_file", "print_json", "print_record"]

# Wide enough for every table: what is piped must not be wrapped or cut to a guessed width.
_PIPED_WIDTH = 250


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object; what is not a finite number is null."""
    typer.echo(json_text(value))


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, str(value))
    _console().print(table, markup=False, highlight=False)


def print_file(
    file: Path, summary: Mapping[str, Any], facts: Mapping[str, object], as_json: bool
) -> None:
    """Print what a file holds: all of it as JSON, or the facts."""
    size = file.stat().st_size
    if as_json:
        print_json({**summary, "file": str(file), "file_bytes": size})
    else:
        print_facts({"file": f"{file} ({size} bytes)", **facts})


def print_record(record: Record) -> None:
    """Print the table of what was measured, from the record of it."""
    table = table_of(record)
    if table.title:
        typer.echo(f"{table.title}\n")
    if table.headings:
        _print_table(table.headings, table.sections)
    else:
        print_facts({name: value for rows in table.sections for name, value in rows})


def _print_table(headings: Iterable[str], sections: Iterable[Iterable[Iterable[str]]]) -> None:
    """Print sections of rows, with a rule between them; the first column is text."""
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    for index, heading in enumerate(headings):
        justify = "left" if index == 0 else "right"
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for section in sections:
        for row in section:
            table.add_row(*row)
        table.add_section()
    _console().print(table)


def _console() -> Console:
    # Made on each call: sys.stdout may have been replaced since the import.
    if is_terminal(sys.stdout):
        return Console()
    return Console(width=_PIPED_WIDTH, color_system=None, force_terminal=False)
