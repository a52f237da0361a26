"""Measure how much a network's answers depend on the order in which nodes are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ._bases import compute_bases
from ._numbering import random_orders, relabelled
from ._packed import PackedGraphs
from ._problem import GraphProblem, graph_data
from ._train import probabilities

__all__ = ["equivariance"]


@torch.no_grad()
def equivariance(
    nets: torch.nn.Module | Sequence[torch.nn.Module],
    problem: GraphProblem,
    basis: dict[str, Any],
    indices: Sequence[int] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Compare the answers for graphs with those of the same graphs, nodes renumbered at random.

    Every renumbered graph is factorized anew, so that ties between wavelets are broken otherwise.

    Parameters
    ----------
    nets : Module or sequence of Modules
        A network, or a committee whose probabilities are averaged and whose members each number
        the nodes otherwise. They are put into evaluation mode.
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
        ``difference``: norm of the change of the probabilities relative to that of the centred
        probabilities; ``agreement``: share of graphs with the same class as before;
        ``accuracy`` and ``accuracy_permuted``.

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
    pairs = []
    for member, net in enumerate([nets] if isinstance(nets, torch.nn.Module) else nets):
        settings = {**basis, "numbering": member}
        arrays = compute_bases(turned, **settings)
        renumbered = [
            graph_data(graph, problem.features[i][order], int(problem.y[i]), array)
            for i, graph, order, array in zip(chosen, turned, orders, arrays, strict=True)
        ]
        pairs.append(
            (
                _probabilities(net, problem.data(settings), chosen),
                _probabilities(net, renumbered, range(len(chosen))),
            )
        )
    before, after = (torch.stack(each).mean(dim=0) for each in zip(*pairs, strict=True))
    wanted = torch.from_numpy(problem.y[chosen])
    spread = (before - before.mean(dim=0)).norm().clamp(min=1e-12)
    return {
        "difference": ((after - before).norm() / spread).item(),
        "agreement": (after.argmax(1) == before.argmax(1)).double().mean().item(),
        "accuracy": (before.argmax(1) == wanted).double().mean().item(),
        "accuracy_permuted": (after.argmax(1) == wanted).double().mean().item(),
    }


def _probabilities(
    net: torch.nn.Module, data: Sequence[Any], indices: Sequence[int]
) -> torch.Tensor:
    graphs = PackedGraphs([data[i] for i in indices])
    return torch.from_numpy(probabilities(net, [graphs.batch(range(len(indices)))]))
