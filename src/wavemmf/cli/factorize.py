"""``wavemmf factorize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._engine import ENGINES
from .._factorize import factorize as run_factorization
from .._progress import progress_bar
from .._restarts import Search
from .._validation import check_choice
from ..errors import InvalidInputError
from ..factorization import KINDS
from ..select import PAIRS, SELECTORS, SURVIVORS, Selector
from .delivery import check_output, deliver
from .inputs import (
    CoreOption,
    InputArgument,
    JsonOption,
    MatrixOption,
    OutputOption,
    SeedOption,
    SymmetrizeOption,
    as_core,
    read_input,
)
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

__all__ = ["factorize"]


def factorize(
    input: InputArgument,
    output: OutputOption = None,
    core: CoreOption = None,
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
            metavar=OPTIMIZER_NAMES,
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
    rotations: Annotated[
        str, typer.Option(metavar="|".join(KINDS), help="Levels as blocks or as wavelets.")
    ] = "full",
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PAIRS),
            help="For k = 2: how partners are found; exhaustive by default.",
        ),
    ] = None,
    survivors: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(SURVIVORS),
            help="Basis of the rows that stay active; auto by default.",
        ),
    ] = None,
    executor: Annotated[
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
      wavemmf factorize roads.edges.gz --core 40000 --executor tcp://10.0.0.1:8786
    """  # noqa: D301
    if output is not None:
        check_output(output, input)
    check_checkpoint_apart(checkpoint, output, Path(input))
    settings = given(
        steps=steps, tolerance=tolerance, smoothness=smoothness, power=power,
        checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
    )  # fmt: skip
    searched = given(finalists=finalists)
    _check_effective(settings | searched, optimize, restarts)
    own = given(pairs=pairs, survivors=survivors)
    selector = _selector(select, own) if policy is None else _load_selector(policy, select, own)
    source = read_input(input, symmetrize, matrix)
    with progress_bar("factorizing") as progress:
        result = run_factorization(
            source,
            as_core(core),
            k,
            drop,
            selector,
            None if optimize is None else optimizer(optimize, **settings),
            restarts=Search(restarts, **searched),
            seed=seed,
            matrix=matrix,
            engine=engine,
            rotations=rotations,
            executor=executor,
            progress=progress,
        )
    deliver(result, output, checkpoint, as_json)


def _selector(select: str, own: dict[str, str]) -> Selector:
    """Return the selector of this name, with settings of its own."""
    kind = SELECTORS[check_choice("select", select, tuple(SELECTORS))]
    for name in own:
        if not hasattr(kind, name):
            raise InvalidInputError(f"--{name} is not for --select {select}: leave it out")
    return kind(**own)


def _load_selector(policy: Path, select: str, own: dict[str, str]) -> Any:
    """Read a policy that takes the place of a selector by name."""
    if select != "greedy":
        raise InvalidInputError(f"--policy takes the place of --select {select}: give one of them")
    for name in own:
        raise InvalidInputError(f"--{name} is not for --policy: leave it out")
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
