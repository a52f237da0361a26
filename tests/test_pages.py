"""Pages print what records hold: tables are made of them, and no number stands in between."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What README says beside its tables: versions, years, the limit of rows without parts, and sizes
# in examples. Nothing that was measured.
SAID = {"3.10", "20,000", "2021", "2014", "2026", "3"}


def text_between_tables(page: str) -> str:
    """Return a page without tables of records, code, links and comments."""
    for pattern in (
        r"<!-- results/.*?<!-- end -->",
        r"```.*?```",
        r"`[^`]*`",
        r"<[^>]*>",
        r"\]\([^)]*\)",
    ):
        page = re.sub(pattern, " ", page, flags=re.DOTALL)
    return page


def test_tables_are_those_of_their_records() -> None:
    command = [sys.executable, str(ROOT / "tools" / "results.py"), "render", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_has_no_number_without_a_record() -> None:
    text = text_between_tables((ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(re.findall(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.,])\d(?![\w.,])", text)) <= SAID


def test_every_record_stands_on_a_page() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        shown |= set(re.findall(r"<!-- results/([\w.-]+\.json) -->", text))
    assert shown == {path.name for path in (ROOT / "results").glob("*.json")}
