"""The picture of a comparison of signals: error against share of coefficients."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..plot import save_figure
from ..plot._canvas import axes_or_new
from .signals import SignalRow

__all__ = ["save_signal_plot"]


def save_signal_plot(
    rows: Sequence[SignalRow], path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draw a line for each basis, dashed if it was chosen for the signal.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> row = SignalRow("haar", False, [0.3] * 4, [0.5] * 50, 0.1, 1.0, 9.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_signal_plot([row], pathlib.Path(folder, "plot.png"))
    ...     pathlib.Path(folder, "plot.png").read_bytes()[1:4]
    b'PNG'
    """
    ax = axes_or_new(None)
    for row in rows:
        style = "--" if row.adapted else "-"
        width = 2.2 if row.basis.startswith("diffusion") else 1.1
        percents = range(1, len(row.curve) + 1)
        ax.semilogy(percents, row.curve, style, linewidth=width, label=row.basis)
    ax.set_xlabel("coefficients kept, % of all")
    ax.set_ylabel("relative error")
    ax.set_title(title)
    ax.legend(fontsize="small")
    save_figure(ax.figure, path)
