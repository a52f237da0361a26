"""Compact levels in whatever takes a factorization: the same as their full blocks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wavemmf as wm
from command_line import failed, run

KARATE = wm.graphs.karate()


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.factorize(KARATE, core=8, k=6, rotations="compact")


@pytest.fixture(scope="module")
def full(f: wm.Factorization) -> wm.Factorization:
    return replace(f, rotations=f.rotations.to_full())


def test_report(f: wm.Factorization, full: wm.Factorization) -> None:
    from wavemmf.report._content import content

    one, other = content(f, KARATE), content(full, KARATE)
    for name in ("rotations", "heirs", "order", "support"):
        assert one[name] == other[name]
    assert one["figures"]["stored"] == f.stored_numbers < other["figures"]["stored"]


def test_pictures(f: wm.Factorization) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    matrix = wm.graphs.normalized_laplacian(KARATE)
    assert len(wm.plot.compression(f, matrix)) > 1


def test_pygsp(f: wm.Factorization) -> None:
    pytest.importorskip("pygsp", reason="needs PyGSP")
    seen = f.to_pygsp(KARATE)
    np.testing.assert_allclose((seen.U * seen.e) @ seen.U.T, f.to_dense(), atol=1e-10)


def test_torch(f: wm.Factorization, full: wm.Factorization) -> None:
    torch = pytest.importorskip("torch")
    from wavemmf.errors import InvalidInputError
    from wavemmf.nn import WaveletBasis
    from wavemmf.torch import MMFLayer, analyze

    x = torch.randn(34, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    layer = MMFLayer(f)
    np.testing.assert_allclose(layer(x).detach(), f.analyze(x.numpy()), atol=1e-12)
    layer(x).square().sum().backward()
    assert layer.to_rotations().kind == "compact"
    bases = [WaveletBasis(each) for each in (f, full)]
    y = x.float()
    np.testing.assert_allclose(*(each.analyze(y).detach() for each in bases), atol=1e-5)
    with pytest.raises(InvalidInputError, match=r"rotations\.to_full"):
        analyze(x, f.rotations, torch.tensor(f.rotations.blocks))


def test_estimator() -> None:
    pytest.importorskip("sklearn")
    model = wm.MMF(core=8, k=6, rotations="compact").fit(KARATE)
    assert model.factorization_.rotations.kind == "compact"


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "f.mmf"
    arguments = ("factorize", "karate", "--core", 8, "--k", 6, "--rotations", "compact")
    result = run(*arguments, "-o", path, "--json")
    assert result.exit_code == 0
    assert wm.load(path).rotations.kind == "compact"
    assert json.loads(result.stdout)["error"] == wm.load(path).error()
    failed(run(*arguments[:-1], "small"), "rotations must be one of 'full', 'compact'")


def test_policies_choose_survivors_that_fit() -> None:
    pytest.importorskip("torch")
    policy = wm.rl.train_policy(KARATE, k=4, core=8, episodes=4, seed=0)
    f = wm.factorize(KARATE, core=8, k=4, select=policy, rotations="compact")
    assert f.rotations.kind == "compact"
