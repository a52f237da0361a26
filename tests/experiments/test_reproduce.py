"""The paper's figures again, and the page that gathers everything."""

from __future__ import annotations

import csv
import json

import pytest

import wavemmf as wm
from wavemmf.errors import MissingDependencyError
from wavemmf.experiments import figures
from wavemmf.report._index import Section, write_index

pyplot = pytest.importorskip("matplotlib.pyplot")

QUICK = ("--steps", 2)


@pytest.fixture
def succeeded(run):
    """Return a function that runs a command that must succeed, and returns its output."""

    def succeeded(*arguments):
        result = run("reproduce", *arguments)
        assert result.exit_code == 0, result.output
        return result.output

    return succeeded


@pytest.fixture
def small_panels(monkeypatch):
    """Let the first figure have small matrices and few cores."""
    few = tuple(figures.Panel(name, name.title(), 4, 1, (8, 16)) for name in ("karate", "cycle"))
    monkeypatch.setattr("wavemmf.cli.figures.PANELS", few)


def test_the_settings_are_those_of_the_paper():
    settings = {panel.name: (panel.k, panel.drop) for panel in figures.PANELS}
    assert settings == {"karate": (8, 1), "kronecker": (16, 8), "cayley": (8, 1)}
    sizes = {"karate": 34, "kronecker": 512, "cayley": 161}
    for panel in figures.PANELS:
        matrix = wm.graphs.as_matrix(wm.graphs.named(panel.name))
        assert matrix.shape[0] == sizes[panel.name]
        assert all((matrix.shape[0] - core) % panel.drop == 0 for core in panel.cores)


def test_figure_1(succeeded, tmp_path, small_panels, monkeypatch):
    command = ("fig1", "--runs", 2, *QUICK, "--results", tmp_path)
    first = succeeded(*command)
    assert pyplot.imread(tmp_path / "figure1.png").std() > 0.01
    with (tmp_path / "figure1.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 2 * 2 * 3
    settings = {row["method"]: (row["k"], row["drop"]) for row in rows}
    assert settings == {"learned": ("4", "1"), "greedy-k2": ("2", "1"), "nystrom": ("", "")}

    def fail(*arguments, **settings):
        raise AssertionError("computed again")

    with monkeypatch.context() as patch:
        patch.setattr(figures, "compare", fail)
        assert succeeded(*command) == first
    (tmp_path / "cycle.json").write_text("{")
    succeeded(*command, "--matrices", "cycle")
    kept = json.loads((tmp_path / "cycle.json").read_text())
    assert kept["settings"]["steps"] == 2, "what cannot be read is computed again"


def test_figure_2(succeeded, tmp_path):
    assert "levels 1, 20, 39" in succeeded("fig2", *QUICK, "--results", tmp_path)
    assert pyplot.imread(tmp_path / "figure2.png").std() > 0.01
    f = wm.load(tmp_path / "figure2.mmf")
    assert (f.n, f.num_levels) == (46, 39)


def test_what_is_refused(refused, tmp_path):
    refused("reproduce", "fig1", "--matrices", "cora", "--results", tmp_path, reason="--matrices")
    refused("reproduce", "fig1", "--matrices", ",", "--results", tmp_path, reason="must name some")
    refused("reproduce", "fig1", "--runs", 0, "--results", tmp_path, reason="--runs")
    refused("reproduce", "all", "--only", "fig3", "--results", tmp_path, reason="--only")
    (tmp_path / "file").touch()
    refused("reproduce", "fig2", "--results", tmp_path / "file", reason="is a file")


def test_all_of_it(succeeded, tmp_path, small_panels, monkeypatch):
    def missing(**settings):
        raise MissingDependencyError("this needs the package 'torch'")

    def two(output, **settings):
        output.write_text("dataset,accuracy_mean\nMUTAG,0.871234567\n")

    monkeypatch.setattr("wavemmf.cli.reproduce_all.table1", missing)
    monkeypatch.setattr("wavemmf.cli.reproduce_all.table2", two)
    told = succeeded("all", *QUICK, "--results", tmp_path)
    assert str(tmp_path / "index.html") in told
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for words in ("Figure 1", "Figure 2", "not run: this needs the package", "0.8712", "--steps 2"):
        assert words in page
    for name in ("fig1/figure1.png", "fig2/figure2.png"):
        assert f'src="{name}"' in page
        assert (tmp_path / name).is_file()


def test_the_page_is_safe(tmp_path):
    (tmp_path / "a.csv").write_text("x\n<b>\n")
    write_index(tmp_path / "i.html", "<i>", [Section("<u>", "&", "c", tables=("a.csv",))])
    page = (tmp_path / "i.html").read_text(encoding="utf-8")
    assert "<i>" not in page
    assert "<u>" not in page
    assert "<b>" not in page
