"""Measure how much a network's answers depend on the order in which nodes are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._optional import require
from .blocks import compute_bases
from .numbering import random_orders, relabelled
from .problem import GraphProblem, graph_data

__all__ = ["equivariance"]


@torch.no_grad()
def equivariance(
    net: torch.nn.Module,
    problem: GraphProblem,
    basis: dict[str, Any],
    indices: Sequence[int] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Compare the scores of graphs with those of the same graphs, nodes renumbered at random.

    Every renumbered graph is factorized anew, so that ties between wavelets are broken otherwise.

    Parameters
    ----------
    net : Module
        A network; it is put into evaluation mode.
    problem : GraphProblem
        The graphs.
    basis : dict
        How they are factorized; see `wavemmf.factorize_many`.
    indices : sequence of int, optional
        Which graphs; all by default.
    seed : int
        Seed of the permutations.

    Returns
    -------
    dict
        ``difference``: norm of the change of the scores relative to that of the
        centred scores; ``agreement``: share of graphs with the same class as before; ``accuracy``
        and ``accuracy_permuted``.

    Examples
    --------
    >>> import wavemmf as wm
    >>> problem = GraphProblem("one", [wm.graphs.cycle(5), wm.graphs.path(5)], [0, 1])
    >>> net = wm.nn.GraphWaveletNet(1, 2, filter="ones")
    >>> equivariance(net, problem, {"k": 2})["agreement"]
    1.0
    """
    chosen = list(range(len(problem)) if indices is None else indices)
    orders = random_orders([problem.graphs[i] for i in chosen], seed)
    turned = [relabelled(problem.graphs[i], o) for i, o in zip(chosen, orders, strict=True)]
    arrays = compute_bases(turned, **basis)
    data = problem.data(basis)
    after = _scores(
        net,
        [
            graph_data(graph, problem.features[i][order], int(problem.y[i]), array)
            for i, graph, order, array in zip(chosen, turned, orders, arrays, strict=True)
        ],
    )
    before = _scores(net, [data[i] for i in chosen])
    wanted = torch.from_numpy(problem.y[chosen])
    spread = (before - before.mean(dim=0)).norm().clamp(min=1e-12)
    return {
        "difference": ((after - before).norm() / spread).item(),
        "agreement": (after.argmax(1) == before.argmax(1)).double().mean().item(),
        "accuracy": (before.argmax(1) == wanted).double().mean().item(),
        "accuracy_permuted": (after.argmax(1) == wanted).double().mean().item(),
    }


def _scores(net: torch.nn.Module, data: list[Any]) -> torch.Tensor:
    loader = require("torch_geometric.loader", extra="pyg").DataLoader
    net.eval()
    return torch.cat([net(batch) for batch in loader(data, 256)]).double()
