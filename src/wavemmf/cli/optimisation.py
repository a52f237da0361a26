"""The options that steer an optimisation, shared by the commands that run one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import check_regular
from ..errors import InvalidInputError
from ..optimize import OPTIMIZERS, Optimizer
from ..optimize._resolve import optimizer_class

__all__ = [
    "OPTIMIZER_NAMES",
    "CheckpointOption",
    "CheckpointSecondsOption",
    "PowerOption",
    "SmoothnessOption",
    "StepsOption",
    "ToleranceOption",
    "check_checkpoint_apart",
    "given",
    "optimizer",
]

OPTIMIZER_NAMES = "|".join(OPTIMIZERS)

# None stands for the default of the library, so that an option without effect can be noticed.
StepsOption = Annotated[
    int | None, typer.Option(help="Largest number of optimisation steps; 500 by default.")
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        help="Stop when ten steps gain less than this part of the squared error; 1e-7 by default."
    ),
]
SmoothnessOption = Annotated[
    float | None,
    typer.Option(help="Weight of a penalty for wavelets that are not smooth; 0 by default."),
]
PowerOption = Annotated[
    float | None, typer.Option(help="Exponent of the frequencies in that penalty; 1 by default.")
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        help="File that keeps the state of the optimisation: the same command continues from it. "
        "Removed at the end."
    ),
]
CheckpointSecondsOption = Annotated[
    float | None, typer.Option(help="Time between two writes of the checkpoint; 30 by default.")
]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given.

    Examples
    --------
    >>> given(steps=20, power=None)
    {'steps': 20}
    """
    return {name: value for name, value in options.items() if value is not None}


def optimizer(name: str, **settings: Any) -> Optimizer:
    """Return the optimiser of this name, with the options that were given.

    Examples
    --------
    >>> optimizer("lbfgs", steps=20).steps
    20
    """
    return optimizer_class(name)(**settings)


def check_checkpoint_apart(checkpoint: Path | None, *others: Path | None) -> None:
    """Refuse, before any work, a checkpoint that cannot be written or is one of the other files."""
    if checkpoint is None:
        return
    check_regular(checkpoint)
    if checkpoint.resolve() in {other.resolve() for other in others if other is not None}:
        raise InvalidInputError(f"the checkpoint {checkpoint} must be a file of its own")
