"""The errors that README prints are those that the library gives, and better than pMMF's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import wavemmf as wm

README = Path(__file__).parent.parent / "README.md"
GRAPHS = {
    "Karate": "karate",
    "Cayley": "cayley",
    "Kronecker": "kronecker",
    "Minnesota": "minnesota",
    "32×32": "grid",
}
DATA = {"minnesota": "minnesota/minnesota.mat*", "cora": "LINQS/cora/*.cites*"}


class Figure(NamedTuple):
    """A relative error as README prints it, and that of the C++ library pMMF."""

    name: str
    core: int
    k: int
    printed: str
    pmmf: float

    @property
    def rounding(self) -> float:
        """Half a unit of the last digit printed, and a little for the digits of a half."""
        return 0.501 * 10.0 ** -len(self.printed.partition(".")[2])


def printed_figures() -> list[Figure]:
    """Read the rows of the table of closed-form rotations."""
    found = []
    for line in README.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = GRAPHS.get(re.split(r"[ ,]", cells[0])[0])
        if name is None or len(cells) != 5:
            continue
        columns = [cell.split(" / ") for cell in cells[2:]]
        for k, error, pmmf in zip(*columns, strict=True):
            found.append(Figure(name, int(cells[1]), int(k), error, float(pmmf)))
    return found


def factorized(name: str, core: int, k: int) -> wm.Factorization:
    matrix = wm.graphs.grid(32, 32) if name == "grid" else wm.graphs.named(name)
    return wm.factorize(matrix, core=core, k=k)


def test_readme_has_the_table() -> None:
    figures = printed_figures()
    assert {figure.name for figure in figures} == set(GRAPHS.values())
    assert len(figures) == 15


@pytest.mark.parametrize("figure", printed_figures(), ids=lambda f: f"{f.name}-k{f.k}")
def test_readme_prints_the_errors_there_are(request: pytest.FixtureRequest, figure: Figure) -> None:
    if figure.name in DATA:
        request.getfixturevalue("need_data")(DATA[figure.name])
    error = factorized(figure.name, figure.core, figure.k).relative_error()
    assert error == pytest.approx(float(figure.printed), abs=figure.rounding)
    assert error < figure.pmmf


def test_kronecker_with_large_groups() -> None:
    assert factorized("kronecker", 16, 16).error() == pytest.approx(41.0, abs=0.05)


def test_cora(need_data: Callable[[str], None]) -> None:
    need_data(DATA["cora"])
    assert factorized("cora", 100, 8).relative_error() == pytest.approx(0.088, abs=5e-4)
