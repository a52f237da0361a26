"""``wavemmf compare``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from .._files import check_writable
from .._progress import progress_bar
from ..experiments import (
    CONTENDERS,
    save_comparison_csv,
    save_comparison_plot,
    save_tradeoff_plot,
)
from ..experiments import compare as run_comparison
from ..experiments._contenders import choose_methods
from ..experiments.records import Recorder
from ..graphs import as_matrix
from ..plot import check_plot_path
from .inputs import (
    InputArgument,
    JsonOption,
    MatrixOption,
    RecordOption,
    SeedOption,
    SymmetrizeOption,
    integers,
    read_input,
    words,
)
from .output import print_json, print_record

__all__ = ["compare"]


def compare(
    input: InputArgument,
    cores: Annotated[
        str | None,
        typer.Option(help="Core sizes, separated by commas; n/16, n/8 and n/4 by default."),
    ] = None,
    k: Annotated[int, typer.Option(help="Coordinates per rotation, at least 2.")] = 8,
    drop: Annotated[int, typer.Option(help="Wavelets per level, less than k.")] = 1,
    methods: Annotated[
        str | None,
        typer.Option(
            help=f"Methods, separated by commas: {', '.join(CONTENDERS)}. By default all but "
            "learned-restarts, for large matrices without those that need a dense matrix."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="Optimisation steps of the learned methods.")] = 500,
    restarts: Annotated[
        int | None,
        typer.Option(help="Also run learned-restarts, with so many randomised greedy runs."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs of each random method.")] = 1,
    seed: SeedOption = 0,
    matrix: MatrixOption = None,
    symmetrize: SymmetrizeOption = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw error against core size: .png, .pdf or .svg.")
    ] = None,
    tradeoff: Annotated[
        Path | None,
        typer.Option(
            help="Draw error against basis non-zeros, stored numbers, bytes and multiplications."
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table as a CSV file.")] = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare factorizations with each other and with low-rank approximations.

    Prints error, cost and time of every method at every core size.

    \b
    Examples:
      wavemmf compare karate --cores 4,8,16 --plot karate.png --csv karate.csv
      wavemmf compare cayley --cores 8,16,32,64 --tradeoff cayley.png
      wavemmf compare kronecker --k 16 --drop 8 --cores 16,32,64 --steps 100
    """  # noqa: D301
    for picture in (plot, tradeoff):
        if picture is not None:
            check_plot_path(picture)
    if csv is not None:
        check_writable(csv)
    keep = Recorder(record)
    sizes, chosen = integers("--cores", cores), words(methods)
    if chosen is not None:
        choose_methods(chosen)
    symmetric = as_matrix(read_input(input, symmetrize, matrix), matrix)
    with progress_bar("comparing") as progress:
        rows = run_comparison(
            symmetric, sizes, k, drop, chosen, seed, runs, progress, steps=steps, restarts=restarts
        )
    n = symmetric.shape[0]
    settings: dict[str, Any] = {"n": n, "k": k, "drop": drop, "steps": steps, "restarts": restarts}
    settings |= {"runs": runs, "matrix": matrix, "symmetrize": symmetrize}
    settings |= {"cores": list(dict.fromkeys(row.core for row in rows))}
    settings |= {"methods": list(dict.fromkeys(row.method for row in rows))}
    seeds = range(seed, seed + runs)
    measured = keep("compare", [input], settings, seeds, [asdict(row) for row in rows])
    title = f"{input}: n = {n}, k = {k}, drop = {drop}"
    if plot is not None:
        save_comparison_plot(rows, plot, title)
    if tradeoff is not None:
        save_tradeoff_plot(rows, tradeoff, title, _nonzeros(symmetric))
    if csv is not None:
        save_comparison_csv(rows, csv)
    if as_json:
        facts: dict[str, Any] = {"input": input, "n": n, "k": k, "drop": drop}
        facts |= {"steps": steps, "restarts": restarts, "seed": seed, "runs": runs}
        print_json({**facts, "rows": measured.values})
    else:
        print_record(measured)


def _nonzeros(matrix: Any) -> int:
    return int(matrix.nnz if sp.issparse(matrix) else np.count_nonzero(matrix))
