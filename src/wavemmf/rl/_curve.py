"""The course of a training as a table or a picture."""

from __future__ import annotations

import csv
import io
import os

from .._files import atomic_write
from .._optional import require
from ..plot import check_plot_path, save_figure, training
from ..plot._canvas import PICTURES
from ._history import TrainingHistory
from ._policy import Policy

__all__ = ["check_curve_path", "write_curve"]


def check_curve_path(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix names, if a curve can be written there.

    Examples
    --------
    >>> check_curve_path("curve.csv")
    'csv'
    """
    return check_plot_path(path, ("csv", *PICTURES), "curve")


def write_curve(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write error and reward of every training episode, as a table or as a picture.

    Parameters
    ----------
    policy : Policy
        A trained policy.
    path : str or path
        The file: .csv for a table, .png, .pdf or .svg for a picture.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> policy = Policy()
    >>> policy.history.add([2.0], [-2.0], seconds=0.5, graph=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_curve(policy, pathlib.Path(folder, "curve.csv"))
    ...     print(pathlib.Path(folder, "curve.csv").read_text().splitlines()[1])
    1,0,2.0,-2.0,0.5
    """
    if check_curve_path(path) != "csv":
        _picture(policy.history, path)
        return
    with atomic_write(path) as stream:
        stream.write(_table(policy.history))


def _table(history: TrainingHistory) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["episode", "graph", "error", "reward", "seconds"])
    columns = (history.graphs, history.errors, history.rewards, history.seconds)
    for episode, values in enumerate(zip(*(c.tolist() for c in columns), strict=True), start=1):
        writer.writerow([episode, *values])
    return text.getvalue().encode("utf-8")


def _picture(history: TrainingHistory, path: str | os.PathLike[str]) -> None:
    figure = require("matplotlib.figure", extra="plot").Figure((6.4, 4.0), layout="constrained")
    training(history, figure.subplots(), window=max(1, history.episodes // 20))
    save_figure(figure, path)
