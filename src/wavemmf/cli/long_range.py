"""``wavemmf reproduce long-range``: what lies far away on road networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._progress import progress_bar
from .._validation import check_choice, check_integer
from ..errors import InvalidInputError
from ..experiments.records import Recorder
from .classification import EpochsOption
from .inputs import JsonOption, RecordOption, words
from .output import print_json, print_record

__all__ = ["long_range"]


def long_range(
    datasets: Annotated[
        str,
        typer.Option(
            help="minnesota, toronto, amsterdam-roads, moscow-roads; paris, shanghai, la, london "
            "(downloaded); separated by commas."
        ),
    ] = "minnesota,toronto",
    models: Annotated[
        str,
        typer.Option(
            help="NAME:LAYERS, or NAME for 2, 4, 8 and 16 layers, separated by commas: wavelet, "
            "laplacian, spectral, mlp, gcn, sage, gat, chebnet, chebnet-8, appnp, gprgnn."
        ),
    ] = "wavelet:2,wavelet:4,laplacian:2,laplacian:4,spectral:2,mlp:2,gcn,sage,gat,chebnet,"
    "chebnet-8:2,appnp:16,gprgnn:16",
    runs: Annotated[int, typer.Option(help="Number of seeds, shared by all networks.")] = 3,
    epochs: EpochsOption = None,
    dropouts: Annotated[
        str, typer.Option(help="Shares left out in training; the validation nodes choose one.")
    ] = "0.2,0.5",
    influence: Annotated[
        int,
        typer.Option(help="Nodes at which the influence by hop is measured (first seed); 0: none."),
    ] = 0,
    results: Annotated[
        Path, typer.Option(help="Folder that keeps every run; the same command goes on there.")
    ] = Path("long-range"),
    kept_only: Annotated[
        bool, typer.Option("--kept-only", help="Train nothing: tell of the runs that are kept.")
    ] = False,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict the eccentricity of junctions within 16 hops, with networks of all kinds.

    The task of City-Networks: ten classes of equal size, 10 % of the nodes for training, 10 % for
    validation, which choose the epoch. Run i has seed i for the split and for all weights.

    \b
    Examples:
      wavemmf reproduce long-range
      wavemmf reproduce long-range --datasets amsterdam-roads --models wavelet:4,gcn:16 --runs 1
    """  # noqa: D301
    from ..experiments.long_range import (
        LONG_RANGE_DATASETS,
        TRAINING,
        long_range_rows,
        parse_models,
        run_long_range,
    )

    names = [
        check_choice("--datasets", name, LONG_RANGE_DATASETS) for name in words(datasets) or []
    ]
    chosen = parse_models(models)
    check_integer("--runs", runs, 1)
    shares = _shares(dropouts)
    keep = Recorder(record)
    with progress_bar("training networks") as progress:
        found = run_long_range(
            results, names, chosen, runs, epochs, shares, influence, kept_only, progress
        )
    if not found:
        raise InvalidInputError(f"{results} has no run of these networks on these data sets")
    rows = long_range_rows(found)
    settings = {"models": [str(each) for each in chosen], "influence": influence}
    settings |= {"dropouts": shares}
    settings |= {"epochs": epochs or TRAINING.epochs}
    measured = keep("reproduce long-range", names, settings, range(runs), rows)
    if as_json:
        print_json({"rows": rows})
    else:
        print_record(measured)


def _shares(text: str) -> list[float]:
    try:
        return [float(word) for word in words(text) or []]
    except ValueError:
        raise InvalidInputError(
            f"--dropouts must be numbers separated by commas, got {text!r}"
        ) from None
