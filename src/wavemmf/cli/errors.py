"""Turn expected failures into one line on standard error and an exit code."""

from __future__ import annotations

import signal
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import WavemmfError

__all__ = ["INTERRUPTED", "ErrorReportingGroup", "end_like_interrupts"]

#: The exit code after Ctrl-C.
INTERRUPTED = 130  # what shells report for a process ended by Ctrl-C
_BAD_INPUT = 2

# Advice in the words of the library, and in those of the command line.
_OPTIONS = {"wm.graphs.symmetric_part(A) gives": "--symmetrize takes"}


def end_like_interrupts() -> None:
    """Let SIGTERM end the work as Ctrl-C does: checkpoints and the best so far are written."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


class ErrorReportingGroup(TyperGroup):
    """A group of commands that reports expected errors; others keep their traceback."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command by its name, which may have two words."""
        both = " ".join(args[:2])
        if self.get_command(ctx, both) is not None:
            args = [both, *args[2:]]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, SystemError) as error:
            if not _is_interrupt(error):
                raise
            typer.echo("interrupted; nothing was written", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of our output has gone: no error, and typer knows what to do
        except (WavemmfError, OSError) as error:
            typer.echo(f"error: {_one_line(error)}", err=True)
            raise typer.Exit(_BAD_INPUT) from error


def _is_interrupt(error: BaseException | None) -> bool:
    # Ctrl-C inside a compiled kernel is noticed while Numba converts the result, and surfaces
    # as a SystemError that was caused by the KeyboardInterrupt.
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    for words, option in _OPTIONS.items():
        text = text.replace(words, option)
    return text
