"""Names: one thing has one name, and what is written about can be found under the name given."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import wavemmf as wm
from dotted import found

PACKAGE = Path(wm.__file__).parent
PAGES = Path(__file__).parents[1] / "docs"

#: The same idea in several places: types of arrays, and commands named after what they run.
SHARED = {"Floats", "Integers", "compare", "factorize", "info", "refine"}


def defined(path):
    """Yield the public classes, functions and constants that a file defines."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            names = [node.target.id] if isinstance(node, ast.AnnAssign) else []
        yield from (name for name in names if not name.startswith("_"))


def test_no_name_stands_for_two_things():
    places = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for name in defined(path):
            places[name].add(str(path.relative_to(PACKAGE)))
    several = {name for name, files in places.items() if len(files) > 1}
    assert several - SHARED == set()


def reference():
    """Return the modules that the reference documents."""
    text = (PAGES / "api" / "index.md").read_text(encoding="utf-8")
    return re.findall(r"^   (wavemmf[\w.]*)$", text, re.MULTILINE)


@pytest.mark.parametrize("module", reference())
def test_what_the_reference_documents_is_there(module):
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    assert not re.search(r"\._", module), "users do not import it"
    home = found(module)
    for name in home.__all__:
        thing = found(f"{module}.{name}")
        assert isinstance(thing, str) or thing.__doc__, f"{module}.{name} is not explained"


def mentioned():
    """Yield all names with dots that docstrings and pages mention, and where they do."""
    for path in sorted([*PACKAGE.rglob("*.py"), *PAGES.glob("*.md")]):
        for name in re.findall(r"`+(wavemmf(?:\.\w+)+)", path.read_text(encoding="utf-8")):
            yield name, path.name


def test_names_in_docstrings_and_pages_exist():
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    lost = set()
    for name, where in mentioned():
        try:
            found(name)
        except (AttributeError, AssertionError):
            lost.add((name, where))
    assert lost == set()
