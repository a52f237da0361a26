"""Fixtures shared by the tests of experiments and of the commands that run them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from wavemmf.cli import app


@pytest.fixture
def run() -> Callable[..., Any]:
    """Return a function that runs the command in this process."""

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def refused(run: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that runs the command and checks that it failed as promised.

    That is: code 2, one line on standard error that holds `reason`, no output.
    """

    def refused(*arguments: object, reason: str) -> None:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert re.fullmatch(r"error: [^\n]+\n", result.stderr)
        assert reason in result.stderr

    return refused
