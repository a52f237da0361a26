"""Learning compact levels: the gradient by the coordinates of wavelets, and what comes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.kernels.planes import move_planes
from wavemmf.optimize import LBFGS, SGD, Adam, Stiefel, optimize_rotations
from wavemmf.optimize._objective import Objective

PENALTIES = [(0.0, 1.0), (0.7, 1.0), (0.5, 1.5)]
#: n, k, core
SHAPES = [
    (2, 2, 0),
    (2, 2, 1),
    (5, 4, 0),
    (9, 9, 1),
    (16, 4, 4),
    (33, 8, 0),
    (40, 2, 4),
    (41, 16, 8),
]


def problem(n: int, k: int, core: int) -> tuple[np.ndarray, wm.Rotations]:
    """Make a positive matrix, and levels whose wavelets are far from good."""
    rng = np.random.default_rng(n + k)
    factor = rng.normal(size=(n, n))
    matrix = factor @ factor.T / n
    r = wm.factorize(matrix, core=core, k=k, rotations="compact").rotations
    return matrix, moved(r, directions(r, rng), 0.5)


def directions(r: wm.Rotations, rng: np.random.Generator) -> np.ndarray:
    """Return random directions in the coordinates of all wavelets."""
    direction = rng.normal(size=r.blocks.size)
    direction[r.offsets[:-1]] = 0.0
    return direction


def moved(r: wm.Rotations, direction: np.ndarray, step: float) -> wm.Rotations:
    blocks = np.empty_like(r.blocks)
    move_planes(r.offsets, r.blocks, direction, step, blocks)
    return replace(r, blocks=blocks)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradient_against_finite_differences(shape, penalty) -> None:
    matrix, r = problem(*shape)
    objective = Objective(matrix, r, *penalty)
    value, gradient = objective.value_and_gradient(r.blocks)
    full = Objective(matrix, r.to_full(), *penalty)
    assert value == pytest.approx(full.value(r.to_full().blocks), rel=1e-11)
    rng, h = np.random.default_rng(2), 1e-5
    for _ in range(3):
        direction = directions(r, rng)
        ahead, behind = (objective.value(moved(r, direction, t).blocks) for t in (h, -h))
        rate = 2.0 * float(gradient @ direction)
        assert (ahead - behind) / (2 * h) == pytest.approx(rate, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradient_against_dense_autograd(shape, dtype) -> None:
    torch = pytest.importorskip("torch")
    matrix, r = problem(*shape)
    places = np.delete(np.arange(r.blocks.size), r.offsets[:-1])
    heads = np.repeat(r.blocks[r.offsets[:-1]], r.sizes)
    z = torch.tensor((r.blocks / (1.0 + heads))[places], requires_grad=True)
    c = torch.tensor(matrix)
    start = 0
    for level, size in enumerate(r.sizes.tolist(), start=1):
        own = z[start : start + size - 1]
        start += size - 1
        head = 2.0 / (1.0 + own @ own)
        w = torch.cat([(head - 1.0)[None], head * own])
        e = torch.eye(size, dtype=torch.float64)
        u = e - torch.outer(e[0] + w, e[0] + w) / (1.0 + w[0]) + 2.0 * torch.outer(e[0], w)
        group = torch.tensor(r.group(level))
        whole = torch.eye(r.n, dtype=torch.float64).index_put((group[:, None], group), u)
        c = whole @ c @ whole.T
    inside = torch.tensor(r.level_of == 0)
    lost = ~(torch.outer(inside, inside) | torch.eye(r.n, dtype=torch.bool))
    loss = (c[lost] ** 2).sum()
    (expected,) = torch.autograd.grad(loss, z)
    objective = Objective(matrix.astype(dtype), r)
    value, gradient = objective.value_and_gradient(r.blocks.astype(dtype))
    relative = 1e-11 if dtype == np.float64 else 2e-5
    assert value == pytest.approx(loss.item(), rel=relative, abs=relative)
    largest = float(expected.abs().max()) if expected.numel() else 1.0
    np.testing.assert_allclose(
        2.0 * gradient[places], expected.numpy(), atol=relative * max(largest, 1.0)
    )
    assert not gradient[r.offsets[:-1]].any()


@pytest.mark.parametrize(
    "optimizer",
    [
        LBFGS(steps=60),
        LBFGS(steps=20, smoothness=0.1),
        Stiefel(steps=30),
        SGD(steps=20),
        Adam(steps=20),
    ],
    ids=lambda optimizer: f"{optimizer.name}-{optimizer.smoothness}",
)
def test_optimisers_improve_and_keep_levels_compact(optimizer) -> None:
    matrix, r = problem(40, 8, 4)
    improved, history = optimize_rotations(matrix, r, optimizer)
    assert improved.kind == "compact"
    before, after = (wm.Factorization.from_rotations(matrix, each) for each in (r, improved))
    oracle.check_constraints(after)
    objectives = [
        Objective(matrix, each, optimizer.smoothness).value(each.blocks) for each in (r, improved)
    ]
    assert objectives[1] < objectives[0]
    if optimizer.smoothness == 0.0:
        assert after.error() == pytest.approx(min(history.errors), rel=1e-9)
        assert after.error() < before.error()


@pytest.mark.parametrize("shape", [(30, 6, 4), (160, 16, 12)], ids=["one call", "threads"])
def test_both_ways_to_take_steps_descend_alike(shape, monkeypatch) -> None:
    matrix, r = problem(*shape)
    _, one = optimize_rotations(matrix, r, LBFGS(steps=8))
    monkeypatch.setattr("wavemmf.optimize._objective._ONE_THREAD", 0)
    _, other = optimize_rotations(matrix, r, LBFGS(steps=8))
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-6)


def test_a_wavelet_never_reaches_the_axis_opposite_to_its_own() -> None:
    _, r = problem(16, 4, 4)
    direction = directions(r, np.random.default_rng(0))
    far = moved(r, direction, 1e12)  # checked at construction
    assert (far.blocks[far.offsets[:-1]] > -1.0).all()


def test_learning_ends_below_the_start_and_can_be_resumed(tmp_path) -> None:
    a = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    settings = {"core": 8, "k": 16, "rotations": "compact"}
    closed = wm.factorize(a, **settings)
    whole = wm.refine(closed, a, LBFGS(steps=30))
    assert whole.error() < closed.error()

    def interrupt(step: int, error: float) -> bool:
        if step == 12:
            raise KeyboardInterrupt
        return False

    path = tmp_path / "run.ckpt"
    wm.refine(closed, a, LBFGS(steps=30, callback=interrupt, checkpoint=path))
    resumed = wm.refine(closed, a, LBFGS(steps=30, checkpoint=path, callback=lambda *_: False))
    assert resumed.error() == pytest.approx(whole.error(), rel=1e-6)
    assert resumed.rotations.kind == "compact"


def test_restarts_and_refinement_keep_levels_compact() -> None:
    f = wm.factorize(
        wm.graphs.karate(), core=8, k=8, restarts=6, optimize="lbfgs", steps=20, rotations="compact"
    )
    assert f.rotations.kind == "compact"
    assert wm.refine(f, wm.graphs.karate(), steps=5).error() <= f.error()
