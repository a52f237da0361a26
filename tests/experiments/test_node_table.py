"""The paper's table of node classification as a command: all networks, same splits, resumed."""

from __future__ import annotations

import csv
import json

import pytest

from wavemmf.errors import InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from wavemmf.experiments.node_table import (  # noqa: E402
    DEFAULT_MODELS,
    PUBLISHED_NODES,
    cell_rows,
    parse_cells,
    run_node_table,
)

KARATE = ("--cells", "karate:60/20/20,karate:20/20/60", "--models", "wavelet,hops-only,mlp,gcn")
TABLE1 = ("reproduce", "table1", *KARATE, "--runs", 2, "--epochs", 4)


def test_the_table_is_the_papers_by_default():
    assert len(PUBLISHED_NODES) == 6
    assert "wavelet-paper" not in DEFAULT_MODELS, "which takes more memory than most machines have"
    assert parse_cells(",".join(f"{d}:{s}" for d, s in PUBLISHED_NODES)) == list(PUBLISHED_NODES)
    with pytest.raises(InvalidInputError, match="DATASET:SPLIT"):
        parse_cells("cora")
    with pytest.raises(InvalidInputError, match="dataset must be one of"):
        parse_cells("cara:60/20/20")


def test_processes_change_nothing(tmp_path):
    settings = {"cells": [("karate", "60/20/20")], "models": ["wavelet", "gcn"], "runs": 2}
    alone, together = (
        run_node_table(tmp_path / str(jobs), jobs=jobs, epochs=6, **settings) for jobs in (1, 2)
    )
    for name in ("wavelet", "gcn"):
        one, other = (cells[0].results[name].accuracies for cells in (alone, together))
        assert one.tolist() == other.tolist()


def test_the_wavelet_network_is_compared_with_the_best_baseline(tmp_path):
    cells = run_node_table(
        tmp_path, [("karate", "60/20/20")], ["wavelet", "hops-only", "mlp", "gcn"], 2, 1, 6
    )
    best = cells[0].best_baseline
    assert best.accuracy_mean == max(
        cells[0].results[name].accuracy_mean for name in ("mlp", "gcn")
    )
    rows = {row["model"]: row for row in cell_rows(cells)}
    assert [name for name in rows if rows[name]["best_baseline"]] == [best.model]
    assert rows["wavelet"]["wavelet_better_by"] is None
    gain = rows["wavelet"]["accuracy_mean"] - rows["mlp"]["accuracy_mean"]
    assert rows["mlp"]["wavelet_better_by"] == pytest.approx(gain)


def test_the_command_writes_the_table_and_goes_on_where_it_was(run, tmp_path):
    first = run(*TABLE1, "--results", tmp_path, "--jobs", 1)
    assert first.exit_code == 0, first.output
    assert "paper, as published" in first.stdout
    assert "wavelet is better by" in first.stdout
    assert f"wavemmf reproduce table1 {' '.join(KARATE)} --runs 2" in first.stdout
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 2 * 4 * 2
    stamps = [path.stat().st_mtime_ns for path in runs]
    again = run(*TABLE1, "--results", tmp_path, "--jobs", 1, "--json")
    assert [path.stat().st_mtime_ns for path in runs] == stamps, "nothing was run again"
    told = json.loads(again.stdout)
    assert told == json.loads((tmp_path / "table1.json").read_text())
    with open(tmp_path / "table1.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["model"] for row in rows[:4]] == ["wavelet", "hops-only", "mlp", "gcn"]
    mean = told["cells"][0]["models"][0]["accuracy_mean"]
    assert float(rows[0]["accuracy_mean"]) == mean


def test_the_command_refuses_before_any_work(refused):
    refused("reproduce", "table1", "--cells", "cora", reason="DATASET:SPLIT")
    refused("reproduce", "table1", "--models", "transformer", reason="model must be one of")
    refused("reproduce", "table1", "--jobs", 0, reason="jobs")
    refused("reproduce", "table1", "--runs", 0, reason="runs")
