"""The command itself: its options, its subcommands, and how it starts."""

from __future__ import annotations

from typing import Annotated

import typer

from .._startup import open_standard_streams
from .._version import __version__
from .classify import classify_app
from .compare import compare
from .compare_signals import compare_signals_command
from .errors import ErrorReportingGroup, end_like_interrupts
from .factorize import factorize
from .info import info
from .plot import plot
from .policy import policy_app
from .refine import refine
from .report import report
from .reproduce import reproduce_app
from .reproduce_all import reproduce_all
from .warmup import warmup

__all__ = ["app", "main"]

app = typer.Typer(
    cls=ErrorReportingGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wavemmf {__version__}")
        raise typer.Exit


@app.callback()
def _wavemmf(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Multiresolution matrix factorization of graphs and symmetric matrices.

    Finds a wavelet basis in which the matrix is nearly diagonal: a sequence of rotations of a few
    coordinates each, and a small core. Inputs are files (.mtx, .npz, .npy, edge lists) or
    data sets by name (karate, cayley, minnesota, ...). Results go to standard output, progress
    and messages to standard error.

    \b
    Examples:
      wavemmf factorize karate --core 8 --k 8 -o karate.mmf
      wavemmf refine karate.mmf karate
      wavemmf info karate.mmf
      wavemmf compare karate --cores 4,8,16 --plot karate.png
      wavemmf plot karate.mmf --graph karate -o wavelets.png
      wavemmf report karate.mmf --graph karate -o report.html
    """  # noqa: D301


app.command()(factorize)
app.command()(refine)
app.command()(info)
app.command()(compare)
app.command(name="compare signals")(compare_signals_command)
app.command()(plot)
app.command()(report)
app.command()(warmup)
app.add_typer(policy_app, name="policy")
app.add_typer(classify_app, name="classify")
reproduce_app.command(name="all")(reproduce_all)
app.add_typer(reproduce_app, name="reproduce")


def main() -> None:
    """Run the command line interface with the arguments of this process."""
    open_standard_streams()
    end_like_interrupts()
    app(prog_name="wavemmf")
