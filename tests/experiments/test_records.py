"""Records of measurements: what they hold, how they are written, and what is refused."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidInputError
from wavemmf.experiments import _code
from wavemmf.experiments._code import code_digest
from wavemmf.experiments.records import Record, Recorder, read_record, write_record

VALUES = [{"method": "greedy", "error": 0.25}, {"method": "random", "error": float("inf")}]
SETTINGS = {"k": 8, "cores": (4, 8)}


@pytest.fixture
def record(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/some/where/wavemmf", "compare", "a b", "--record", "x"])
    return Recorder(None)("compare", ["karate"], SETTINGS, range(2), VALUES)


def test_a_record_says_what_it_has_to(record):
    assert record.what == "compare"
    assert record.data == ["karate"]
    assert record.settings == {"k": 8, "cores": [4, 8]}
    assert record.seeds == [0, 1]
    assert record.values == [VALUES[0], {"method": "random", "error": None}]
    assert record.command == "wavemmf compare 'a b'"
    assert record.version.startswith(wm.__version__)
    assert "cores" in record.processor
    assert record.date.endswith("+00:00")


def test_what_is_written_is_read(record, tmp_path):
    path = tmp_path / "r.json"
    write_record(record, path)
    assert read_record(path) == record
    assert json.loads(path.read_text()) == asdict(record)


def test_a_folder_has_one_file_for_every_measurement(tmp_path):
    keep = Recorder(tmp_path)
    first = keep("compare", ["karate"], SETTINGS, [0], VALUES)
    keep("compare", ["karate"], SETTINGS, [0], VALUES[:1])
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert len(read_record(tmp_path / first.name).values) == 1
    assert first.name.startswith("compare-karate-")
    keep("compare", ["karate"], {**SETTINGS, "k": 4}, [0], VALUES)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "r.json"
    for values in (VALUES, VALUES[:1]):
        Recorder(path)("compare", [], {}, [], values)
    assert len(read_record(path).values) == 1


def test_a_path_that_cannot_be_written_is_told_before_the_work(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        Recorder(tmp_path / "absent" / "r.json")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"what": 3}, "what must be a text"),
        ({"what": ""}, "not empty"),
        ({"data": "karate"}, "data must be a list of texts"),
        ({"seeds": [True]}, "seeds must be a list of integers"),
        ({"seeds": [0.5]}, "seeds must be a list of integers"),
        ({"settings": [1]}, "settings must be named values"),
        ({"values": {"a": 1}}, "values must be a list of rows"),
        ({"values": [1]}, "values must be a list of rows"),
        ({"date": "yesterday"}, "ISO 8601"),
        ({"seconds": -1.0}, "seconds must be a number, at least 0"),
        ({"seconds": True}, "seconds must be a number"),
        ({"modules": "kernels"}, "modules must be a list of texts"),
        ({"code": 1}, "code must be a text"),
        ({"mood": "good"}, "a record must be an object with what, data"),
    ],
)
def test_what_is_no_record_is_refused(record, tmp_path, change, reason):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**asdict(record), **change}))
    with pytest.raises(FileFormatError, match=reason):
        read_record(path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b'{"what": NaN}', b"[" * 100_000, b"null"]
)
def test_damaged_files(tmp_path, content):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="is not a record"):
        read_record(path)


def test_an_absent_file(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot read"):
        read_record(tmp_path / "absent.json")


def test_a_record_is_checked_when_it_is_made():
    with pytest.raises(InvalidInputError, match="data must be a list"):
        Record("a", "b", {}, [], "", "", "", "2026-01-01", 0.0, [], "", [])  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_that_are_not_finite_are_no_values(record, tmp_path, word):
    path = tmp_path / "r.json"
    write_record(record, path)
    path.write_text(path.read_text().replace("0.25", word))
    with pytest.raises(FileFormatError, match=f"{word} is not a finite number"):
        read_record(path)


def test_arrays_become_lists():
    record = Recorder(None)("sum", [], {}, [], [{"errors": np.array([[0.5, np.nan]])}])
    assert record.values == [{"errors": [[0.5, None]]}]


@pytest.mark.parametrize("path", ["a\0b", None])
def test_what_is_no_path(path):
    with pytest.raises(InvalidInputError, match="cannot read"):
        read_record(path)


def test_a_program_without_arguments_has_records(monkeypatch):
    monkeypatch.setattr(sys, "argv", [])
    assert Recorder(None)("sum", [], {}, [], []).command == ""


class TestAge:
    def test_a_new_record_is_as_old_as_its_code(self, record):
        assert "kernels" in record.modules
        assert not record.is_older_than_its_code

    def test_a_record_of_other_code_is_older(self, record):
        assert replace(record, code="0" * 16).is_older_than_its_code
        assert replace(record, modules=["kernels"]).is_older_than_its_code

    def test_a_module_that_is_gone_makes_it_older(self, record):
        assert replace(record, modules=["no_such_module"]).is_older_than_its_code
        with pytest.raises(InvalidInputError, match="no module 'no_such_module'"):
            code_digest(["no_such_module"])

    def test_only_code_counts(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_code, "_PACKAGE", tmp_path)
        text = '"""{}"""\n\ndef f(x):{}\n    """{}"""\n    return {} * x\n'
        digests = []
        for words in [("Sums.", "", "Double.", 2), ("", " # quick", "2 x", 2), ("", "", "", 3)]:
            (tmp_path / "sums.py").write_text(text.format(*words))
            digests.append(code_digest(["sums"]))
        assert digests[0] == digests[1] != digests[2]

    def test_texts_that_are_no_docstrings_count(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_code, "_PACKAGE", tmp_path)
        module = tmp_path / "words.py"
        module.write_text('NAME = "a # b"\n')
        before = code_digest(["words"])
        module.write_text('NAME = "a # c"\n')
        assert code_digest(["words"]) != before

    def test_all_modules_that_are_named_exist(self):
        for modules in _code._MODULES.values():
            assert code_digest([name for name in modules if name != "experiments/long_range"])
