"""Tables of records: every command that measures prints what its record holds."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import replace

import pytest

from wavemmf.cli.output import print_record
from wavemmf.errors import InvalidInputError
from wavemmf.experiments import figures
from wavemmf.experiments.records import Recorder, read_record
from wavemmf.experiments.tables import table_of

NODES = ("classify", "nodes", "--dataset", "karate", "--runs", 2, "--epochs", 3)
GRAPHS = ("classify", "graphs", "--folds", 2, "--runs", 1, "--epochs", 1, "--members", 1)
TABLE1 = ("reproduce", "table1", "--runs", 2, "--epochs", 3, "--jobs", 1)
TABLE1 += ("--cells", "karate:60/20/20,karate:20/20/60", "--models", "wavelet,mlp,gcn")
TABLE2 = ("reproduce", "table2", "--datasets", "MUTAG", "--models", "counts", "--folds", 2)
TABLE2 += ("--runs", 1, "--epochs", 1)


@pytest.fixture
def recorded(run, tmp_path):
    """Return a function that runs a command and returns its record and what it printed."""

    def recorded(*command, folder=tmp_path / "records"):
        folder.mkdir()
        result = run(*command, "--record", folder)
        assert result.exit_code == 0, result.output
        (path,) = folder.iterdir()
        return read_record(path), result.stdout

    return recorded


@pytest.fixture
def mutag(tu_problem):
    """Skip the test without this data set."""
    tu_problem("MUTAG")


def printed(record):
    """Return what is printed of a record."""
    with redirect_stdout(io.StringIO()) as stream:
        print_record(record)
    return stream.getvalue()


def test_a_comparison(recorded):
    record, text = recorded("compare", "karate", "--cores", "4,8", "--methods", "greedy,nystrom")
    assert text == printed(record)
    assert text.startswith("karate: n = 34, k = 8, drop = 1\n")


class TestClassify:
    @pytest.fixture(autouse=True)
    def needed(self):
        pytest.importorskip("torch_geometric")

    @pytest.mark.parametrize("models", ["wavelet", "wavelet,mlp"])
    def test_nodes(self, recorded, models):
        record, text = recorded(*NODES, "--model", models, "--seed", 3)
        assert text == printed(record)
        assert (record.what, record.data, record.seeds) == ("classify nodes", ["karate"], [3, 4])
        assert record.settings["models"] == models.split(",")
        for row in record.values:
            assert len(row["accuracies"]) == 2
            assert "outcomes" not in row

    @pytest.mark.parametrize("models", ["wavelet", "counts,gcn"])
    def test_graphs(self, recorded, mutag, models):
        record, text = recorded(*GRAPHS, "--dataset", "MUTAG", "--model", models)
        assert text == printed(record)
        assert (record.what, record.data, record.seeds) == ("classify graphs", ["MUTAG"], [0])
        assert [len(row["accuracies"][0]) for row in record.values] == [2] * len(record.values)
        assert (record.values[0]["basis"] is None) == (models != "wavelet")
        assert ("non-zeros" in text) == (models == "wavelet")

    def test_where_nothing_can_be_written_nothing_is_run(self, refused, tmp_path):
        absent = tmp_path / "no" / "a.json"
        for command in (NODES, GRAPHS, TABLE1, TABLE2, ("reproduce", "fig1")):
            refused(*command, "--record", absent, reason="does not exist")


class TestReproduce:
    def test_table_1(self, recorded, tmp_path):
        pytest.importorskip("torch_geometric")
        record, text = recorded(*TABLE1, "--results", tmp_path / "runs")
        assert text.startswith(printed(record))
        assert record.data == ["karate 60/20/20", "karate 20/20/60"]
        assert [row["model"] for row in record.values] == ["wavelet", "mlp", "gcn"] * 2

    def test_table_2(self, recorded, tmp_path, mutag):
        record, text = recorded(*TABLE2, "--results", tmp_path / "runs")
        assert text == printed(record)
        assert record.data == ["MUTAG"]
        assert [row["protocol"] for row in record.values] == ["honest", "xu"]
        assert "as published: GIN, xu" in text

    def test_figures(self, recorded, tmp_path, monkeypatch):
        pytest.importorskip("matplotlib")
        one = figures.Panel("karate", "Karate", 4, 1, (8, 16))
        monkeypatch.setattr("wavemmf.cli.figures.PANELS", (one,))
        where = ("--steps", 2, "--results", tmp_path / "figure")
        record, text = recorded("reproduce", "fig1", *where, folder=tmp_path / "1")
        assert text.startswith(printed(record))
        assert len(record.values) == 2 * 3
        record, text = recorded("reproduce", "fig2", *where, folder=tmp_path / "2")
        assert text.startswith(printed(record))
        assert record.values[0]["levels"] == 39

    def test_all_has_a_record_for_each(self, run, refused, tmp_path, monkeypatch):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr("wavemmf.cli.figures.PANELS", figures.PANELS[:1])
        quick = ("reproduce", "all", "--only", "fig1,fig2", "--steps", 1)
        quick += ("--results", tmp_path / "page")
        refused(*quick, "--record", tmp_path / "a.json", reason="--record must be a folder")
        kept = tmp_path / "kept"
        kept.mkdir()
        assert run(*quick, "--record", kept).exit_code == 0
        found = sorted(read_record(path).what for path in kept.iterdir())
        assert found == ["reproduce fig1", "reproduce fig2"]


def test_what_has_no_table_is_refused():
    record = Recorder(None)("bench_many", [], {}, [], [])
    with pytest.raises(InvalidInputError, match=r"'bench_many' have no table; those of compare"):
        table_of(record)


def test_values_that_are_missing_are_named():
    record = Recorder(None)("reproduce fig2", [], {}, [], [{"error": 1.0}])
    with pytest.raises(InvalidInputError, match="'relative_error'"):
        table_of(record)
    with pytest.raises(InvalidInputError, match="does not hold"):
        table_of(replace(record, values=[]))
