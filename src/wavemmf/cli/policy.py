"""``wavemmf policy``: train a policy, apply it, look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._factorize import factorize as run_factorization
from .._progress import progress_bar
from ..errors import InvalidInputError
from .delivery import check_output, deliver
from .errors import INTERRUPTED
from .inputs import (
    CoreOption,
    InputArgument,
    JsonOption,
    MatrixOption,
    OutputOption,
    SeedOption,
    as_core,
    read_input,
)
from .optimisation import (
    OPTIMIZER_NAMES,
    CheckpointOption,
    CheckpointSecondsOption,
    StepsOption,
    ToleranceOption,
    check_checkpoint_apart,
    given,
    optimizer,
)
from .output import print_facts, print_file, print_json

__all__ = ["policy_app"]

policy_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learn which coordinates to rotate (needs the extra torch).",
)

PolicyArgument = Annotated[Path, typer.Argument(help="A saved policy.")]


@policy_app.command()
def train(
    inputs: Annotated[list[str], typer.Argument(help="Files or names of data sets, one or more.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to save the policy in (.safetensors).")
    ],
    core: CoreOption = None,
    k: Annotated[int, typer.Option(help="Coordinates per rotation, at least 2.")] = 4,
    drop: Annotated[int, typer.Option(help="Wavelets per level, less than k.")] = 1,
    episodes: Annotated[int, typer.Option(help="Episodes to play.")] = 300,
    preset: Annotated[
        str,
        typer.Option(
            metavar="groups|transfer|guided|identities|reduced-variance|paper",
            help="What learns: ours for one graph, ours for many, ..., the paper's agent and rule.",
        ),
    ] = "groups",
    clusters: Annotated[
        int | None, typer.Option(help="Cut every input into clusters of so many vertices first.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Episodes per update.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Step size.")] = None,
    rewards: Annotated[
        str | None,
        typer.Option(
            metavar="closed_form|stiefel",
            help="Judge episodes with closed-form or with optimised rotations.",
        ),
    ] = None,
    imitation: Annotated[
        int | None, typer.Option(help="Demonstrations of the greedy selector to learn from first.")
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Stop when the mean error over so many episodes rises.")
    ] = None,
    checkpoint: CheckpointOption = None,
    checkpoint_seconds: CheckpointSecondsOption = None,
    curve: Annotated[
        list[Path] | None,
        typer.Option(help="Write the learning curve: .csv, .png, .pdf or .svg; repeatable."),
    ] = None,
    seed: SeedOption = 0,
    matrix: MatrixOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a policy on one or more matrices or graphs, and save it.

    Ctrl-C ends the training and saves the policy so far.

    \b
    Examples:
      wavemmf policy train karate --core 8 --k 8 -o karate.safetensors --curve karate.png
      wavemmf policy train cora --clusters 100 --core 0.1 --k 8 --preset transfer \\
        --rewards closed_form -o cora.safetensors
    """  # noqa: D301
    from ..rl import train_policy, write_curve
    from ..rl._curve import check_curve_path

    for source in inputs:
        check_output(output, source)
    check_checkpoint_apart(checkpoint, output, *map(Path, inputs))
    for path in curve or ():
        check_curve_path(path)
    settings = given(
        batch=batch, learning_rate=learning_rate, rewards=rewards, imitation=imitation,
        window=window,
        checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
    )  # fmt: skip
    graphs = _training_graphs(inputs, clusters, seed)
    with progress_bar("training") as progress:
        policy = train_policy(
            graphs, as_core(core), k, drop, episodes, preset,
            seed=seed, matrix=matrix, progress=progress, **settings,
        )  # fmt: skip
    policy.save(output)
    for path in curve or ():
        write_curve(policy, path)
    summary = {**_summary(policy), "output": str(output)}
    if as_json:
        print_json(summary)
    else:
        print_facts({**_facts(summary), "saved in": output})
    if policy.history.stopped == "interrupted":
        typer.echo(f"interrupted; the policy so far was written to {output}", err=True)
        raise typer.Exit(INTERRUPTED)


