"""Records: what was measured, on what, how, with which version, on which processor, and when.

A command makes a `Recorder` before it works, hands it the values at the end, and prints its table
from the record that it gets back. Records are JSON, one per file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._files import atomic_write, check_writable
from .._json import json_text
from .._version import __version__
from ..errors import FileFormatError, InvalidInputError
from ._code import code_digest, modules_behind

__all__ = ["Record", "Recorder", "add_record_option", "read_record", "write_record"]

#: What ``--record`` says of itself in the help of a command.
RECORD_HELP = "Write what was measured, with settings, command and version, as a JSON record."

_OPTION = "--record"


@dataclass(frozen=True)
class Record:
    """One measurement, as plain values.

    Attributes
    ----------
    what : str
        What was measured: the command or the script.
    data : list of str
        The matrices, graphs or data sets.
    settings : dict
        All that was chosen, by name.
    seeds : list of int
        The seeds of what is random.
    command : str
        What was typed, without where the record goes.
    version : str
        Of wavemmf, with the commit if it runs from a checkout.
    processor : str
        What it ran on.
    date : str
        When it was finished: ISO 8601, UTC.
    seconds : float
        How long it took, by the clock.
    modules : list of str
        The modules of the package that it depends on.
    code : str
        A digest of those modules: a record is older than its code if the digest has changed.
    values : list of dict
        What was found: rows of named values. Numbers that are not finite are None.

    Examples
    --------
    >>> record = Recorder(None)("sum", ["karate"], {"k": 8}, [0], [{"error": 0.25}])
    >>> record.values, record.settings
    ([{'error': 0.25}], {'k': 8})
    """

    what: str
    data: list[str]
    settings: dict[str, Any]
    seeds: list[int]
    command: str
    version: str
    processor: str
    date: str
    seconds: float
    modules: list[str]
    code: str
    values: list[dict[str, Any]]

    def __post_init__(self) -> None:
        for name in ("what", "command", "version", "processor", "date", "code"):
            _check(isinstance(getattr(self, name), str), name, "a text")
        _check(bool(self.what), "what", "a text that is not empty")
        _check(_is_list(self.data, str), "data", "a list of texts")
        _check(_is_list(self.modules, str), "modules", "a list of texts")
        _check(_is_length(self.seconds), "seconds", "a number, at least 0")
        _check(_is_list(self.seeds, int), "seeds", "a list of integers")
        _check(_has_names(self.settings), "settings", "named values")
        named_rows = _is_list(self.values, dict) and all(map(_has_names, self.values))
        _check(named_rows, "values", "a list of rows of named values")
        try:
            datetime.fromisoformat(self.date)
        except ValueError:
            raise InvalidInputError(f"date must be in ISO 8601, got {self.date!r}") from None

    @property
    def is_older_than_its_code(self) -> bool:
        """Whether the modules that it depends on have changed, or are gone."""
        try:
            return self.code != code_digest(self.modules)
        except InvalidInputError:
            return True

    @property
    def name(self) -> str:
        """The name of its file in a folder: the same for the same measurement, made again."""
        chosen = json_text([self.data, self.settings, self.seeds], indent=None)
        digest = hashlib.sha256(chosen.encode()).hexdigest()[:8]
        words = re.sub(r"[^a-z0-9]+", "-", f"{self.what} {' '.join(self.data)}".lower())
        return f"{words.strip('-')[:80]}-{digest}.json"


class Recorder:
    """Makes the record of a command, and writes it if a path is given.

    Parameters
    ----------
    path : str or path, optional
        A file, or a folder that exists (the file is then named after the measurement). What cannot
        be written is refused here, before any long work.

    Raises
    ------
    InvalidInputError
        If it cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep = Recorder(folder)
    ...     record = keep("sum", ["karate"], {"k": 8}, [0], [{"error": float("nan")}])
    ...     read_record(pathlib.Path(folder, record.name)).values
    [{'error': None}]
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._start = time.monotonic()
        if self.path is not None and self.path.is_dir():
            check_writable(self.path / "record.json")
        elif self.path is not None:
            check_writable(self.path)

    def __call__(
        self,
        what: str,
        data: Sequence[str],
        settings: Mapping[str, Any],
        seeds: Sequence[int],
        values: Sequence[Mapping[str, Any]],
    ) -> Record:
        """Return the record of what was measured, as it is in its file."""
        modules = modules_behind(what)
        given = {
            "what": what, "data": list(data), "settings": dict(settings), "seeds": list(seeds),
            "values": [dict(row) for row in values],
            "command": _command(sys.argv), "version": _version(), "processor": _processor(),
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._start, 1),
            "modules": modules, "code": code_digest(modules),
        }  # fmt: skip
        record = Record(**json.loads(json_text(given)))
        if self.path is not None:
            folder = self.path.is_dir()
            write_record(record, self.path / record.name if folder else self.path)
        return record


