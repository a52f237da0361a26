"""What the user names on the command line: matrices, graphs, lists."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from .._suggest import did_you_mean
from ..errors import InvalidInputError
from ..experiments.records import RECORD_HELP
from ..graphs import named, names, symmetric_part
from ..io import SUFFIXES, read

__all__ = [
    "CoreOption",
    "InputArgument",
    "JsonOption",
    "MatrixOption",
    "OutputOption",
    "RecordOption",
    "SeedOption",
    "SymmetrizeOption",
    "as_core",
    "integers",
    "read_input",
    "words",
]

CoreOption = Annotated[
    str | None,
    typer.Option(
        help="Size of the core, or its share of the rows, such as 0.1; a tenth by default."
    ),
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
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to save the result in; replaced if it exists."),
]
RecordOption = Annotated[Path | None, typer.Option(metavar="FILE|FOLDER", help=RECORD_HELP)]
SeedOption = Annotated[int, typer.Option(help="Seed of random choices.")]
SymmetrizeOption = Annotated[
    bool, typer.Option("--symmetrize", help="Take (A + A.T) / 2 of an asymmetric matrix.")
]


def as_core(text: str | None) -> int | float | None:
    """Return the core as an integer, or as a share if it is written as one.

    Examples
    --------
    >>> as_core("8"), as_core("0.1")
    (8, 0.1)
    """
    if text is None:
        return None
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    raise InvalidInputError(f"--core must be a number of rows or a share of them, got {text!r}")


def read_input(text: str, symmetrize: bool = False, matrix: str | None = None) -> Any:
    """Return the matrix or graph that the user named; a file wins over a data set.

    With `symmetrize` it may be asymmetric; which `matrix` of a graph is meant says whether a
    matrix is one of a graph.

    Examples
    --------
    >>> read_input("karate")
    Graph('karate', n=34, num_edges=78)
    """
    path = Path(text)
    if path.is_file():
        found = read(path)
        return symmetric_part(found, as_graph=matrix is not None) if symmetrize else found
    if {text, f"snap:{text}"} & set(names()):
        return named(text)
    problem = "is a directory" if path.is_dir() else "is neither a file nor a data set"
    raise InvalidInputError(
        f"{text!r} {problem}; the data sets are {', '.join(names())}; "
        f"files must end in {', '.join(SUFFIXES)}{did_you_mean(text, names())}"
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
