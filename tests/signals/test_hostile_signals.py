"""Signals, lengths and tables that are too large, too small, missing or of another kind."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import FileFormatError, InputTypeError, InvalidInputError
from wavemmf.experiments.signals import haar_basis, toronto
from wavemmf.signals import RULES, bands, best_terms, denoise, describe, noise_level, threshold

GRAPH = wm.graphs.grid(8, 8)
N = GRAPH.n
UNITS = [2.0**560, 2.0**-560]  # their squares are not numbers


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.wavelets(GRAPH)


@pytest.fixture
def noisy(rng) -> np.ndarray:
    return np.repeat([0.0, 10.0], N // 2) + rng.normal(size=N)


# -- units --


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("rule", RULES)
def test_denoising_does_not_depend_on_the_unit(f, noisy, rule, unit):
    np.testing.assert_array_equal(denoise(noisy * unit, f, rule), denoise(noisy, f, rule) * unit)


@pytest.mark.parametrize("rule", RULES)
def test_signals_of_different_units_do_not_disturb_each_other(f, noisy, rule):
    together = denoise(np.stack([noisy * unit for unit in UNITS], axis=1), f, rule)
    for column, unit in zip(together.T, UNITS, strict=True):
        np.testing.assert_allclose(column, denoise(noisy * unit, f, rule), rtol=1e-10)


@pytest.mark.parametrize("unit", UNITS)
def test_other_figures_do_not_depend_on_the_unit(f, noisy, unit):
    np.testing.assert_array_equal(
        best_terms(f, noisy * unit, 5).curve, best_terms(f, noisy, 5).curve
    )
    c = f.analyze(noisy)
    assert noise_level(f, c * unit) == noise_level(f, c) * unit


@pytest.mark.parametrize("rule", RULES)
def test_noise_far_above_the_signal_leaves_the_core_alone(f, noisy, rule):
    c = f.analyze(noisy)
    np.testing.assert_array_equal(
        threshold(f, c, rule, noise=1e300), np.where(bands(f) < 0, c, 0.0)
    )


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_distances_do_not_depend_on_the_unit(f, unit):
    far = replace(GRAPH, coordinates=GRAPH.coordinates * unit)
    np.testing.assert_allclose(
        describe(f, far)["distance"], describe(f, GRAPH)["distance"] * unit, rtol=1e-12
    )
    found = wm.graphs.weights_from_lengths(far, "coordinates").adjacency
    np.testing.assert_allclose(found.data, 1.0 / unit, rtol=1e-12)


def test_an_infinite_distance_is_not_an_edge_less():
    far = wm.graphs.Graph(
        sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), coordinates=np.array([[-1e308], [1e308]])
    )
    with pytest.raises(InvalidInputError, match=r"between 0 and 1 has length inf"):
        wm.graphs.weights_from_lengths(far, "coordinates")


# -- what is no signal, no basis, no setting --


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.full(N, 1e301), r"at most 1e\+300 in magnitude, but entry \(0,\) is 1e\+301"),
        (np.full((N, 2), -np.inf), r"entry \(0, 0\) is -inf"),
        (np.ma.array(np.ones(N), mask=np.arange(N) < 3), "3 entries are masked"),
    ],
)
def test_values_that_are_refused(f, x, message):
    for work in (lambda: denoise(x, f), lambda: best_terms(f, x, 3), lambda: threshold(f, x)):
        with pytest.raises(InvalidInputError, match=message):
            work()


@pytest.mark.parametrize("wrong", [None, 5, "karate", GRAPH])
def test_what_is_no_factorization(wrong):
    x = np.ones(N)
    for work in (
        lambda: denoise(x, wrong),
        lambda: best_terms(wrong, x, 3),
        lambda: threshold(wrong, x),
        lambda: noise_level(wrong, x),
        lambda: bands(wrong),
        lambda: describe(wrong),
    ):
        with pytest.raises(InputTypeError, match="f must be a Factorization, got"):
            work()


@pytest.mark.parametrize("noise", ["x", 1j, 10**400, np.array([None])])
def test_noise_that_is_no_number(f, noise):
    with pytest.raises(InputTypeError, match="noise must be a finite number >= 0"):
        denoise(np.ones(N), f, noise=noise)


def test_integers_beyond_all_floats(f):
    with pytest.raises(InvalidInputError, match="rule must be"):
        threshold(f, np.ones(N), 10**400)
    with pytest.raises(InvalidInputError, match="time must be"):
        wm.select.Diffusion(time=10**400)


def test_a_text_is_no_time():
    with pytest.raises(InputTypeError, match="time must be a finite number above 0, got '8'"):
        wm.select.Diffusion(time="8")


# -- tables of the experiments --


@pytest.fixture
def streets(tmp_path, monkeypatch):
    """Return a function that writes a small city, with some of its files changed."""
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    monkeypatch.setenv("WAVEMMF_ACCEPT_CHANGED_DATA", "1")

    def write(**changed: bytes) -> None:
        files = {"edges": b"0 1\n1 2\n", "xy": b"0 0\n1 0\n2 0\n"}
        files |= {"pedestrians": b"1\n2\n3\n", "vehicles": b"3\n2\n1\n"} | changed
        (tmp_path / "signals").mkdir()
        for name, content in files.items():
            path = tmp_path / "signals" / f"toronto.{name}.gz"
            path.write_bytes(gzip.compress(content))

    return write


@pytest.mark.filterwarnings("ignore:.*SHA-256")
def test_a_city_is_read(streets):
    streets()
    graph, counts = toronto()
    assert graph.n == 3
    np.testing.assert_array_equal(counts["vehicles"], [3.0, 2.0, 1.0])


@pytest.mark.filterwarnings("ignore:.*SHA-256")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no numbers"),
        (b"#\n", "not a table of numbers"),
        (b"1\n2\n", r"must hold 3 numbers, one a line; its shape is \(2,\)"),
        (b"1 1\n2 2\n3 3\n", r"its shape is \(3, 2\)"),
        (b"1\nnan\n3\n", "not finite"),
        (b"1\n1e999\n3\n", "not finite"),
        (b"1\n2_0\n3\n", "not a table of numbers"),
    ],
)
def test_counts_that_are_none(streets, content, message):
    streets(pedestrians=content)
    with pytest.raises(FileFormatError, match=message):
        toronto()


def test_negative_weights_cannot_be_cut():
    with pytest.raises(InvalidInputError, match="no negative weights"):
        haar_basis(np.array([[0.0, -1.0], [-1.0, 0.0]]))
