"""What the user names on the command line: matrices, graphs, lists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidInputError
from ..experiments.records import RECORD_HELP
from ..graphs import named, names
from ..io import SUFFIXES, read

__all__ = [
    "InputArgument",
    "JsonOption",
    "MatrixOption",
    "RecordOption",
    "SeedOption",
    "SymmetrizeOption",
    "integers",
    "read_input",
    "words",
]

InputArgument = Annotated[str, typer.Argument(help="A file, or the name of a data set.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
MatrixOption = Annotated[
    str | None,
    typer.Option(
        metavar="normalized_laplacian|laplacian|adjacency",
        help="Which matrix of a graph to take. Edge lists and graphs by name give their "
        "normalized Laplacian by default, matrices are taken as they are; if given, a matrix "
        "is taken as an adjacency matrix.",
    ),
]
RecordOption = Annotated[Path | None, typer.Option(metavar="FILE|FOLDER", help=RECORD_HELP)]
SeedOption = Annotated[int, typer.Option(help="Seed of random choices.")]
SymmetrizeOption = Annotated[
    bool, typer.Option("--symmetrize", help="Take (A + A.T) / 2 of an asymmetric matrix.")
]


def read_input(text: str) -> Any:
    """Return the matrix or graph that the user named; a file wins over a data set.

    Examples
    --------
    >>> read_input("karate")
    Graph('karate', n=34, num_edges=78)
    """
    path = Path(text)
    if path.is_file():
        return read(path)
    if {text, f"snap:{text}"} & set(names()):
        return named(text)
    problem = "is a directory" if path.is_dir() else "is neither a file nor a data set"
    raise InvalidInputError(
        f"{text!r} {problem}; the data sets are {', '.join(names())}; "
        f"files must end in {', '.join(SUFFIXES)}"
    )


def words(text: str | None) -> list[str] | None:
    """Split a comma-separated list; None stays None.

    Examples
    --------
    >>> words("greedy, random")
    ['greedy', 'random']
    """
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def integers(option: str, text: str | None) -> list[int] | None:
    """Split a comma-separated list of integers; None stays None.

    Examples
    --------
    >>> integers("--cores", "4,8,16")
    [4, 8, 16]
    """
    try:
        return None if text is None else [int(word) for word in words(text) or []]
    except ValueError:
        raise InvalidInputError(
            f"{option} must be integers separated by commas, got {text!r}"
        ) from None
