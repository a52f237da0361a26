"""Kernels that work on tiles of columns, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dense
from wavemmf.kernels.gradient import (
    carry_back,
    commutator,
    loss_and_gradient,
    rotate_columns,
    rotate_rows,
)
from wavemmf.kernels.project import STRIP, core_entries, wavelet_energies
from wavemmf.kernels.stiefel import cayley_move, cayley_step, cayley_velocity
from wavemmf.kernels.transform import TRANSFORM_KERNELS
from wavemmf.kernels.transform_gradient import PULLBACK_KERNELS, times_blocks

#: Rows, sizes of groups and numbers of wavelets.
SHAPES = [
    (5, [1], [1]), (6, [2, 3], [1, 1]), (9, [4, 4, 5], [1, 2, 3]), (14, [9, 6, 7, 2], [1, 4, 2, 1]),
    (29, [8, 21, 12], [1, 4, 2]),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tile", [1, 8, 32])
@pytest.mark.parametrize(("start", "stop"), [(0, 41), (3, 35), (2, 10), (5, 6), (4, 4)])
def test_transform(
    shape: tuple[int, list[int], list[int]], tile: int, start: int, stop: int
) -> None:
    n, sizes, drops = shape
    levels = dense.random_levels(n, sizes, drops, seed=n)
    x = np.random.default_rng(0).normal(size=(n, 41))
    w = levels.basis(n)
    work, buffer = np.full(n * tile, np.nan), np.full(max(sizes) * tile, np.nan)
    for forward, matrix in ((True, w), (False, w.T)):
        out = np.full_like(x, 7.0)
        TRANSFORM_KERNELS[tile](x, out, start, stop, *levels[:4], forward, work, buffer)
        expected = np.full_like(x, 7.0)
        expected[:, start:stop] = matrix @ x[:, start:stop]
        np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tile", [1, 8, 32])
@pytest.mark.parametrize(("start", "stop"), [(0, 35), (3, 20), (4, 12)])
def test_products_of_all_levels(
    shape: tuple[int, list[int], list[int]], tile: int, start: int, stop: int
) -> None:
    n, sizes, drops = shape
    levels = dense.random_levels(n, sizes, drops, seed=n)
    p, q = np.random.default_rng(1).normal(size=(2, n, 35))
    matrices = levels.matrices(n)
    for forward in (False, True):
        out, p_out = np.ones(levels.blocks.size), np.full_like(p, 7.0)
        PULLBACK_KERNELS[tile](p, q, p_out, start, stop, *levels[:4], forward, out)
        x, y = p[:, start:stop], q[:, start:stop]
        for level in range(len(sizes)) if forward else range(len(sizes) - 1, -1, -1):
            u, group = matrices[level], levels.group(level)
            first, last = levels.block_offsets[level : level + 2]
            # The products are those of the rotated side.
            before = x[group] @ y[group].T
            x, y = (u @ x, u @ y) if forward else (u.T @ x, u.T @ y)
            after = x[group] @ y[group].T
            products = 1.0 + (after if forward else before)
            np.testing.assert_allclose(out[first:last], products.ravel(), atol=1e-11)
        expected = np.full_like(p, 7.0)
        expected[:, start:stop] = x
        np.testing.assert_allclose(p_out, expected, atol=1e-12)


def test_products_with_blocks() -> None:
    levels = dense.random_levels(9, [4, 1, 5], [1, 1, 2])
    products = np.random.default_rng(2).normal(size=levels.blocks.size)
    out, sizes = np.full(levels.blocks.size, 7.0), np.diff(levels.offsets)
    times_blocks(products, sizes, levels.block_offsets, levels.blocks, out)
    for size, first in zip(sizes, levels.block_offsets, strict=False):
        square = slice(first, first + size * size)
        expected = products[square].reshape(size, size) @ levels.blocks[square].reshape(size, size)
        np.testing.assert_allclose(out[square], expected.ravel(), atol=1e-12)


# -- loss and gradient --------------------------------------------------------------------------


class Problem:
    """A matrix in elimination order, filled up with zeros to whole tiles."""

    def __init__(self, n: int, padded: int, sizes: list[int], drops: list[int]) -> None:
        self.levels = dense.random_levels(n, sizes, drops, seed=n, last_first=True)
        self.core = n - sum(drops)
        self.w = np.eye(padded)
        self.w[:n, :n] = self.levels.basis(n)
        self.matrix = np.zeros((padded, padded))
        self.matrix[:n, :n] = dense.random_symmetric(n, seed=n)
        self.dropped = np.full(n, len(sizes))  # the core counts as dropped last
        for level in range(len(sizes)):
            self.dropped[self.levels.dropped(level)] = level + 1

    def gradient(self) -> list[np.ndarray]:
        """Return the blocks of the commutator, carried back to every level."""
        c = self.w @ self.matrix @ self.w.T
        h = np.diag(np.diag(c))
        h[: self.core, : self.core] = c[: self.core, : self.core]
        return self.blocks_of(2 * (c @ h - h @ c))

    def blocks_of(self, k: np.ndarray) -> list[np.ndarray]:
        """Return ``K_l[I_l, I_l]`` of all levels, where ``K_{l-1} = U_l^T K_l U_l``."""
        result: list[np.ndarray] = []
        matrices = self.levels.matrices(len(k))
        for level in range(len(matrices) - 1, -1, -1):
            group = self.levels.group(level)
            result.insert(0, k[np.ix_(group, group)])
            k = matrices[level].T @ k @ matrices[level]
        return result


PROBLEMS = [
    (5, 8, [3, 2], [1, 2]), (21, 24, [4, 9, 6], [2, 5, 1]), (39, 40, [5, 8, 17], [3, 7, 16]),
    (56, 56, [6, 7, 12, 3], [1, 3, 9, 3]),
]  # fmt: skip


@pytest.mark.parametrize("shape", PROBLEMS)
@pytest.mark.parametrize("first", [0, 32])
def test_columns_of_a_rotated_matrix(
    shape: tuple[int, int, list[int], list[int]], first: int
) -> None:
    problem = Problem(*shape)
    size = shape[1]
    if first >= size:
        return
    x = np.random.default_rng(3).normal(size=(size, size))
    rotated = problem.w @ x
    out = np.full((size, size), 7.0)
    rotate_columns(x, out, first, size, *problem.levels[:4])
    np.testing.assert_allclose(out[first:], rotated.T[first:], atol=1e-12)
    assert (out[:first] == 7.0).all()
    expected = np.concatenate([x[:, :first], rotated[:, first:]], axis=1)
    rotate_rows(x, first, size, *problem.levels[:4])
    np.testing.assert_allclose(x, expected, atol=1e-12)


@pytest.mark.parametrize("core", [0, 3, 8])
@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_commutator(core: int, penalty: float) -> None:
    c = dense.random_symmetric(8, seed=4)
    weights = penalty * np.random.default_rng(5).normal(size=8)
    weights[:core] = 0.0
    h = np.diag(np.diag(c))
    h[:core, :core] = c[:core, :core]
    off = c - h
    # The derivative of the penalty is a diagonal matrix; its commutator with c is added.
    expected = 2 * (c @ h - h @ c) + np.diag(weights) @ c - c @ np.diag(weights)
    assert commutator(c, core, weights) == pytest.approx((off**2).sum(), rel=1e-12)
    np.testing.assert_allclose(c, expected, atol=1e-12)


@pytest.mark.parametrize("shape", PROBLEMS)
def test_blocks_carried_back(shape: tuple[int, int, list[int], list[int]]) -> None:
    problem = Problem(*shape)
    n, size = shape[:2]
    k = np.zeros((size, size))
    k[:n, :n] = np.random.default_rng(6).normal(size=(n, n))
    k -= k.T
    k[: problem.core, : problem.core] = 0.0
    out = np.ones(problem.levels.blocks.size)
    middle = 32 if size > 32 else 0
    for first, last in ((0, middle), (middle, size)):
        carry_back(k, problem.dropped, first, last, *problem.levels[:4], out)
    check_lower_triangles(problem, out - 1.0, problem.blocks_of(k))


def check_lower_triangles(problem: Problem, found: np.ndarray, blocks: list[np.ndarray]) -> None:
    for block, first in zip(blocks, problem.levels.block_offsets, strict=False):
        square = found[first : first + block.size].reshape(block.shape)
        np.testing.assert_allclose(square, np.tril(block, -1), atol=1e-10)


@pytest.mark.parametrize("shape", PROBLEMS)
def test_loss_and_gradient(shape: tuple[int, int, list[int], list[int]]) -> None:
    problem = Problem(*shape)
    n, size = shape[:2]
    rotated, out = np.empty((size, size)), np.zeros(problem.levels.blocks.size)
    loss = loss_and_gradient(
        problem.matrix, rotated, problem.core, np.zeros(size), problem.dropped,
        *problem.levels[:4], out,
    )  # fmt: skip
    _, added = problem.levels.losses(problem.matrix[:n, :n])
    assert loss == pytest.approx(sum(added), rel=1e-11)
    check_lower_triangles(problem, out, problem.gradient())


# -- entries of the rotated matrix --------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["all", "band"])
def test_entries_of_the_rotated_matrix(wanted: str) -> None:
    n = 84
    levels = dense.random_levels(n, [2, 5, 3, 4], [1, 4, 1, 3], seed=7)
    matrix = dense.random_symmetric(n, seed=8, density=0.02)
    csr, w = sp.csr_array(matrix), levels.basis(n)
    rotated = w @ matrix @ w.T
    work, product, buffer = (np.zeros(rows * STRIP) for rows in (n + 1, n, 5))
    packed = tuple(levels[:4])
    diagonal = np.zeros(n)
    until = 1 + np.repeat(np.arange(4), np.diff(levels.drop_offsets))
    coordinates = levels.wavelets
    for first, last in ((0, 4), (4, 9)):
        wavelet_energies(
            csr.indptr, csr.indices, csr.data, coordinates, until, first, last, packed, work,
            buffer, diagonal,
        )  # fmt: skip
    expected = np.zeros(n)
    expected[coordinates] = np.diag(rotated)[coordinates]
    np.testing.assert_allclose(diagonal, expected, atol=1e-11)

    core = np.setdiff1d(np.arange(n), coordinates)
    block = rotated[np.ix_(core, core)]
    mask = np.abs(np.subtract.outer(np.arange(core.size), np.arange(core.size))) < 4
    pattern = sp.csr_array(mask.astype(float))
    where = (pattern.indptr, pattern.indices)
    out = np.zeros(pattern.nnz)
    if wanted == "all":
        where, out = (np.empty(0, np.int32), np.empty(0, np.int32)), np.zeros(core.size**2)
    for first, last in ((0, 40), (40, core.size)):
        core_entries(
            csr.indptr, csr.indices, csr.data, core, first, last, packed, work, product, buffer,
            *where, out,
        )  # fmt: skip
    found = out.reshape(block.shape) if wanted == "all" else out
    # Entries are listed by columns; the matrix is symmetric.
    np.testing.assert_allclose(found, block if wanted == "all" else block[mask], atol=1e-11)
    assert not work[: n * STRIP].any()  # zero again, for the next call
    assert not product.any()


# -- movement of the blocks ---------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 4, 5, 8, 11, 16, 17])
@pytest.mark.parametrize("step", [0.3, 40.0])
def test_cayley_curves(size: int, step: float) -> None:
    rng = np.random.default_rng(size)
    skews = [x - x.T for x in rng.normal(size=(2, size, size))]
    blocks = [dense.random_rotation(size, rng) for _ in range(2)]
    sizes, offsets = np.full(2, size), np.array([0, size**2, 2 * size**2])
    packed, skew = np.array(blocks).ravel(), np.array(skews).ravel()
    out, change, velocity, again = (np.full(2 * size**2, 7.0) for _ in range(4))
    cayley_move(packed, sizes, offsets, skew, step, out, change)
    cayley_step(packed, sizes, offsets, skew, step, again)
    np.testing.assert_array_equal(out, again)
    cayley_velocity(sizes, offsets, skew, step, velocity)
    identity = np.eye(size)
    for x, block, first in zip(skews, blocks, offsets, strict=False):
        here = slice(first, first + size**2)
        curve = np.linalg.solve(identity - 0.5 * step * x, identity + 0.5 * step * x)
        np.testing.assert_allclose(change[here], (curve - identity).ravel(), atol=1e-9)
        np.testing.assert_allclose(out[here], (curve @ block).ravel(), atol=1e-9)
        speed = x @ np.linalg.inv(identity - 0.25 * step**2 * x @ x)
        np.testing.assert_allclose(velocity[here], speed.ravel(), atol=1e-9)
    cayley_velocity(sizes, offsets, skew, 0.0, velocity)
    np.testing.assert_array_equal(velocity, skew)


def test_blocks_are_brought_back_to_orthogonality() -> None:
    rng = np.random.default_rng(9)
    for size in (3, 8, 17):
        block = dense.random_rotation(size, rng) + 1e-5 * rng.normal(size=(size, size))
        out = np.empty(size * size)
        cayley_step(block.ravel(), np.array([size]), np.array([0]), np.zeros(size * size), 1.0, out)
        moved = out.reshape(size, size)
        assert np.abs(moved @ moved.T - np.eye(size)).max() < 1e-7
