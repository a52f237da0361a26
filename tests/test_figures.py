"""The errors this version is known to reach, on the matrices of the literature."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import wavemmf as wm

#: name, k, core, largest absolute error, relative error of the C++ library pMMF
ALWAYS = [
    ("karate", 2, 8, 1.13, 0.241),
    ("karate", 4, 8, None, 0.156),
    ("karate", 8, 8, 0.29, 0.080),
    ("cayley", 2, 8, 1.65, 0.197),
    ("cayley", 4, 8, None, 0.110),
    ("cayley", 8, 8, 0.12, 0.070),
    ("kronecker", 2, 16, 107.0, 0.788),
    ("kronecker", 4, 16, None, 0.686),
    ("kronecker", 8, 16, None, 0.547),
    ("kronecker", 16, 16, 42.2, None),
    ("grid", 2, 100, None, 0.356),
    ("grid", 4, 100, 9.3, 0.293),
    ("grid", 8, 100, 7.9, 0.243),
]
WITH_DATA = [
    ("minnesota", 2, 264, None, 0.357),
    ("minnesota", 3, 264, None, 0.296),
    ("minnesota", 4, 264, None, 0.265),
    ("cora", 8, 100, 7.0, None),
]


def check(name: str, k: int, core: int, absolute: float | None, relative: float | None) -> None:
    matrix = wm.graphs.grid(32, 32) if name == "grid" else wm.graphs.named(name)
    f = wm.factorize(matrix, core=core, k=k)
    if absolute is not None:
        assert f.error() <= absolute
    if relative is not None:
        assert f.relative_error() < relative


@pytest.mark.parametrize(("name", "k", "core", "absolute", "relative"), ALWAYS)
def test_known_errors(
    name: str, k: int, core: int, absolute: float | None, relative: float | None
) -> None:
    check(name, k, core, absolute, relative)


@pytest.mark.parametrize(("name", "k", "core", "absolute", "relative"), WITH_DATA)
def test_known_errors_on_real_graphs(
    need_data: Callable[[str], None],
    name: str,
    k: int,
    core: int,
    absolute: float | None,
    relative: float | None,
) -> None:
    need_data({"minnesota": "minnesota/minnesota.mat*"}.get(name, f"LINQS/{name}/*.cites*"))
    check(name, k, core, absolute, relative)
