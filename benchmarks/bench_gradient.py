"""Speed of one loss and gradient of the global objective, as ratios in one run.

    python benchmarks/bench_gradient.py [--record FILE|FOLDER]

The rival is the textbook formulation in PyTorch: an n-by-n rotation per level, products of
n-by-n matrices, and autograd backwards, on the same matrix, indices and rotations. It comes in two
forms: "conjugate" follows the definition, A <- U A U^T at every level; "accumulate" halves
the products by forming the basis first, W <- U W, and then W A W^T once. Cora (ours only) needs
the data folder (WAVEMMF_DATA).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from timing import alternate

import wavemmf as wm
from wavemmf.errors import WavemmfError
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.optimize._objective import Objective

Row = dict[str, Any]


class DenseObjective:
    """The objective with n-by-n matrices only."""

    def __init__(self, matrix: np.ndarray, rotations: wm.Rotations) -> None:
        self.matrix = torch.from_numpy(matrix)
        levels = range(1, rotations.num_levels + 1)
        self.groups = [torch.from_numpy(rotations.group(level).copy()) for level in levels]
        self.blocks = [
            torch.from_numpy(rotations.block(level).copy()).requires_grad_() for level in levels
        ]
        self.residual = torch.ones_like(self.matrix)
        self.residual.fill_diagonal_(0.0)
        core = torch.from_numpy(rotations.core.copy())
        self.residual[core[:, None], core] = 0.0

    def conjugate(self) -> torch.Tensor:
        a = self.matrix
        for u in self._rotations():
            a = u @ a @ u.T
        return ((a * self.residual) ** 2).sum()

    def accumulate(self) -> torch.Tensor:
        w = torch.eye(len(self.matrix), dtype=self.matrix.dtype)
        for u in self._rotations():
            w = u @ w
        return ((w @ self.matrix @ w.T * self.residual) ** 2).sum()

    def gradient(self, loss: Callable[[], torch.Tensor]) -> list[torch.Tensor]:
        """Return the gradient in skew form, as `Objective` defines it."""
        euclidean = torch.autograd.grad(loss(), self.blocks)
        moved = [g @ o.detach().T for g, o in zip(euclidean, self.blocks, strict=True)]
        return [(g - g.T) / 2 for g in moved]

    def _rotations(self) -> list[torch.Tensor]:
        made = []
        for group, block in zip(self.groups, self.blocks, strict=True):
            u = torch.eye(len(self.matrix), dtype=self.matrix.dtype)
            made.append(u.index_put((group[:, None], group), block))
        return made


def gradient_flops(rotations: wm.Rotations) -> int:
    """Count the useful operations, two per multiply-add.

    Two transforms of n columns give W A W^T; backwards each column of the commutator is carried
    through all levels once (one transform), its partner V through the levels before the column
    is dropped, and there the strictly lower triangle of every block is a scalar product.
    """
    n, sizes = rotations.n, rotations.sizes
    alive = n - np.concatenate([[0], np.cumsum(np.diff(rotations.drop_offsets))[:-1]])
    transforms = 3 * n * int(np.sum(sizes**2))
    partner = int(np.sum(alive * (sizes**2 + sizes * (sizes - 1) // 2)))
    return 2 * (transforms + partner)


def product_rate(n: int) -> tuple[Callable[[], np.ndarray], int]:
    a = np.random.default_rng(0).normal(size=(n, n))
    return lambda: a @ a, 2 * n**3


def against_dense(name: str, f: wm.Factorization, matrix: np.ndarray, repeats: int) -> Row:
    objective, dense = Objective(matrix, f.rotations), DenseObjective(matrix, f.rotations)
    blocks = f.rotations.blocks
    _check_same(objective, dense, blocks)
    product, product_flops = product_rate(1000)
    times = alternate(
        {
            "ours": lambda: objective.value_and_gradient(blocks),
            "conjugate": lambda: dense.gradient(dense.conjugate),
            "accumulate": lambda: dense.gradient(dense.accumulate),
            "product": product,
        },
        repeats,
    )
    flops = gradient_flops(f.rotations)
    ours = times["ours"]
    print(
        f"{name} (L={f.num_levels}): ours {1e3 * ours:.3f} ms; "
        f"dense PyTorch {1e3 * times['conjugate']:.1f} ms, ratio {times['conjugate'] / ours:.0f}; "
        f"accumulating W first {1e3 * times['accumulate']:.1f} ms, "
        f"ratio {times['accumulate'] / ours:.0f}"
    )
    print(
        f"  {flops / 1e6:.1f} MFlop, {flops / ours / 1e9:.1f} GFlop/s; "
        f"1000x1000 product {product_flops / times['product'] / 1e9:.1f} GFlop/s"
    )
    others = {f"{rival}_seconds": times[rival] for rival in ("conjugate", "accumulate")}
    return {"case": name, "seconds": ours, **others, "gflops": flops / ours / 1e9}


def _check_same(objective: Objective, dense: DenseObjective, blocks: np.ndarray) -> None:
    value, gradient = objective.value_and_gradient(blocks)
    for loss in (dense.conjugate, dense.accumulate):
        assert np.isclose(value, loss().item(), rtol=1e-9)
        expected = torch.cat([g.ravel() for g in dense.gradient(loss)]).numpy()
        np.testing.assert_allclose(gradient, expected, atol=1e-9 * np.abs(expected).max())


def kronecker() -> Row:
    matrix = wm.graphs.kronecker(9)
    f = wm.factorize(matrix, core=16, k=16, drop=8)
    return against_dense("Kronecker n=512, k=16, drop 8, core 16", f, matrix, repeats=11)


def karate() -> Row:
    matrix = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    f = wm.factorize(matrix, core=8, k=8)
    return against_dense("Karate n=34, k=8, core 8", f, matrix, repeats=101)


def cora() -> Row | None:
    try:
        graph = wm.graphs.named("cora")
    except WavemmfError as error:
        print(f"Cora is not available ({error})")
        return None
    f = wm.factorize(graph, core=100, k=8)
    objective = Objective(wm.graphs.normalized_laplacian(graph).toarray(), f.rotations)
    blocks = f.rotations.blocks
    product, product_flops = product_rate(f.n)
    times = alternate(
        {"ours": lambda: objective.value_and_gradient(blocks), "product": product}, repeats=7
    )
    flops = gradient_flops(f.rotations)
    print(
        f"Cora n={f.n}, k=8, core 100 (L={f.num_levels}): {times['ours']:.3f} s per gradient, "
        f"{flops / times['ours'] / 1e9:.1f} GFlop/s; {f.n}x{f.n} product {times['product']:.3f} s, "
        f"{product_flops / times['product'] / 1e9:.1f} GFlop/s"
    )
    title = f"Cora n={f.n}, k=8, core 100"
    return {"case": title, "seconds": times["ours"], "gflops": flops / times["ours"] / 1e9}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_record_option(parser)
    keep = Recorder(parser.parse_args().record)
    rows = [row for row in (kronecker(), karate(), cora()) if row is not None]
    keep("bench_gradient", ["kronecker", "karate", "cora"], {}, [], rows)


if __name__ == "__main__":
    main()
