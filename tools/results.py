"""Tables of README and docs from the records in results/, and which records are old.

    python tools/results.py                     records older than the code they depend on
    python tools/results.py render [--check]    write (or compare) all tables in the pages
    python tools/results.py renew NAME...       measure again what these records hold

A table stands between two comments, ``<!-- results/NAME.json -->`` and ``<!-- end -->``. It is
what `wavemmf.experiments.tables` makes of that record, and nothing else.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from wavemmf.experiments.records import Record, read_record
from wavemmf.experiments.tables import table_of

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
_BLOCK = re.compile(r"(<!-- results/(?P<name>[\w.-]+)\.json -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the files that may hold tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def records() -> dict[str, Record]:
    """Return all records by the names of their files."""
    return {path.stem: read_record(path) for path in sorted(RESULTS.glob("*.json"))}


def markdown(record: Record) -> str:
    """Return the table of a record as Markdown."""
    table = table_of(record)
    rows = [row for section in table.sections for row in section]
    headings = table.headings or [""] * len(rows[0])
    lines = [list(headings), ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(_cell(text) for text in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    # A word broken over two lines of a heading is one word again.
    return text.replace("-\n", "").replace("\n", " ")


def rendered(text: str) -> str:
    """Return the text of a page with all of its tables made anew."""

    def block(found: re.Match[str]) -> str:
        record = read_record(RESULTS / f"{found['name']}.json")
        return f"{found[1]}\n{markdown(record)}\n{found[3]}"

    return _BLOCK.sub(block, text)


def render(check: bool) -> int:
    """Make all tables anew; or only say which pages differ, and return 1 if any does."""
    differ = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if rendered(text) != text:
            differ.append(page.relative_to(ROOT))
            if not check:
                page.write_text(rendered(text), encoding="utf-8")
    for page in differ:
        print(f"{page}: {'differs from its records' if check else 'written'}")
    return 1 if check and differ else 0


def stale() -> Iterator[tuple[str, Record]]:
    """Yield the records that are older than their code."""
    return ((name, record) for name, record in records().items() if record.is_older_than_its_code)


def list_stale() -> int:
    """Print what would have to be measured again."""
    seconds = 0.0
    for name, record in stale():
        seconds += record.seconds
        print(f"{name}: {record.seconds:.0f} s, {record.command} ({record.version})")
    if seconds:
        print(f"{seconds / 60:.0f} minutes in all; make results-renew NAME=... renews one")
    else:
        print("no record is older than the code it depends on")
    return 0


def renew(names: list[str]) -> int:
    """Run the commands of records again."""
    programs = {"python": [sys.executable], "wavemmf": [sys.executable, "-m", "wavemmf"]}
    for name in names:
        path = RESULTS / f"{name}.json"
        program, *rest = shlex.split(read_record(path).command)
        command = [*programs[program], *rest, "--record", str(path)]
        print(shlex.join([program, *rest]), file=sys.stderr)
        subprocess.run(command, cwd=ROOT, check=True)
    return render(check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command")
    pages_command = commands.add_parser("render", help="write the tables of all pages")
    pages_command.add_argument("--check", action="store_true", help="only say which differ")
    again = commands.add_parser("renew", help="measure again")
    again.add_argument("names", nargs="+", choices=[*records(), "stale"], metavar="NAME")
    given = parser.parse_args()
    if given.command == "render":
        return render(given.check)
    if given.command == "renew":
        names = [name for name, _ in stale()] if "stale" in given.names else given.names
        return renew(names)
    return list_stale()


if __name__ == "__main__":
    sys.exit(main())
