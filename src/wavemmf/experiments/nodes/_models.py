"""Networks by name, each with its training settings, ready to run on a problem."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..._validation import check_choice
from ...nn import NetSettings, NodeTraining, WaveletBasis, WaveletNet
from ...nn._plans import NodePlan, suited
from ._problem import NodeProblem
from ._recipes import NODE_RECIPES

__all__ = ["NODE_BASELINES", "NODE_MODELS", "NodeModel", "make_node_model"]

_LAYERED = ("mlp", "gcn", "chebnet", "appnp", "gprgnn", "gcnii")
_HIDDEN = 64
_DROPOUT = 0.5
# What differs, chosen by validation accuracy like our network (docs/node_classification.md).
_CHOSEN = {
    "gprgnn": (0.8, NodeTraining(filter_rate=0.1)),
    "gcnii": (0.2, NodeTraining()),
}
#: Names of networks to compare with.
NODE_BASELINES = (*_LAYERED, "gwnn", "spectral-cnn")
#: Names of networks: the recipes of wavelet networks, then those to compare with.
NODE_MODELS = (*NODE_RECIPES, *NODE_BASELINES)


@dataclass(frozen=True, eq=False)
class NodeModel:
    """A network on a problem.

    Parameters
    ----------
    net : Module
        The network, with its basis if that is learned too.
    scores : callable
        Returns its scores of all nodes.
    training : NodeTraining
        How it is trained.
    facts : dict
        Plain values that describe it: settings, number of parameters, the basis.
    """

    net: torch.nn.Module
    scores: Callable[[], torch.Tensor]
    training: NodeTraining
    facts: dict[str, Any]


def make_node_model(name: str, problem: NodeProblem, epochs: int | None = None) -> NodeModel:
    """Make a network for a problem, with weights drawn from torch's random numbers.

    Parameters
    ----------
    name : str
        One of `NODE_MODELS`.
    problem : NodeProblem
        The data.
    epochs : int, optional
        Another number of epochs than the network's own.

    Returns
    -------
    NodeModel

    Examples
    --------
    >>> from wavemmf.experiments.nodes import load_node_problem
    >>> make_node_model("wavelet", load_node_problem("karate")).scores().shape
    torch.Size([34, 2])
    """
    check_choice("model", name, NODE_MODELS)
    if name in _LAYERED:
        candidate = _baseline(name, problem)
    elif name in NODE_RECIPES:
        candidate = _wavelet(NODE_RECIPES[name], problem)
    elif name == "gwnn":
        candidate = _gwnn(problem)
    else:
        candidate = _wavelet(_spectral_cnn(problem.graph.n), problem)
    if epochs is None:
        return candidate
    return replace(candidate, training=replace(candidate.training, epochs=epochs))


def _baseline(name: str, problem: NodeProblem) -> NodeModel:
    from ._baselines import Baseline

    rate, training = _CHOSEN.get(name, (_DROPOUT, NodeTraining()))
    net = Baseline(name, problem.num_features, _HIDDEN, problem.num_classes, rate)
    x = problem.features
    facts = {"hidden": _HIDDEN, "dropout": net.rate, "parameters": _count(net)}
    return NodeModel(net, lambda: net(x, problem.edge_index), training, facts)


def _wavelet(recipe: NodePlan, problem: NodeProblem) -> NodeModel:
    recipe = suited(recipe, problem.x)
    basis = None if recipe.net.filter == "none" else _basis_for(recipe, problem)
    net = WaveletNet(
        problem.num_features,
        problem.num_classes,
        num_wavelets=problem.graph.n,
        **recipe.net.to_json(),
    )
    # Gains per pair of channels multiply dense features.
    x = problem.x if recipe.net.gains == "pair" else problem.features
    trained: torch.nn.Module = net
    if basis is not None and basis.learn:
        trained = torch.nn.ModuleList([net, basis])
    facts = {**recipe.net.to_json(), "parameters": _count(trained)}
    if basis is not None:
        facts["basis"] = {
            **recipe.basis,
            "method": basis.method,
            "nnz_share": basis.nnz_share,
            "discarded": basis.discarded.item(),
        }
    similar = problem.similar(recipe.net.neighbors) if recipe.net.similar_hops else None
    return NodeModel(trained, lambda: net(x, basis, problem.hops, similar), recipe.training, facts)


def _basis_for(recipe: NodePlan, problem: NodeProblem) -> WaveletBasis:
    basis = problem.basis(**recipe.basis)
    # The problem keeps its bases: one that is learned must not change for the next network.
    return copy.deepcopy(basis) if basis.learn else basis


def _gwnn(problem: NodeProblem) -> NodeModel:
    """Return two layers of free gains on heat-kernel wavelets."""
    wavelets = problem.heat_wavelets
    settings = _spectral_cnn(problem.graph.n).net.to_json()
    net = WaveletNet(
        problem.num_features, problem.num_classes, num_wavelets=problem.graph.n, **settings
    )
    facts = {
        **settings,
        "parameters": _count(net),
        "basis": {"scale": 1.0, "threshold": 1e-4, "nnz_share": wavelets.nnz_share},
    }
    return NodeModel(net, lambda: net(problem.features, wavelets), NodeTraining(), facts)


def _spectral_cnn(n: int) -> NodePlan:
    """Return two layers of free gains on the eigenbasis, which is that of a core of everything."""
    net = NetSettings(decoupled=False, filter="free", response="ones", hidden=_HIDDEN)
    return NodePlan(net, NodeTraining(), {"core": n, "matrix": "normalized_laplacian"})


def _count(net: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())
