"""``wavemmf factorize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import progress
from ..errors import InvalidInputError
from ..factorize import ENGINES, SELECTORS
from ..factorize import factorize as run_factorization
from ..select import PAIRS, SURVIVORS
from .delivery import check_output, deliver
from .inputs import (
    InputArgument,
    JsonOption,
    MatrixOption,
    SeedOption,
    SymmetrizeOption,
    read_input,
)
from .optimisation import (
    OPTIMIZERS,
    CheckpointOption,
    CheckpointSecondsOption,
    PowerOption,
    SmoothnessOption,
    StepsOption,
    ToleranceOption,
    check_checkpoint,
    given,
)

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
    policy: Annotated[
        Path | None,
        typer.Option(help="Let this trained policy choose the coordinates, see wavemmf policy."),
    ] = None,
    optimize: Annotated[
        str | None,
        typer.Option(
            metavar=OPTIMIZERS,
            help="Optimise all rotations together afterwards; lbfgs is the one to use.",
        ),
    ] = None,
    steps: StepsOption = None,
    restarts: Annotated[
        int, typer.Option(help="Run the greedy selector so many times with noise; take the best.")
    ] = 0,
    finalists: Annotated[
        int | None, typer.Option(help="How many of the restarts are optimised; 15 by default.")
    ] = None,
    tolerance: ToleranceOption = None,
    smoothness: SmoothnessOption = None,
    power: PowerOption = None,
    checkpoint: CheckpointOption = None,
    checkpoint_seconds: CheckpointSecondsOption = None,
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
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster with this scheduler."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Factorize a matrix or graph; save the result and print its error and cost.

    Without -o nothing is saved. Ctrl-C during the optimisation saves the best so far; before, it
    leaves nothing behind.

    \b
    Examples:
      wavemmf factorize karate --core 8 --k 8 -o karate.mmf
      wavemmf factorize karate --core 8 --k 8 --optimize lbfgs -o learned.mmf
      wavemmf factorize graph.edges --core 100 --json
      wavemmf factorize roads.edges.gz --core 40000 --dask tcp://10.0.0.1:8786
    """  # noqa: D301
    if output is not None:
        check_output(output, input)
    check_checkpoint(checkpoint, output, Path(input))
    settings = given(
        steps=steps, finalists=finalists, tolerance=tolerance, smoothness=smoothness, power=power,
        checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
    )  # fmt: skip
    _check_effective(settings, optimize, restarts)
    selector = select if policy is None else _load_selector(policy, select)
    source = read_input(input)
    with progress("factorizing") as report:
        result = run_factorization(
            source,
            core,
            k,
            drop,
            selector,
            optimize,
            restarts=restarts,
            seed=seed,
            matrix=matrix,
            symmetrize=symmetrize,
            engine=engine,
            pairs=pairs,
            survivors=survivors,
            executor=dask,
            report=report,
            **settings,
        )
    deliver(result, output, checkpoint, as_json)


def _load_selector(policy: Path, select: str) -> Any:
    """Read a policy that takes the place of a selector by name."""
    if select != "greedy":
        raise InvalidInputError(f"--policy takes the place of --select {select}: give one of them")
    from ..rl import load_policy

    return load_policy(policy)


def _check_effective(settings: dict[str, Any], optimize: str | None, restarts: int) -> None:
    """Refuse settings of a part of the work that was not asked for."""
    for name in settings:
        option = f"--{name.replace('_', '-')}"
        if optimize is None:
            raise InvalidInputError(f"{option} is for an optimisation: give --optimize as well")
        if name == "finalists" and not restarts:
            raise InvalidInputError("--finalists is for --restarts: give it as well")
        if name.startswith("checkpoint") and restarts:
            raise InvalidInputError(f"{option} cannot be combined with --restarts")
