"""Levels stored with fewer digits."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import FileFormatError, InvalidInputError

#: How far from the given entries each kind may end, for groups of up to eight rows.
TOLERANCES = {"float32": 1e-6, "int16": 3e-4}


@pytest.fixture(scope="module", params=["full", "compact"])
def found(request: pytest.FixtureRequest) -> wm.Factorization:
    return wm.factorize(wm.graphs.karate(), core=8, k=8, rotations=request.param)


@pytest.mark.parametrize("digits", TOLERANCES)
def test_rounded_levels_are_rotations_close_to_those_given(
    found: wm.Factorization, digits: str
) -> None:
    rounded = found.rounded(wm.graphs.karate(), digits)
    assert rounded.rotations.kind == found.rotations.kind
    change = np.abs(rounded.rotations.blocks - found.rotations.blocks).max()
    assert 0.0 < change < TOLERANCES[digits]
    basis = rounded.synthesize(np.eye(34))
    np.testing.assert_allclose(basis @ basis.T, np.eye(34), atol=1e-13)


@pytest.mark.parametrize("digits", TOLERANCES)
def test_the_error_is_exact(found: wm.Factorization, digits: str) -> None:
    graph = wm.graphs.karate()
    matrix = wm.graphs.as_matrix(graph).toarray()
    rounded = found.rounded(graph, digits)
    assert rounded.error() == pytest.approx(np.linalg.norm(matrix - rounded.to_dense()), rel=1e-9)
    assert rounded.relative_error() < found.relative_error() + TOLERANCES[digits]


@pytest.mark.parametrize("digits", TOLERANCES)
def test_a_file_holds_what_was_rounded(
    found: wm.Factorization, digits: str, tmp_path: Path
) -> None:
    rounded = found.rounded(wm.graphs.karate(), digits)
    rounded.save(tmp_path / "rounded.mmf")
    again = wm.load(tmp_path / "rounded.mmf")
    assert again.error() == rounded.error()
    np.testing.assert_array_equal(again.rotations.blocks, rounded.rotations.blocks)
    np.testing.assert_array_equal(again.rotations.codes, rounded.rotations.codes)
    np.testing.assert_array_equal(again.core, rounded.core)
    np.testing.assert_array_equal(again.frequencies, rounded.frequencies)
    assert rounded.stored_bytes < 0.7 * found.stored_bytes


def test_sixteen_bits_take_less_room_than_thirty_two(found: wm.Factorization) -> None:
    sizes = [found.rounded(wm.graphs.karate(), digits).stored_bytes for digits in TOLERANCES]
    assert sizes[1] < sizes[0]


def test_rounded_levels_travel(found: wm.Factorization) -> None:
    rounded = found.rounded(wm.graphs.karate(), "int16").rotations
    again = pickle.loads(pickle.dumps(rounded))
    np.testing.assert_array_equal(again.codes, rounded.codes)
    np.testing.assert_array_equal(again.blocks, rounded.blocks)


def test_other_levels_have_no_codes(found: wm.Factorization) -> None:
    assert found.rotations.codes is None
    rounded = found.rounded(wm.graphs.karate()).rotations
    assert dataclasses.replace(rounded, blocks=found.rotations.blocks).codes is None


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_h_out_of_the_range_of_single_precision_is_kept(factor: float) -> None:
    matrix = factor * wm.graphs.as_matrix(wm.graphs.cycle(8)).toarray()
    f = wm.factorize(matrix, core=2, k=3)
    rounded = f.rounded(matrix)
    assert rounded.relative_error() == pytest.approx(f.relative_error(), rel=1e-5)
    assert rounded.h.norm() == pytest.approx(f.h.norm(), rel=1e-5)


def test_another_matrix_is_refused(found: wm.Factorization) -> None:
    with pytest.raises(InvalidInputError, match="of another matrix"):
        found.rounded(2.0 * wm.graphs.as_matrix(wm.graphs.karate()))
    with pytest.raises(InvalidInputError, match="of another matrix"):
        found.rounded(wm.graphs.cycle(34))


def test_unknown_digits_are_refused(found: wm.Factorization) -> None:
    with pytest.raises(InvalidInputError, match="float32"):
        found.rounded(wm.graphs.karate(), "int8")


@pytest.mark.parametrize("damage", ["zeros", "short"])
def test_damaged_codes_are_refused(
    found: wm.Factorization, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounded = found.rounded(wm.graphs.karate(), "int16")
    codes = rounded.rotations.codes
    assert codes is not None
    wrong = np.zeros_like(codes) if damage == "zeros" else codes[:-1]
    monkeypatch.setitem(rounded.rotations.__dict__, "_codes", wrong)
    rounded.save(tmp_path / "damaged.mmf")
    with pytest.raises(FileFormatError, match="does not hold a valid factorization"):
        wm.load(tmp_path / "damaged.mmf")
