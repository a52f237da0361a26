"""``wavemmf warmup``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .._progress import progress_bar
from .._warmup import JOBS, warm_up

__all__ = ["warmup"]


def warmup(
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per core.")
    ] = None,
) -> None:
    """Compile the kernels now, so that no later call has to wait for it.

    \b
    Example:
      wavemmf warmup
    """  # noqa: D301
    start = time.perf_counter()
    with progress_bar("compiling") as progress:
        warm_up(workers, progress)
    typer.echo(f"{len(JOBS)} sets of kernels are compiled ({time.perf_counter() - start:.0f} s)")
