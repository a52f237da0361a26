"""The command, in this process or in one of its own, and how it fails."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

from typer.testing import CliRunner

from wavemmf.cli import app

__all__ = ["failed", "interrupted", "run", "start"]


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def start(*arguments, **settings):
    """Run the command in a process of its own, as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "wavemmf", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **settings,
    )


def interrupted(program, *arguments):
    """Run a program and press Ctrl-C once it prints "working"; return what it printed after that.

    The program must work on for a second or more. It is checked that it ended as interrupted.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout.readline() == "working\n"
            process.send_signal(signal.SIGINT)
            output, messages = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    return output, messages


def failed(result, *parts):
    """Check that it failed as promised: code 2, one line on standard error, no output."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"error: [^\n]+\n", result.stderr)
    for part in parts:
        assert part in result.stderr