@policy_app.command()
def apply(
    file: PolicyArgument,
    input: InputArgument,
    output: OutputOption = None,
    core: CoreOption = None,
    k: Annotated[
        int | None, typer.Option(help="Coordinates per rotation; as in training by default.")
    ] = None,
    drop: Annotated[
        int | None, typer.Option(help="Wavelets per level; as in training by default.")
    ] = None,
    optimize: Annotated[
        str | None,
        typer.Option(metavar=OPTIMIZER_NAMES, help="Optimise all rotations together afterwards."),
    ] = None,
    steps: StepsOption = None,
    tolerance: ToleranceOption = None,
    restarts: Annotated[
        int, typer.Option(help="Sample so many index sequences; take the best.")
    ] = 0,
    seed: SeedOption = 0,
    matrix: MatrixOption = None,
    as_json: JsonOption = False,
) -> None:
    """Factorize a matrix or graph with the coordinates that a trained policy chooses.

    \b
    Examples:
      wavemmf policy apply karate.safetensors karate --core 8 -o karate.mmf
      wavemmf policy apply cora.safetensors cora --core 100 --json
    """  # noqa: D301
    from ..rl import load_policy

    if output is not None:
        check_output(output, input)
    settings = given(steps=steps, tolerance=tolerance)
    if settings and optimize is None:
        raise InvalidInputError("--steps and --tolerance are for an optimisation: give --optimize")
    policy = load_policy(file)
    source = read_input(input)
    with progress_bar("factorizing") as progress:
        result = run_factorization(
            source,
            as_core(core),
            _as_trained(policy, "k", k, 4),
            _as_trained(policy, "drop", drop, 1),
            policy,
            None if optimize is None else optimizer(optimize, **settings),
            restarts=restarts,
            seed=seed,
            matrix=matrix,
            progress=progress,
        )
    deliver(result, output, None, as_json, {"policy": str(file)})


@policy_app.command()
def info(file: PolicyArgument, as_json: JsonOption = False) -> None:
    """Show the architecture of a policy, how it was trained and what it learned.

    \b
    Example:
      wavemmf policy info karate.safetensors
    """  # noqa: D301
    from ..rl import load_policy

    summary = _summary(load_policy(file))
    print_file(file, summary, _facts(summary), as_json)


def _training_graphs(inputs: list[str], clusters: int | None, seed: int) -> list[Any]:
    from ..rl import clusters as cut

    graphs = [read_input(source) for source in inputs]
    if clusters is None:
        return graphs
    pieces = [piece for graph in graphs for piece in cut(graph, size=clusters, seed=seed)]
    if not pieces:
        raise InvalidInputError(f"no cluster of {clusters} vertices is large enough to train on")
    return pieces


def _as_trained(policy: Any, name: str, value: int | None, default: int) -> int:
    """Return a setting as given, or as in the training, or the usual default."""
    return int(policy.trained_with.get(name, default)) if value is None else value


def _summary(policy: Any) -> dict[str, Any]:
    """Return what is known of a policy as plain values."""
    return {
        "settings": policy.settings.to_json(),
        "parameters": sum(value.numel() for value in policy.parameters()),
        "trained_with": policy.trained_with,
        "history": policy.history.summary(),
    }


def _facts(summary: dict[str, Any]) -> dict[str, str]:
    """Put a summary into words."""
    history, settings = summary["history"], summary["settings"]
    facts = {
        "networks": f"two, {settings['layers']} layers of width {settings['hidden']}, "
        f"{summary['parameters']} parameters",
        "features": ", ".join(settings["features"]),
        "trained with": _listed(summary["trained_with"]),
        "episodes": str(history["episodes"]),
    }
    if history["episodes"]:
        facts["mean error"] = (
            f"{history['error_last']:.6g} (last tenth), {history['error_first']:.6g} (first tenth)"
        )
        facts["best error"] = f"{history['error_best']:.6g}"
        facts["time"] = f"{history['seconds']:.3f} s"
        facts["stopped because"] = history["stopped"]
    return facts


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "nothing yet"
