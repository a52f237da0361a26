"""Put a page together: its content, its style and its script in one file."""

from __future__ import annotations

import html
import os
from importlib import resources
from pathlib import Path
from typing import Any

from .._files import atomic_write, check_writable
from .._json import json_text
from ..errors import InvalidInputError, TooLargeError
from ..factorization import Factorization
from ..graphs import Graph
from ..io import load_if_path
from ._content import content

__all__ = ["asset", "check_report_path", "report_html", "write_report"]

# A page with more nodes would be slow to open and to slide through.
_MOST_NODES = 20_000

# In the order in which they use each other.
_SCRIPTS = (
    "data.js", "colours.js", "canvas.js", "graph.js", "tree.js", "images.js", "charts.js",
    "signal.js", "main.js",
)  # fmt: skip


def report_html(
    f: Factorization, A: Any = None, title: str | None = None, signal: Any = None
) -> str:
    """Return an interactive page about a factorization, complete in one string.

    It shows the wavelets on the graph, the hierarchy, the compressed matrix, frequencies and
    scales, error and size, and the coefficients of a signal if there is one. It loads nothing from
    anywhere.

    Parameters
    ----------
    f : Factorization
        What to show; of at most 20,000 rows.
    A : matrix, graph or path, optional
        What was factorized, or its graph, for edges and coordinates. Without it the nodes are
        placed by the hierarchy of the factorization.
    title : str, optional
        Heads the page; by default the name of the graph.
    signal : array of shape (n,) or Series, optional
        A signal on the nodes, whose coefficients are shown by level.

    Returns
    -------
    str

    Examples
    --------
    >>> import wavemmf as wm
    >>> page = report_html(wm.factorize(wm.graphs.karate(), core=8, k=4), title="A club")
    >>> page.startswith("<!doctype html>") and "A club" in page
    True
    """
    if f.n > _MOST_NODES:
        raise TooLargeError(
            f"a report shows at most {_MOST_NODES} nodes, got {f.n}; wavemmf.plot draws single "
            "wavelets of any factorization"
        )
    graph = load_if_path(A)
    heading = title or _name(graph) or f"a matrix of {f.n} rows"
    values = json_text(content(f, graph, heading, signal), indent=None)
    parts = {
        "TITLE": html.escape(heading),
        "STYLE": asset("page.css"),
        # No "<" inside: whatever a node is called, it cannot end the element.
        "CONTENT": values.replace("<", "\\u003c"),
        "SCRIPT": "\n".join(map(asset, _SCRIPTS)),
    }
    page = asset("page.html")
    # The content comes last: nothing in it is taken for the place of another part.
    for name in ("STYLE", "SCRIPT", "TITLE", "CONTENT"):
        page = page.replace(f"@@{name}@@", parts[name])
    return page


def write_report(
    f: Factorization,
    path: str | os.PathLike[str],
    A: Any = None,
    title: str | None = None,
    signal: Any = None,
) -> None:
    """Write the page of `report_html` to a file, whole or not at all.

    Parameters
    ----------
    f : Factorization
        What to show.
    path : str or path
        Ends in .html.
    A, title, signal
        As for `report_html`.

    Examples
    --------
    >>> import pathlib, tempfile, wavemmf as wm
    >>> karate = wm.graphs.karate()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "karate.html"
    ...     write_report(wm.factorize(karate, core=8, k=4), page, karate)
    ...     page.stat().st_size < 200_000
    True
    """
    target = check_report_path(path)
    text = report_html(f, A, title, signal)
    with atomic_write(target) as stream:
        stream.write(text.encode("utf-8"))


def check_report_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` if a report can be written there; meant to be called before long work."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InvalidInputError(f"cannot write the report {path}: the suffix must be .html")
    return check_writable(path)


def _name(graph: Any) -> str:
    return graph.name if isinstance(graph, Graph) else ""


def asset(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
