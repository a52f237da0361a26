"""Fixtures shared by the tests of experiments and of the commands that run them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import command_line
import wavemmf as wm
from wavemmf.graphs import graph_from_edges


@pytest.fixture
def run() -> Callable[..., Any]:
    """Return a function that runs the command in this process."""
    return command_line.run


@pytest.fixture
def refused(run: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that runs the command and checks that it failed as promised.

    That is: code 2, one line on standard error that holds `reason`, no output.
    """

    def refused(*arguments: object, reason: str) -> None:
        command_line.failed(run(*arguments), reason)

    return refused


@pytest.fixture(scope="session")
def rings() -> Any:
    """Return rings and stars: neighbours tell them apart, numbers of nodes do not."""
    pytest.importorskip("torch")
    from wavemmf.experiments.graphs import GraphProblem

    sizes = range(6, 21)
    stars = [graph_from_edges(n, np.zeros(n - 1, int), np.arange(1, n)) for n in sizes]
    graphs = [*(wm.graphs.cycle(n) for n in sizes), *stars]
    return GraphProblem("rings", graphs, [1] * 15 + [2] * 15)


@pytest.fixture
def tu_problem(data_dir: Path) -> Callable[[str], Any]:
    """Return a function that reads a data set, or skips the test if it is not there."""

    def read(name: str) -> Any:
        from wavemmf.experiments.graphs import load_graph_problem

        if not (data_dir / "TUDataset" / name).is_dir():
            pytest.skip(f"{data_dir} has no folder TUDataset/{name}")
        return load_graph_problem(name)

    return read
