"""``wavemmf factorize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._files import check_writable
from .._progress import progress
from ..errors import InvalidInputError
from ..factorize import ENGINES, SELECTORS
from ..factorize import factorize as run_factorization
from ..select import PAIRS, SURVIVORS
from .inputs import (
    InputArgument,
    JsonOption,
    MatrixOption,
    SeedOption,
    SymmetrizeOption,
    read_input,
)
from .output import print_facts, print_json
from .summary import as_facts, summarize

__all__ = ["factorize"]


def factorize(
    input: InputArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to save the result in; replaced if it exists."),
    ] = None,
    core: Annotated[
        int | None, typer.Option(help="Size of the core; a tenth of the rows by default.")
    ] = None,
    k: Annotated[int, typer.Option(help="Coordinates per rotation, at least 2.")] = 4,
    drop: Annotated[int, typer.Option(help="Wavelets per level, less than k.")] = 1,
    select: Annotated[
        str, typer.Option(metavar="|".join(SELECTORS), help="How coordinates are chosen.")
    ] = "greedy",
    seed: SeedOption = 0,
    matrix: MatrixOption = None,
    symmetrize: SymmetrizeOption = False,
    engine: Annotated[
        str, typer.Option(metavar="|".join(ENGINES), help="Storage the selector works on.")
    ] = "auto",
    pairs: Annotated[
        str, typer.Option(metavar="|".join(PAIRS), help="For k = 2: how partners are found.")
    ] = "exhaustive",
    survivors: Annotated[
        str,
        typer.Option(metavar="|".join(SURVIVORS), help="Basis of the rows that stay active."),
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Factorize a matrix or graph; save the result and print its error and cost.

    Without -o nothing is saved.

    \b
    Examples:
      wavemmf factorize karate --core 8 --k 8 -o karate.mmf
      wavemmf factorize graph.edges --core 100 --json
    """  # noqa: D301
    if output is not None:
        _check_output(output, input)
    given = read_input(input)
    with progress("factorizing") as report:
        result = run_factorization(
            given,
            core,
            k,
            drop,
            select,
            seed=seed,
            matrix=matrix,
            symmetrize=symmetrize,
            engine=engine,
            pairs=pairs,
            survivors=survivors,
            report=report,
        )
    # The summary may take a while: last of all the file appears, so Ctrl-C leaves none behind.
    summary = {**summarize(result), "output": None if output is None else str(output)}
    if output is not None:
        result.save(output)
    if as_json:
        print_json(summary)
    else:
        print_facts({**as_facts(summary), "saved in": output or "nothing (give -o FILE)"})


def _check_output(output: Path, source: str) -> None:
    check_writable(output)
    if output.exists() and Path(source).exists() and output.samefile(source):
        raise InvalidInputError(f"the output {output} is the input: it would be overwritten")
