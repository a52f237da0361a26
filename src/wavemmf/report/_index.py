"""A page that gathers tables and pictures of several experiments."""

from __future__ import annotations

import csv
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .._files import atomic_write
from ._page import asset

__all__ = ["Section", "write_index"]

# The colours of page.css follow an attribute; here it is set once.
_THEME = (
    "document.documentElement.dataset.theme = "
    "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';"
)
_STYLE = (
    "section { overflow-x: auto; } img { max-width: 100%; background: #fff; border-radius: .4rem; }"
    " td, th { padding-right: 1.2rem; white-space: nowrap; } a { color: var(--accent); }"
    " code { overflow-wrap: anywhere; }"
)


@dataclass(frozen=True)
class Section:
    """One experiment.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        What was done, and with which settings beside those of the paper.
    command : str
        Runs it again.
    pictures, tables : tuple of paths
        Pictures and CSV files, relative to the page.
    missing : str
        Why there is nothing to show, empty if there is.
    """

    title: str
    text: str
    command: str
    pictures: tuple[str, ...] = field(default=())
    tables: tuple[str, ...] = field(default=())
    missing: str = ""


def write_index(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write a page that shows the pictures and tables of all sections, and links to them.

    Examples
    --------
    >>> import tempfile
    >>> section = Section("Figure 1", "Errors.", "wavemmf reproduce fig1", missing="no time")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_index(Path(folder, "index.html"), "All", [section])
    ...     "not run: no time" in Path(folder, "index.html").read_text()
    True
    """
    body = "\n".join(_section(section, path.parent) for section in sections)
    heading = html.escape(title)
    page = f"""<!doctype html>
<html lang="en-GB">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title><link rel="icon" href="data:,">
<style>{asset("page.css")}{_STYLE}</style><script>{_THEME}</script></head>
<body><header><div><h1>{heading}</h1></div></header><main>
{body}
</main></body></html>
"""
    with atomic_write(path) as stream:
        stream.write(page.encode("utf-8"))


def _section(section: Section, folder: Path) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>", f"<p>{html.escape(section.text)}</p>"]
    if section.missing:
        parts.append(f"<p><b>not run: {html.escape(section.missing)}</b></p>")
    else:
        parts += [_picture(name, section.title) for name in section.pictures]
        parts += [_table(name, folder) for name in section.tables]
    parts.append(f'<p class="hint">Command: <code>{html.escape(section.command)}</code></p>')
    return "<section>" + "\n".join(parts) + "</section>"


def _picture(name: str, title: str) -> str:
    source = html.escape(name)
    return f'<p><a href="{source}"><img src="{source}" alt="{html.escape(title)}"></a></p>'


def _table(name: str, folder: Path) -> str:
    with (folder / name).open(encoding="utf-8", newline="") as stream:
        headings, *rows = list(csv.reader(stream))
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in headings)
    lines = ["".join(f"<td>{html.escape(_short(cell))}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    source = html.escape(name)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p class="hint">As a file: <a href="{source}">{source}</a></p>'
    )


def _short(cell: str) -> str:
    """Shorten numbers with a point; all else stays.

    Examples
    --------
    >>> _short("0.123456789"), _short("17"), _short("learned")
    ('0.1235', '17', 'learned')
    """
    try:
        return f"{float(cell):.4g}" if "." in cell else cell
    except ValueError:
        return cell