def write_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record to a file, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write((json_text(asdict(record)) + "\n").encode("utf-8"))


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record.

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If it is not a record: the message says what is wrong with it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a record: {error}") from error
    except (TypeError, ValueError) as error:  # no path, or one with a null byte
        raise InvalidInputError(f"cannot read {path!r}: {error}") from error
    try:
        found = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        _check(isinstance(found, dict), "a record", "an object with names")
        names = [field.name for field in fields(Record)]
        _check(sorted(found) == sorted(names), "a record", f"an object with {', '.join(names)}")
        return Record(**found)
    except (ValueError, RecursionError) as error:  # JSON that is none, or values that do not fit
        raise FileFormatError(f"{path} is not a record: {error}") from error


def add_record_option(parser: argparse.ArgumentParser) -> None:
    """Give a script the option ``--record``.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_record_option(parser)
    >>> parser.parse_args(["--record", "results"]).record
    'results'
    """
    parser.add_argument(_OPTION, metavar="FILE|FOLDER", help=RECORD_HELP)


# -- what is true of this process --


def _command(arguments: Sequence[str]) -> str:
    """Return what was typed, without folders of this machine in front of a script.

    Examples
    --------
    >>> _command(["/home/me/bin/wavemmf", "compare", "karate", "--record", "results"])
    'wavemmf compare karate'
    >>> _command(["/home/me/src/benchmarks/bench_many.py", "--record=a.json", "--name", "NCI1"])
    'python benchmarks/bench_many.py --name NCI1'
    """
    if not arguments:  # Python inside of another program
        return ""
    program, rest, kept = Path(arguments[0]), list(arguments[1:]), []
    while rest:
        word = rest.pop(0)
        if word == _OPTION:
            del rest[:1]
        elif not word.startswith(f"{_OPTION}="):
            kept.append(word)
    if program.name == "__main__.py":
        start = [program.parent.name]
    elif program.suffix == ".py":
        start = ["python", "/".join(program.parts[-2:])]
    else:
        start = [program.name]
    return shlex.join([*start, *kept])


def _version() -> str:
    commit = _commit()
    return f"{__version__}, commit {commit}" if commit else __version__


def _commit() -> str | None:
    """Return the commit of the checkout that this file belongs to, if it does to one."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        # A package that is installed inside of another project is no part of its history.
        subprocess.run([*git, "ls-files", "--error-unmatch", __file__], **_QUIET)
        described = subprocess.run([*git, "describe", "--always", "--dirty", "--tags"], **_QUIET)
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() or None


_QUIET: dict[str, Any] = {"capture_output": True, "text": True, "check": True, "timeout": 10}


def _processor() -> str:
    """Return the name of the processor and how many this process may use."""
    name = platform.processor() or platform.machine()
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        cpuinfo = ""
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{found[1].strip() if found else name}, {usable} cores, {platform.system()}"


# -- checks --


def _check(fits: bool, name: str, allowed: str) -> None:
    if not fits:
        raise InvalidInputError(f"{name} must be {allowed}")


def _is_list(value: Any, kind: type) -> bool:
    # A truth value is no seed, though Python takes it for an integer.
    return isinstance(value, list) and all(
        isinstance(member, kind) and not isinstance(member, bool) for member in value
    )


def _is_length(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _has_names(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


def _finite(word: str) -> float:
    return float(word) if math.isfinite(float(word)) else _refuse(word)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a finite number")
