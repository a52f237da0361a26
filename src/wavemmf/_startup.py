"""What a command needs before it can report anything itself: streams, and a way to be stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ended_by_interrupts", "open_standard_streams"]

# The names under which installers put the command, and what runs ``python -m wavemmf``.
_COMMANDS = ("wavemmf", "wavemmf.exe", "wavemmf-script.py", "wavemmf/__main__.py")


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the command at once, without a traceback, while modules are imported.

    In any other program, and after the block, Ctrl-C is a KeyboardInterrupt as always.

    Examples
    --------
    >>> with ended_by_interrupts():
    ...     import decimal
    """
    usual = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not (usual and _is_the_command()):
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_the_command() -> bool:
    if sys.argv[:1] == ["-m"]:  # Python is looking for the module that it was told to run
        return "wavemmf" in sys.orig_argv or "-mwavemmf" in sys.orig_argv
    return bool(sys.argv) and Path(sys.argv[0]).as_posix().endswith(
        tuple(f"/{name}" for name in _COMMANDS)
    )


def open_standard_streams() -> None:
    """Let standard streams that were closed lead nowhere.

    Otherwise the next file that is opened takes the place of such a stream, and whatever a library
    has to say is written into it.

    Examples
    --------
    >>> open_standard_streams()
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest that is free, which is this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for good)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
