"""How the lines of an edge list are cut into fields, and whether the first holds titles."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

__all__ = ["Dialect", "are_titles", "guess_dialect", "is_integer", "look_alike"]

_TITLES = re.compile(
    r"source|target|src|dst|from|to|tail|head|(node|id|vertex)_?[012]|(from|to)nodeid|weight"
)
# A word, perhaps in quotes in which a quote is written twice.
_WORD = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
# What tells the titles of the two ends of an edge apart when the rest of both is the same.
_SIDES = (
    ("a", "b"), ("1", "2"), ("0", "1"), ("i", "j"), ("u", "v"), ("x", "y"), ("from", "to"),
    ("source", "target"), ("src", "dst"), ("start", "end"), ("left", "right"), ("in", "out"),
    ("first", "second"), ("one", "two"), ("origin", "destination"), ("tail", "head"),
)  # fmt: skip
_SAMPLE = 20


@dataclass(frozen=True)
class Dialect:
    """A delimiter, None for white space, and whether quotes keep fields together."""

    delimiter: str | None
    quoted: bool

    def records(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the 1-based number of a line that is not empty, and its fields.

        Examples
        --------
        >>> list(Dialect(",", True).records('"York, PA",Leeds'))
        [(1, ['York, PA', 'Leeds'])]
        """
        if self.delimiter and self.quoted:
            reader = csv.reader(
                io.StringIO(text), delimiter=self.delimiter, skipinitialspace=True, strict=True
            )
            for fields in reader:
                if any(fields):
                    yield reader.line_num, [field.strip() for field in fields]
            return
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield number, self._fields(line)

    def _fields(self, line: str) -> list[str]:
        if self.delimiter:
            return [field.strip() for field in line.split(self.delimiter)]
        if self.quoted:
            found = _WORD.finditer(line)
            return [word[2] or word[1].replace('""', '"') for word in found]
        return line.split()


def guess_dialect(path: Path, text: str) -> Dialect:
    r"""Return the dialect of an edge list by its suffix and its first lines.

    Tables (.csv, .tsv) may be separated by commas, semicolons, tabs or bars, whichever cuts all of
    the first lines into the same number of fields; other files by white space, or by commas.

    Examples
    --------
    >>> guess_dialect(Path("cities.csv"), 'Paris;"Aix, en Provence"\nLyon;Paris')
    Dialect(delimiter=';', quoted=True)
    """
    quoted = '"' in text
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    line = next((line for line in io.StringIO(text) if line.strip()), "")
    if suffix == "tsv" and "\t" in line:
        return Dialect("\t", quoted)
    if suffix in ("csv", "tsv"):
        for delimiter in ",;\t|":
            if delimiter in line and _cuts_evenly(Dialect(delimiter, quoted), text):
                return Dialect(delimiter, quoted)
        return Dialect("," if "," in line else None, quoted)
    words = line.split()
    spaced = len(words) > 1 and not any(w.startswith(",") or w.endswith(",") for w in words)
    return Dialect("," if "," in line and not spaced else None, quoted)


def _cuts_evenly(dialect: Dialect, text: str) -> bool:
    try:
        counts = {len(fields) for _, fields in islice(dialect.records(text), _SAMPLE)}
    except csv.Error:
        return False
    return len(counts) == 1 and counts.pop() > 1


def is_integer(field: str) -> bool:
    """Whether a field is an integer in ASCII digits; others are names like any.

    Examples
    --------
    >>> is_integer("-12"), is_integer("12a")
    (True, False)
    """
    digits = field.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


def are_titles(first: list[str], second: list[str]) -> bool:
    """Whether the first record holds titles: by what it says, or by what stands under it.

    Single letters are no titles: in a graph of named vertices, "a b" is an edge.

    Examples
    --------
    >>> are_titles(["src", "dst", "w"], ["Paris", "Lyon", "2.5"])
    True
    """
    if all(_TITLES.fullmatch(field.lower()) for field in first):
        return True
    if not any(map(is_integer, first[:2])) and all(map(is_integer, second[:2])):
        return True
    return len(first) == len(second) == 3 and not _is_number(first[2]) and _is_number(second[2])


def look_alike(first: str, second: str) -> bool:
    """Whether two names differ as titles of the two ends of an edge do.

    Examples
    --------
    >>> look_alike("city_a", "city_b"), look_alike("from_stop", "to_stop"), look_alike("a", "b")
    (True, True, False)
    """
    one, other = first.lower(), second.lower()
    for left, right in _SIDES:
        for stem in (one.removesuffix(left), one.removeprefix(left)):
            if len(stem) > 1 and stem != one and other in (stem + right, right + stem):
                return True
    return False


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
