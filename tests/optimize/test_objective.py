"""The objective over all rotations, its gradient, and steps on the manifold, each checked twice."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.linalg

import oracle
import wavemmf as wm
from wavemmf.kernels.stiefel import cayley_step, cayley_velocity
from wavemmf.optimize._objective import Objective

PENALTIES = [(0.0, 1.0), (0.7, 1.0), (0.3, 2.0), (0.5, 1.5)]

#: n, k, drop, core; with core=n there is no level, with k=n the first group is everything.
SHAPES = [
    (2, 2, 1, 0), (2, 2, 1, 1), (2, 2, 1, 2), (3, 2, 1, 0), (3, 3, 2, 1), (5, 4, 1, 0),
    (6, 5, 4, 2), (8, 8, 1, 1), (9, 4, 3, 0), (13, 6, 2, 13), (16, 4, 1, 4), (17, 4, 2, 3),
    (21, 7, 6, 5), (24, 3, 1, 23), (32, 8, 1, 8), (33, 8, 4, 0), (40, 2, 1, 4), (40, 5, 2, 11),
    (40, 8, 7, 3), (40, 8, 1, 0),
]  # fmt: skip


def _disconnected() -> nx.Graph:
    parts = [nx.path_graph(3), nx.complete_graph(7), nx.cycle_graph(5), nx.star_graph(8)]
    return nx.disjoint_union_all(parts)


@lru_cache
def factorization(shape: tuple[int, int, int, int] | str) -> tuple[np.ndarray, wm.Factorization]:
    """Make a positive matrix (the penalty asks for it) and index sets with scrambled rotations."""
    if shape == "ragged":
        matrix, (k, drop, core) = oracle.laplacian(_disconnected()), (6, 1, 0)
    elif shape == "ragged, drop 3":
        matrix, (k, drop, core) = oracle.laplacian(_disconnected()), (7, 3, 2)
    else:
        n, k, drop, core = shape
        factor = np.random.default_rng(n + k).normal(size=(n, n))
        matrix = factor @ factor.T / n
    f = wm.factorize(matrix, core=core, k=k, drop=drop)
    blocks = scrambled(f.rotations, np.random.default_rng(1))
    r = f.rotations
    moved = wm.Rotations(r.n, r.offsets, r.groups, blocks, r.drop_offsets, r.wavelets)
    return matrix, wm.Factorization.from_rotations(matrix, moved)


def levels_of(rotations: wm.Rotations) -> list[slice]:
    bounds = rotations.block_offsets
    return [slice(a, b) for a, b in pairwise(bounds)]


def random_skew(rotations: wm.Rotations, rng: np.random.Generator) -> np.ndarray:
    packed = rng.normal(size=rotations.blocks.size)
    return 0.5 * (packed - packed[rotations.transposed_entries])


def moved_by_exponential(rotations: wm.Rotations, skew: np.ndarray) -> np.ndarray:
    """O <- exp(X) O for every block."""
    out = rotations.blocks.copy()
    for size, part in zip(rotations.sizes, levels_of(rotations), strict=True):
        x, block = skew[part].reshape(size, size), out[part].reshape(size, size)
        out[part] = (scipy.linalg.expm(x) @ block).ravel()
    return out


def scrambled(rotations: wm.Rotations, rng: np.random.Generator) -> np.ndarray:
    return moved_by_exponential(rotations, 0.5 * random_skew(rotations, rng))


ALL = [*SHAPES, "ragged", "ragged, drop 3"]


def test_ragged_cases_are_ragged() -> None:
    for name in ("ragged", "ragged, drop 3"):
        assert len(set(factorization(name)[1].rotations.sizes.tolist())) > 1


# -- the objective --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ALL, ids=str)
def test_value_is_the_squared_error(shape) -> None:
    matrix, f = factorization(shape)
    objective = Objective(matrix, f.rotations)
    value, _ = objective.value_and_gradient(f.rotations.blocks)
    scale = np.linalg.norm(matrix) ** 2
    assert abs(value - f.error() ** 2) <= 1e-12 * scale
    assert abs(value - np.linalg.norm(matrix - oracle.best_approximation(f, matrix)) ** 2) <= (
        1e-12 * scale
    )
    assert objective.value(f.rotations.blocks) == value
    assert objective.evaluations == 2


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("shape", ALL, ids=str)
def test_gradient_against_finite_differences(shape, penalty) -> None:
    matrix, f = factorization(shape)
    objective = Objective(matrix, f.rotations, *penalty)
    _, gradient = objective.value_and_gradient(f.rotations.blocks)
    rng = np.random.default_rng(2)
    for _ in range(3):
        skew = random_skew(f.rotations, rng)
        h = 1e-5
        ahead = objective.value(moved_by_exponential(f.rotations, h * skew))
        behind = objective.value(moved_by_exponential(f.rotations, -h * skew))
        rate = float(gradient @ skew)
        assert (ahead - behind) / (2 * h) == pytest.approx(rate, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", ALL, ids=str)
def test_value_and_gradient_against_dense_autograd(shape, dtype, penalty) -> None:
    pytest.importorskip("torch")
    matrix, f = factorization(shape)
    objective = Objective(matrix.astype(dtype), f.rotations, *penalty)
    value, gradient = objective.value_and_gradient(f.rotations.blocks.astype(dtype))
    expected_value, expected = dense_autograd(matrix, f.rotations, *penalty)
    relative = 1e-11 if dtype == np.float64 else 2e-5
    assert gradient.dtype == dtype
    assert value == pytest.approx(expected_value, rel=relative, abs=relative)
    largest = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(gradient, expected, atol=relative * largest)
    np.testing.assert_array_equal(gradient, -gradient[f.rotations.transposed_entries])


def dense_autograd(
    matrix: np.ndarray, r: wm.Rotations, smoothness: float, power: float
) -> tuple[float, np.ndarray]:
    """Build every rotation as an n-by-n matrix and let autograd find the gradient."""
    import torch

    blocks = torch.tensor(r.blocks, requires_grad=True)
    c = torch.tensor(matrix)
    for level, (size, part) in enumerate(zip(r.sizes, levels_of(r), strict=True), start=1):
        group = torch.tensor(r.group(level))
        block = blocks[part].reshape(int(size), int(size))
        u = torch.eye(r.n, dtype=torch.float64).index_put((group[:, None], group), block)
        c = u @ c @ u.T
    in_core = torch.tensor(r.level_of == 0)
    residual = ~(torch.outer(in_core, in_core) | torch.eye(r.n, dtype=torch.bool))
    loss = (c[residual] ** 2).sum()
    if smoothness:
        loss = loss + smoothness * (c.diagonal()[~in_core].clamp(min=0.0) ** power).sum()
    if not r.num_levels:
        return loss.item(), np.zeros(0)
    (euclidean,) = torch.autograd.grad(loss, blocks)
    skew = np.zeros(r.blocks.size)
    for size, part in zip(r.sizes, levels_of(r), strict=True):
        moved = euclidean[part].numpy().reshape(size, size) @ r.blocks[part].reshape(size, size).T
        skew[part] = (0.5 * (moved - moved.T)).ravel()
    return loss.item(), skew


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_with_one_and_two_threads(dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = wm.graphs.normalized_laplacian(wm.graphs.grid(10, 11)).toarray().astype(dtype)
    rotations = wm.factorize(matrix.astype(float), core=5, k=8).rotations
    assert rotations.n * rotations.blocks.size > 500_000  # large enough to use threads
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        results.append(
            Objective(matrix, rotations).value_and_gradient(rotations.blocks.astype(dtype))
        )
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_evaluation_leaves_its_input_alone() -> None:
    matrix, f = factorization((17, 4, 2, 3))
    before, blocks = matrix.copy(), f.rotations.blocks.copy()
    objective = Objective(matrix, f.rotations)
    first = objective.value_and_gradient(blocks)
    second = objective.value_and_gradient(blocks)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(blocks, f.rotations.blocks)
    np.testing.assert_array_equal(first[1], second[1])


# -- steps on the manifold ------------------------------------------------------------------------


def cayley(r: wm.Rotations, blocks: np.ndarray, skew: np.ndarray, step: float) -> np.ndarray:
    out = np.empty_like(blocks)
    cayley_step(blocks, r.sizes, r.block_offsets, skew, step, out)
    return out


def orthogonality_defect(r: wm.Rotations, blocks: np.ndarray) -> float:
    worst = 0.0
    for size, part in zip(r.sizes, levels_of(r), strict=True):
        block = blocks[part].reshape(size, size)
        worst = max(worst, np.abs(block @ block.T - np.eye(size)).max())
    return worst


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [0.0, 1e-3, 1.0, -2.5])
@pytest.mark.parametrize("shape", [(40, 2, 1, 4), (40, 8, 7, 3), "ragged", "ragged, drop 3"])
def test_cayley_step_against_a_dense_solve(shape, step, dtype, rng) -> None:
    r = factorization(shape)[1].rotations
    skew = random_skew(r, rng)
    moved = cayley(r, r.blocks.astype(dtype), skew.astype(dtype), step)
    for size, part in zip(r.sizes, levels_of(r), strict=True):
        half = 0.5 * step * skew[part].reshape(size, size)
        eye = np.eye(size)
        expected = np.linalg.solve(eye - half, (eye + half) @ r.blocks[part].reshape(size, size))
        atol = 1e-13 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(moved[part], expected.ravel(), atol=atol)


def test_ten_thousand_steps_stay_orthogonal(rng) -> None:
    r = factorization("ragged")[1].rotations
    blocks = r.blocks.copy()
    for _ in range(100):
        skew = random_skew(r, rng)
        for _ in range(100):
            blocks = cayley(r, blocks, skew, 0.3)
    assert orthogonality_defect(r, blocks) < 1e-10


@pytest.mark.parametrize("step", [0.0, 0.1, 1.7])
@pytest.mark.parametrize("shape", [(40, 5, 2, 11), (40, 8, 1, 0), "ragged"])
def test_cayley_velocity_against_finite_differences(shape, step, rng) -> None:
    r = factorization(shape)[1].rotations
    skew = random_skew(r, rng)
    velocity = np.empty_like(skew)
    cayley_velocity(r.sizes, r.block_offsets, skew, step, velocity)
    h = 1e-6
    ahead, behind = cayley(r, r.blocks, skew, step + h), cayley(r, r.blocks, skew, step - h)
    here = cayley(r, r.blocks, skew, step)
    for size, part in zip(r.sizes, levels_of(r), strict=True):
        rate = (ahead[part] - behind[part]).reshape(size, size) / (2 * h)
        left = rate @ here[part].reshape(size, size).T
        np.testing.assert_allclose(velocity[part].reshape(size, size), left, atol=1e-8)
