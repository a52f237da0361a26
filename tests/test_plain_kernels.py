"""Kernels that are plain loops, one by one against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from wavemmf.kernels.heap import heap_build, heap_remove, heap_update
from wavemmf.kernels.rotate import rotate_symmetric
from wavemmf.kernels.vectors import dot, norm


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 23])
def test_inner_products(size: int) -> None:
    x, y = np.random.default_rng(size).normal(size=(2, size))
    assert dot(x, y) == pytest.approx(x @ y, abs=1e-12)
    assert norm(x) == pytest.approx(np.linalg.norm(x), abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17])
def test_rotations_of_rows_and_columns(size: int) -> None:
    rng = np.random.default_rng(size)
    n, active = 24, 20
    a = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
    a = a + a.T
    rows = rng.permutation(active)[:size]
    block = np.linalg.qr(rng.normal(size=(size, size)))[0]
    expected = a.copy()
    u = np.eye(active)
    u[np.ix_(rows, rows)] = block
    expected[:active, :active] = u @ a[:active, :active] @ u.T
    rotate_symmetric(a, rows, block, size, active, np.empty((size, n)), np.empty(n, np.int64))
    np.testing.assert_allclose(a[:active, :active], expected[:active, :active], atol=1e-12)
    np.testing.assert_array_equal(a[:active, :active], a[:active, :active].T)


def test_a_heap_gives_rows_in_order_of_their_keys() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 12, size=30).astype(float)  # with ties
    heap, place = heap_build(keys)
    left = set(range(30))
    for count in range(30, 0, -1):
        assert all(heap[place[row]] == row for row in left)
        assert heap[0] == min(left, key=lambda row: (keys[row], row))
        changed = int(rng.choice(sorted(left)))
        keys[changed] = float(rng.integers(0, 12))
        heap_update(heap, place, keys, changed, count)
        assert heap[0] == min(left, key=lambda row: (keys[row], row))
        removed = int(rng.choice(sorted(left)))
        heap_remove(heap, place, keys, removed, count)
        left.remove(removed)
        assert place[removed] == -1
