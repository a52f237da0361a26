"""Transform and objective in PyTorch: exact derivatives, and a layer that trains."""

from __future__ import annotations

import copy
import dataclasses
import io
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError, MissingDependencyError

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck  # noqa: E402

from wavemmf.torch import (  # noqa: E402
    MMFLayer,
    PlaneCoordinates,
    SkewCoordinates,
    analyze,
    residual,
    synthesize,
)

RAGGED = oracle.laplacian(nx.disjoint_union(nx.path_graph(5), nx.complete_graph(4)))
CASES = {
    "pairs": (oracle.random_symmetric(6, seed=1), {"core": 2, "k": 2}),
    "fours": (oracle.random_symmetric(9, seed=2), {"core": 2, "k": 4}),
    "drop 2": (oracle.random_symmetric(9, seed=3), {"core": 1, "k": 4, "drop": 2}),
    "drop 3": (oracle.random_symmetric(10, seed=4), {"core": 1, "k": 5, "drop": 3}),
    "ragged": (RAGGED, {"core": 0, "k": 5}),
    "all core": (oracle.random_symmetric(4, seed=5), {"core": 4, "k": 2}),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[np.ndarray, wm.Factorization]:
    matrix, settings = CASES[request.param]
    return matrix, wm.factorize(matrix, **settings)


def random_signals(n: int, *columns: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, *columns, generator=generator, dtype=dtype)


def test_ragged_case_is_ragged() -> None:
    matrix, settings = CASES["ragged"]
    assert len(set(wm.factorize(matrix, **settings).rotations.sizes.tolist())) > 1


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [(), (1,), (3,), (20,), (70,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_same_values_as_the_factorization(case, columns, dtype) -> None:
    _, f = case
    layer = MMFLayer(f)
    x = random_signals(f.n, *columns, dtype=dtype)
    c = layer(x)
    assert c.dtype == dtype
    assert c.shape == x.shape
    atol = 1e-5 if dtype == torch.float32 else 1e-12
    np.testing.assert_allclose(c.detach(), f.analyze(x.numpy()), atol=atol)
    np.testing.assert_allclose(layer.synthesize(c).detach(), x, atol=atol)


def test_residual_is_the_squared_error(case) -> None:
    matrix, f = case
    value = MMFLayer(f).residual(torch.tensor(matrix)).item()
    assert value == pytest.approx(f.error() ** 2, rel=1e-9, abs=1e-20)


# -- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [analyze, synthesize])
@pytest.mark.parametrize("columns", [(), (3,), (20,)])
def test_transform_gradcheck(case, transform, columns) -> None:
    _, f = case
    x = random_signals(f.n, *columns).requires_grad_()
    blocks = torch.tensor(f.rotations.blocks, requires_grad=True)
    assert gradcheck(lambda x, blocks: transform(x, f.rotations, blocks), (x, blocks))


@pytest.mark.parametrize("transform", [analyze, synthesize])
def test_transform_gradcheck_in_one_input_only(case, transform) -> None:
    _, f = case
    x, blocks = random_signals(f.n, 2), torch.tensor(f.rotations.blocks)
    assert gradcheck(lambda x: transform(x, f.rotations, blocks), x.clone().requires_grad_())
    if blocks.numel():
        blocks.requires_grad_()
        assert gradcheck(lambda blocks: transform(x, f.rotations, blocks), blocks)


@pytest.mark.parametrize("distance", [0.0, 0.7])
def test_residual_gradcheck(case, distance) -> None:
    matrix, f = case
    coordinates = SkewCoordinates(f.rotations)
    base = torch.tensor(f.rotations.blocks)
    theta = distance * random_signals(coordinates.size)

    def loss(matrix: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        return residual(matrix, f.rotations, coordinates.blocks(theta, base))

    assert gradcheck(loss, (torch.tensor(matrix).requires_grad_(), theta.requires_grad_()))
    assert gradcheck(lambda m: loss(m, theta.detach()), torch.tensor(matrix).requires_grad_())


def test_filter_gradcheck(case) -> None:
    _, f = case
    layer = MMFLayer(f)
    x, gains = random_signals(f.n, 2), random_signals(f.n) + 2
    theta = 0.3 * random_signals(layer.theta.numel())

    def filtered(x: torch.Tensor, gains: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(_Filter(layer), {"layer.theta": theta}, (x, gains))

    assert gradcheck(filtered, tuple(t.requires_grad_() for t in (x, gains, theta)))


class _Filter(torch.nn.Module):
    def __init__(self, layer: MMFLayer) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        return self.layer.filter(x, gains)


@pytest.mark.parametrize("transform", [analyze, synthesize])
def test_single_precision_gradients(transform) -> None:
    f = wm.factorize(oracle.random_symmetric(20, seed=6), core=3, k=5)
    gradients = []
    for dtype in (torch.float32, torch.float64):
        x = random_signals(20, 40).to(dtype).requires_grad_()
        blocks = torch.tensor(f.rotations.blocks, requires_grad=True)
        transform(x, f.rotations, blocks).pow(3).sum().backward()
        assert x.grad.dtype == dtype
        assert blocks.grad.dtype == torch.float64
        gradients.append((x.grad.double(), blocks.grad))
    for single, double in zip(*gradients, strict=True):
        assert torch.allclose(single, double, rtol=1e-3, atol=1e-4 * double.abs().max().item())


def test_gradients_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    f = wm.factorize(wm.graphs.grid(8, 8), core=4, k=8)
    x = random_signals(64, 300)
    gradients = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        blocks = torch.tensor(f.rotations.blocks, requires_grad=True)
        analyze(x, f.rotations, blocks).abs().sum().backward()
        gradients.append(blocks.grad)
    assert torch.equal(*gradients)


def test_inputs_in_any_memory_order() -> None:
    f = wm.factorize(wm.graphs.cycle(10), core=2, k=3)
    layer = MMFLayer(f)
    x = random_signals(7, 10).T
    assert torch.equal(layer(x), layer(x.contiguous()))
    layer(x).sum().backward()  # the incoming gradient is an expanded scalar
    assert torch.isfinite(layer.theta.grad).all()


# -- the layer ------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["Adam", "LBFGS"])
@pytest.mark.parametrize("rebase", [False, True])
def test_optimisers_reduce_the_error(optimizer: str, rebase: bool) -> None:
    graph = wm.graphs.karate()
    f = wm.factorize(graph, core=8, k=6)
    matrix = torch.tensor(wm.graphs.normalized_laplacian(graph).toarray())
    layer = MMFLayer(f)
    settings = {"lr": 0.01} if optimizer == "Adam" else {"line_search_fn": "strong_wolfe"}
    steps = getattr(torch.optim, optimizer)(layer.parameters(), **settings)

    def closure() -> torch.Tensor:
        steps.zero_grad()
        loss = layer.residual(matrix)
        loss.backward()
        return loss

    for _ in range(60 if optimizer == "Adam" else 5):
        steps.step(closure)
        if rebase:
            layer.rebase()
    learned = layer.to_factorization(graph)
    oracle.check_constraints(learned)
    assert learned.error() < 0.9 * f.error()
    assert learned.error() ** 2 == pytest.approx(layer.residual(matrix).item(), rel=1e-8)


def test_compact_levels_stay_compact() -> None:
    graph = wm.graphs.karate()
    f = wm.factorize(graph, core=8, k=6, rotations="compact")
    matrix = torch.tensor(wm.graphs.as_matrix(graph).toarray())
    layer = MMFLayer(f)
    assert layer.theta.numel() == f.rotations.groups.size - f.num_levels
    assert layer.residual(matrix).item() == pytest.approx(f.error() ** 2, rel=1e-8)
    steps = torch.optim.LBFGS(layer.parameters(), line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        steps.zero_grad()
        loss = layer.residual(matrix)
        loss.backward()
        return loss

    for _ in range(5):
        steps.step(closure)
        layer.rebase()
    learned = layer.to_factorization(graph)
    assert learned.rotations.kind == "compact"
    assert learned.error() < 0.99 * f.error()
    assert learned.error() ** 2 == pytest.approx(layer.residual(matrix).item(), rel=1e-8)


def test_plane_coordinates_gradcheck() -> None:
    matrix = wm.graphs.as_matrix(wm.graphs.cycle(9)).toarray()
    r = wm.factorize(matrix, core=2, k=4, rotations="compact").rotations
    coordinates, base, full = PlaneCoordinates(r), torch.tensor(r.blocks), r.to_full()
    theta = 0.5 * random_signals(coordinates.size)
    moved = dataclasses.replace(r, blocks=coordinates.moved(theta, base).numpy())
    np.testing.assert_allclose(coordinates.blocks(theta, base), moved.to_full().blocks, atol=1e-14)

    def loss(theta: torch.Tensor) -> torch.Tensor:
        return residual(torch.tensor(matrix), full, coordinates.blocks(theta, base))

    assert gradcheck(loss, theta.requires_grad_())
    with pytest.raises(InvalidInputError, match="theta"):
        coordinates.blocks(torch.zeros(1), base)


def test_learns_a_basis_in_which_signals_are_sparse() -> None:
    start = wm.factorize(wm.graphs.cycle(16), core=4, k=4, select="random", seed=3)
    hidden = MMFLayer(start)
    with torch.no_grad():
        hidden.theta.copy_(0.5 * random_signals(hidden.theta.numel()))
        codes = random_signals(16, 60)
        codes[codes.abs() < 1.5] = 0.0
        signals = hidden.synthesize(codes)
    layer = MMFLayer(start)
    model = torch.nn.Sequential(layer, torch.nn.Softshrink(0.05))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(150):
        optimizer.zero_grad()
        loss = model(signals).abs().mean()
        loss.backward()
        optimizer.step()
        layer.rebase()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    assert torch.allclose(layer.synthesize(layer(signals)), signals)


def test_rebase_keeps_the_basis_and_starts_again_at_zero() -> None:
    layer = MMFLayer(wm.factorize(wm.graphs.cycle(12), core=2, k=4))
    with torch.no_grad():
        layer.theta.copy_(random_signals(layer.theta.numel()))
    x = random_signals(12)
    before = layer(x).detach()
    layer.rebase()
    assert not layer.theta.any()
    assert torch.allclose(layer(x), before, atol=1e-13)
    assert layer.theta.requires_grad


def test_state_dict_round_trip() -> None:
    f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    trained = MMFLayer(f)
    with torch.no_grad():
        trained.theta.copy_(random_signals(trained.theta.numel()))
    trained.rebase()
    with torch.no_grad():
        trained.theta.add_(0.1)
    file = io.BytesIO()
    torch.save(trained.state_dict(), file)
    file.seek(0)
    fresh = MMFLayer(f)
    fresh.load_state_dict(torch.load(file, weights_only=True))
    x = random_signals(34, 2)
    assert torch.equal(fresh(x), trained(x))


def test_state_dict_of_other_index_sets_is_refused() -> None:
    graph = wm.graphs.karate()
    greedy = MMFLayer(wm.factorize(graph, core=8, k=4))
    random = MMFLayer(wm.factorize(graph, core=8, k=4, select="random"))
    with pytest.raises(RuntimeError, match="other index sets"):
        random.load_state_dict(greedy.state_dict())


def test_deepcopy_trains_on_its_own() -> None:
    layer = MMFLayer(wm.factorize(wm.graphs.cycle(9), core=2, k=3))
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        twin.theta.add_(1.0)
    x = random_signals(9)
    assert not layer.theta.any()
    assert not torch.allclose(layer(x), twin(x))


@pytest.mark.parametrize("convert", [True, False])
def test_single_precision_layer_gives_a_valid_factorization(convert: bool) -> None:
    graph = wm.graphs.karate()
    f = wm.factorize(graph, core=8, k=8)
    layer = MMFLayer(f).float() if convert else MMFLayer(f, dtype=torch.float32)
    assert layer.theta.dtype == torch.float32
    assert layer(random_signals(34, dtype=torch.float32)).dtype == torch.float32
    back = layer.to_factorization(graph)
    oracle.check_constraints(back)
    assert back.error() == pytest.approx(f.error(), rel=1e-3)


def test_repr_names_the_size() -> None:
    layer = MMFLayer(wm.factorize(wm.graphs.karate(), core=8, k=4))
    assert repr(layer) == "MMFLayer(n=34, levels=26, core=8, k=4, parameters=156)"


# -- bad input ------------------------------------------------------------------------------------


def test_other_devices_are_refused() -> None:
    layer = MMFLayer(wm.factorize(wm.graphs.cycle(6), core=2, k=2))
    with pytest.raises(InvalidInputError, match="CPU only"):
        layer(torch.ones(6, device="meta"))
    with pytest.raises(InvalidInputError, match="CPU only"):
        layer.to("meta")(torch.ones(6))


@pytest.mark.parametrize(
    ("signal", "error", "message"),
    [
        (np.ones(6), InputTypeError, "torch tensor"),
        (torch.ones(6, dtype=torch.float16), InputTypeError, "float16"),
        (torch.ones(6, dtype=torch.int64), InputTypeError, "int64"),
        (torch.ones(6).to_sparse(), InputTypeError, "dense"),
        (torch.ones(5), InvalidInputError, r"\(6,\)"),
        (torch.ones(6, 2, 2), InvalidInputError, r"\(6, 2, 2\)"),
    ],
)
def test_bad_signals_are_refused(signal, error, message) -> None:
    layer = MMFLayer(wm.factorize(wm.graphs.cycle(6), core=2, k=2))
    with pytest.raises(error, match=message):
        layer(signal)


def test_other_bad_arguments_are_refused() -> None:
    f = wm.factorize(wm.graphs.cycle(6), core=2, k=2)
    layer = MMFLayer(f)
    with pytest.raises(InputTypeError, match="Factorization"):
        MMFLayer(np.eye(6))
    with pytest.raises(InputTypeError, match="float16"):
        MMFLayer(f, dtype=torch.float16)
    with pytest.raises(InvalidInputError, match=r"\(5, 5\)"):
        layer.residual(torch.eye(5))
    with pytest.raises(InvalidInputError, match="6 rows"):
        layer.to_factorization(np.eye(5))
    with pytest.raises(InvalidInputError, match="blocks"):
        analyze(torch.ones(6), f.rotations, torch.ones(3))
    with pytest.raises(InvalidInputError, match="theta"):
        SkewCoordinates(f.rotations).blocks(torch.zeros(1), layer.base)


def test_torch_is_imported_only_when_asked_for() -> None:
    code = "import sys, wavemmf; assert 'torch' not in sys.modules; import wavemmf.torch"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("wavemmf.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"wavemmf\[torch\]"):
        __import__("wavemmf.torch")
