"""Kernels of compact levels, one by one against NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import dense
from wavemmf.kernels.planes import (
    by_coordinates,
    expand_planes,
    extract_planes,
    move_planes,
    plane_defect,
    turn_rows,
    turn_symmetric,
)


def wavelet(size: int, rng: np.random.Generator) -> np.ndarray:
    w = rng.normal(size=size)
    w[0] = abs(w[0])
    return w / np.linalg.norm(w)


def rotation(w: np.ndarray) -> np.ndarray:
    e = np.eye(len(w))[0]
    return np.eye(len(w)) - np.outer(e + w, e + w) / (1 + w[0]) + 2 * np.outer(e, w)


@pytest.mark.parametrize("size", [1, 2, 5, 9, 17])
def test_rows_and_symmetric_matrices_are_turned(size: int) -> None:
    rng = np.random.default_rng(size)
    n, active = 24, 20
    rows, w = rng.permutation(active)[:size], wavelet(size, rng)
    u = dense.embedded(rotation(w), rows, n)
    x = rng.normal(size=(n, 7))
    expected = x.copy()
    expected[:, :5] = u @ x[:, :5]
    turn_rows(x, rows, w, size, 5)
    np.testing.assert_allclose(x, expected, atol=1e-13)

    a = dense.random_symmetric(n, size, density=0.2)
    expected = (u @ a @ u.T)[:active, :active]
    turn_symmetric(a, rows, w, size, active, np.empty(n, np.int64))
    np.testing.assert_allclose(a[:active, :active], expected, atol=1e-12)
    np.testing.assert_array_equal(a[:active, :active], a[:active, :active].T)


def test_blocks_and_wavelets_become_each_other() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([3, 1, 6])
    offsets, starts = np.cumsum([0, *sizes]), np.cumsum([0, *sizes**2])
    vectors = np.concatenate([wavelet(size, rng) for size in sizes])
    blocks = np.empty(starts[-1])
    expand_planes(offsets, vectors, starts, blocks)
    for level, size in enumerate(sizes):
        w = vectors[offsets[level] : offsets[level + 1]]
        block = blocks[starts[level] : starts[level + 1]].reshape(size, size)
        np.testing.assert_allclose(block, rotation(w), atol=1e-14)
    groups = np.array([4, 2, 0, 5, 1, 6, 7, 8, 3, 2])
    # The same levels with the wavelet elsewhere in the group of the last.
    order = np.array([2, 1, 0, 3, 4, 5])
    moved, shuffled = blocks.copy(), groups.copy()
    moved[starts[2] :] = blocks[starts[2] :].reshape(6, 6)[np.ix_(order, order)].ravel()
    shuffled[offsets[2] :] = groups[offsets[2] :][order]
    wavelets = groups[offsets[:-1]]
    found, extracted = np.empty_like(groups), np.empty_like(vectors)
    arguments = (offsets, shuffled, wavelets, starts)
    assert extract_planes(*arguments, moved, 1e-9, found, extracted) == -1
    assert sorted(zip(found, extracted, strict=True)) == sorted(zip(groups, vectors, strict=True))
    np.testing.assert_array_equal(found[offsets[:-1]], wavelets)
    moved[starts[2] + 7] += 1e-6
    assert extract_planes(*arguments, moved, 1e-9, found, extracted) == 2


def test_straight_lines_of_coordinates_are_curves_on_the_sphere() -> None:
    rng = np.random.default_rng(1)
    offsets = np.array([0, 4, 5, 12])
    vectors = np.concatenate([wavelet(size, rng) for size in np.diff(offsets)])
    direction, out = rng.normal(size=12), np.empty(12)
    move_planes(offsets, vectors, direction, 0.3, out)
    for first, last in pairwise(offsets):
        w, moved = vectors[first:last], out[first:last]
        z = w[1:] / (1 + w[0]) + 0.3 * direction[first + 1 : last]
        np.testing.assert_allclose(moved[1:] / (1 + moved[0]), z, atol=1e-13)
        assert np.linalg.norm(moved) == pytest.approx(1.0, abs=1e-15)
    move_planes(offsets, vectors, direction, 0.0, out)
    np.testing.assert_allclose(out, vectors, atol=1e-15)


def test_derivatives_by_coordinates() -> None:
    rng = np.random.default_rng(2)
    offsets = np.array([0, 5, 6, 9])
    vectors = np.concatenate([wavelet(size, rng) for size in np.diff(offsets)])
    by_wavelets = rng.normal(size=9)
    gradient = by_wavelets.copy()
    by_coordinates(offsets, vectors, gradient)
    for i in range(9):
        direction = np.zeros(9)
        direction[i] = float(i not in offsets)
        ahead, behind = np.empty(9), np.empty(9)
        move_planes(offsets, vectors, direction, 1e-6, ahead)
        move_planes(offsets, vectors, direction, -1e-6, behind)
        rate = by_wavelets @ (ahead - behind) / 2e-6
        assert 2.0 * gradient[i] == pytest.approx(rate, abs=1e-8)


@pytest.mark.parametrize(
    ("vector", "defect"),
    [([0.6, 0.8], 0.0), ([0.6, 0.9], 0.17 / 1.6), ([-1.0, 0.0], np.inf), ([np.nan, 1.0], np.inf)],
)
def test_how_far_a_level_is_from_a_rotation(vector: list[float], defect: float) -> None:
    assert plane_defect(np.array(vector), 0, 2) == pytest.approx(defect, abs=1e-12)
