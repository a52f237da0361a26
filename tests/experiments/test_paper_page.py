"""The page that leads from the paper to the code: every file and every name on it is there."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import wavemmf
from dotted import found

PACKAGE = Path(wavemmf.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "paper.md"
ROW = re.compile(r"^\|(?P<where>[^|]+)\|[^|]+\| `(?P<file>[\w/.]+)` \| `(?P<name>[\w.]+)` \|$")
ROWS = [row.groupdict() for row in map(ROW.match, PAGE.read_text("utf-8").splitlines()) if row]
#: What the page must say where it is.
SUBJECTS = [
    *(f"Definition {number}" for number in (1, 2, 3)),
    *(f"Eq. {number}" for number in (1, 2, 3, 7, 8, 9, 10, 12, 14, 15, 27, 28, 29)),
    "Algorithm 1", "Algorithm 2", "phase 1", "phase 2", "appendix D.3", "section 5.2",
    "section 5.3", "section 6.2", "section 7.3", "Figure 1", "Figure 2", "Table 1", "Table 2",
]  # fmt: skip


def file_of(thing, name):
    """Return the file, below the package, in which a thing is defined."""
    if isinstance(thing, property):
        thing = thing.fget
    thing = inspect.unwrap(getattr(thing, "py_func", thing))
    try:
        source = inspect.getsourcefile(thing)
    except TypeError:  # a value: its name says where it is
        source = importlib.import_module(name.rpartition(".")[0]).__file__
    return Path(source).relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['where'].strip()}: {r['name']}" for r in ROWS])
def test_every_name_is_where_the_page_says(row):
    if re.search(r"\.(nn|rl|experiments)\b", row["name"]):
        pytest.importorskip("torch", reason="networks and policies need torch")
    thing = found(row["name"])
    assert (PACKAGE / row["file"]).is_file()
    assert file_of(thing, row["name"]) == row["file"]


@pytest.mark.parametrize("file", sorted({row["file"] for row in ROWS}))
def test_every_file_says_what_of_the_paper_it_has(file):
    text = (PACKAGE / file).read_text("utf-8")
    assert re.search(r"\bpaper\b", text), f"{file} does not mention the paper"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_everything_of_the_paper_is_on_the_page(subject):
    numbers = re.findall(r"\d+", subject)
    kind = subject.partition(" ")[0]

    def tells(where):
        return kind in where and all(re.search(rf"(?<![\d.]){n}(?!\d)", where) for n in numbers)

    told = [subject in row["where"] or (kind == "Eq." and tells(row["where"])) for row in ROWS]
    assert any(told)
