"""Networks by name, each with its training settings, ready to run on a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ...nn._net import WaveletNet
from ...nn._settings import PRESETS, NetSettings, Preset, TrainingSettings
from ...validation import check_choice
from ._problem import NodeProblem

__all__ = ["BASELINES", "MODELS", "Candidate", "make_candidate"]

_LAYERED = ("mlp", "gcn", "chebnet", "appnp", "gprgnn", "gcnii")
_HIDDEN = 64
_DROPOUT = 0.5
# What differs, chosen by validation accuracy like the preset "best" (docs/node_classification.md).
_CHOSEN = {
    "gprgnn": (0.8, TrainingSettings(filter_rate=0.1)),
    "gcnii": (0.2, TrainingSettings()),
}
# Entries of a thresholded basis up to this magnitude are left out.
_THRESHOLD = 3e-3


def _wavelet_presets() -> dict[str, Preset]:
    best = PRESETS["best"]
    thresholded = {**best.basis, "method": "sparse", "threshold": _THRESHOLD}
    return {
        "wavelet": best,
        "wavelet-paper": PRESETS["paper"],
        "wavelet-few-labels": PRESETS["few-labels"],
        "wavelet-sparse": replace(best, basis=thresholded),
        "wavelet-no-similar": replace(best, net=replace(best.net, similar_hops=0)),
        "hops-only": replace(best, net=replace(best.net, filter="none")),
    }


_WAVELET = _wavelet_presets()

#: Names of networks to compare with.
BASELINES = (*_LAYERED, "gwnn", "spectral-cnn")
#: Names of networks: the presets of `WaveletNet` ("wavelet" is "best"); "best" on a basis without
#: small entries, without hops between nodes that are alike, and without wavelets; then those to
#: compare with.
MODELS = (*_WAVELET, *BASELINES)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A network on a problem.

    Parameters
    ----------
    net : Module
        The network.
    scores : callable
        Returns its scores of all nodes.
    training : TrainingSettings
        How it is trained.
    facts : dict
        Plain values that describe it: settings, number of parameters, the basis.
    """

    net: torch.nn.Module
    scores: Callable[[], torch.Tensor]
    training: TrainingSettings
    facts: dict[str, Any]


def make_candidate(name: str, problem: NodeProblem, epochs: int | None = None) -> Candidate:
    """Make a network for a problem, with weights drawn from torch's random numbers.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    problem : NodeProblem
        The data.
    epochs : int, optional
        Another number of epochs than the network's own.

    Returns
    -------
    Candidate

    Examples
    --------
    >>> from wavemmf.nn import load_problem
    >>> make_candidate("wavelet", load_problem("karate")).scores().shape
    torch.Size([34, 2])
    """
    check_choice("model", name, MODELS)
    if name in _LAYERED:
        candidate = _baseline(name, problem)
    elif name in _WAVELET:
        candidate = _wavelet(_WAVELET[name], problem)
    elif name == "gwnn":
        candidate = _gwnn(problem)
    else:
        candidate = _wavelet(_spectral_cnn(problem.graph.n), problem)
    if epochs is None:
        return candidate
    return replace(candidate, training=replace(candidate.training, epochs=epochs))


def _baseline(name: str, problem: NodeProblem) -> Candidate:
    from ._baselines import Baseline

    rate, training = _CHOSEN.get(name, (_DROPOUT, TrainingSettings()))
    net = Baseline(name, problem.num_features, _HIDDEN, problem.num_classes, rate)
    x = problem.features
    facts = {"hidden": _HIDDEN, "dropout": net.rate, "parameters": _count(net)}
    return Candidate(net, lambda: net(x, problem.edge_index), training, facts)


def _wavelet(preset: Preset, problem: NodeProblem) -> Candidate:
    basis = None if preset.net.filter == "none" else problem.basis(**preset.basis)
    net = WaveletNet(
        problem.num_features,
        problem.num_classes,
        num_wavelets=problem.graph.n,
        **preset.net.to_json(),
    )
    x = problem.features
    facts = {**preset.net.to_json(), "parameters": _count(net)}
    if basis is not None:
        facts["basis"] = {
            **preset.basis,
            "method": basis.method,
            "nnz_share": basis.nnz_share,
            "discarded": basis.discarded.item(),
        }
    similar = problem.similar(preset.net.neighbors) if preset.net.similar_hops else None
    return Candidate(net, lambda: net(x, basis, problem.hops, similar), preset.training, facts)


def _gwnn(problem: NodeProblem) -> Candidate:
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
    # It has what convolutions ask of a basis, without being one: it is not orthogonal.
    basis: Any = wavelets
    return Candidate(net, lambda: net(problem.features, basis), TrainingSettings(), facts)


def _spectral_cnn(n: int) -> Preset:
    """Return two layers of free gains on the eigenbasis, which is that of a core of everything."""
    net = NetSettings(decoupled=False, filter="free", response="ones", hidden=_HIDDEN)
    return Preset(net, TrainingSettings(), {"core": n, "matrix": "normalized_laplacian"})


def _count(net: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())
