"""``wavemmf refine``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress_bar
from .._refine import refine as run_refinement
from ..errors import InvalidInputError
from ..factorization import Factorization, load
from ..graphs import as_matrix
from .delivery import check_output, deliver
from .inputs import InputArgument, JsonOption, MatrixOption, SymmetrizeOption, read_input
from .optimisation import (
    OPTIMIZER_NAMES,
    CheckpointOption,
    CheckpointSecondsOption,
    PowerOption,
    SmoothnessOption,
    StepsOption,
    ToleranceOption,
    check_checkpoint_apart,
    given,
    optimizer,
)

__all__ = ["refine"]


def refine(
    file: Annotated[Path, typer.Argument(help="A saved factorization.")],
    input: InputArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to save the result in; FILE by default."),
    ] = None,
    optimize: Annotated[
        str, typer.Option(metavar=OPTIMIZER_NAMES, help="How the rotations are optimised.")
    ] = "lbfgs",
    steps: StepsOption = None,
    tolerance: ToleranceOption = None,
    smoothness: SmoothnessOption = None,
    power: PowerOption = None,
    checkpoint: CheckpointOption = None,
    checkpoint_seconds: CheckpointSecondsOption = None,
    matrix: MatrixOption = None,
    symmetrize: SymmetrizeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Optimise the rotations of a saved factorization; its coordinates stay.

    FILE is replaced by the result, unless -o names another. Ctrl-C ends the optimisation and saves
    the best so far.

    \b
    Examples:
      wavemmf refine karate.mmf karate --steps 200
      wavemmf refine karate.mmf karate -o better.mmf --json
    """  # noqa: D301
    target = file if output is None else output
    check_output(target, input)
    check_checkpoint_apart(checkpoint, target, file, Path(input))
    start = load(file)
    symmetric = as_matrix(read_input(input, symmetrize, matrix), matrix)
    if symmetric.shape[0] != start.n:
        raise InvalidInputError(f"{file} has {start.n} rows, {input} has {symmetric.shape[0]}")
    settings = given(
        steps=steps, tolerance=tolerance, smoothness=smoothness, power=power,
        checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
    )  # fmt: skip
    with progress_bar("refining") as progress:
        result = run_refinement(
            start, symmetric, optimizer(optimize, **settings), progress=progress
        )
    # The file knows its error for the matrix it was made of, which need not be this one.
    before = Factorization.from_rotations(symmetric, start.rotations)
    error, relative = before.error(), before.relative_error()
    more: dict[str, Any] = {"file": str(file), "input": input}
    more |= {"error_before": error, "relative_error_before": relative}
    facts = {
        "error": f"{result.error():.6g} (Frobenius norm), before: {error:.6g}",
        "relative error": f"{result.relative_error():.6g}, before: {relative:.6g}",
    }
    deliver(result, target, checkpoint, as_json, more, facts)
