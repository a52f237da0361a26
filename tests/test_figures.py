"""The closed-form errors that README prints are those of this code, on every processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wavemmf as wm
from wavemmf.experiments.records import read_record

RECORD = Path(__file__).parents[1] / "results" / "closed-form.json"
ROWS = read_record(RECORD).values
DATA = {"minnesota": "minnesota/minnesota.mat*", "cora": "LINQS/cora/*.cites*"}


def test_the_table_has_the_matrices_of_the_literature() -> None:
    assert {row["matrix"] for row in ROWS} == {
        "karate", "cayley", "kronecker", "minnesota", "grid", "cora"
    }  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['matrix']}-k{row['k']}")
def test_errors_are_those_recorded(request: pytest.FixtureRequest, row: dict[str, Any]) -> None:
    name = row["matrix"]
    if name in DATA:
        request.getfixturevalue("need_data")(DATA[name])
    matrix = wm.graphs.grid(32, 32) if name == "grid" else wm.graphs.named(name)
    f = wm.factorize(matrix, core=row["core"], k=row["k"])
    assert f.relative_error() == pytest.approx(row["relative_error"], rel=1e-9)
    assert row["pmmf"] is None or f.relative_error() < row["pmmf"]
