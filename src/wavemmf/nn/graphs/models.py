"""Networks and kernels for graphs by name, each with its settings, ready for a fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from ..._progress import Report, silent
from ...errors import InvalidInputError
from ...rl.threads import one_thread
from ...validation import check_choice, check_integer
from .folds import Fold
from .kernel import DEPTHS, PENALTIES, subtree_kernels, train_kernel
from .net import GraphWaveletNet
from .problem import GraphProblem
from .settings import GraphPreset, preset_for
from .train import train_graphs
from .trial import Trial

__all__ = ["GRAPH_MODELS", "GraphModel", "make_graph_model"]

_BASELINES = ("gin", "gcn", "dgcnn", "counts")
_HIDDEN = 32
_KERNEL = "wl"
# "filterless": gains of one, so the orthonormal transform cancels and every node is alone, as in
# the network that came with the paper. "hops": the preset without wavelets.
_WAVELET: dict[str, tuple[str, dict[str, Any]]] = {
    "wavelet": ("best", {}),
    "wavelet-paper": ("paper", {}),
    "filterless": ("best", {"filter": "ones", "hop": False}),
    "hops": ("best", {"filter": "ones"}),
}

#: Names of models: presets and ablations of the wavelet network, then those to compare with.
GRAPH_MODELS = (*_WAVELET, *_BASELINES, _KERNEL)


@dataclass(frozen=True)
class GraphModel:
    """A model on a data set, without weights.

    Parameters
    ----------
    name : str
        One of `GRAPH_MODELS`.
    preset : GraphPreset or None
        Settings of a network; None for the kernel.
    """

    name: str
    preset: GraphPreset | None

    @property
    def facts(self) -> dict[str, Any]:
        """Settings as plain values."""
        if self.preset is None:
            return {"depths": list(DEPTHS), "penalties": list(PENALTIES)}
        facts: dict[str, Any] = {"training": self.preset.training.to_json()}
        if self.name in _BASELINES:
            return {"hidden": _HIDDEN, **facts}
        return {**self.preset.net.to_json(), **facts, "basis": self.basis}

    @property
    def basis(self) -> dict[str, Any] | None:
        """How the bases are computed; None if the model needs none."""
        if self.preset is None or self.name in _BASELINES:
            return None
        net = self.preset.net
        needed = net.filter != "ones" or {"band", "level"} & set(net.pooling)
        return self.preset.basis if needed else None

    def make_net(self, problem: GraphProblem) -> torch.nn.Module:
        """Return the network, its weights drawn from torch's random numbers."""
        channels = problem.num_features, problem.num_classes
        if self.preset is None:
            raise InvalidInputError("a kernel has no network")
        if self.name not in _BASELINES:
            return GraphWaveletNet(*channels, **self.preset.net.to_json())
        from .baselines import make_baseline

        return make_baseline(self.name, channels[0], _HIDDEN, channels[1])

    def prepare(self, problem: GraphProblem) -> Any:
        """Return what is the same for all folds: kernels, or graphs with their bases."""
        return subtree_kernels(problem) if self.preset is None else problem.data(self.basis)

    def run(
        self,
        problem: GraphProblem,
        prepared: Any,
        fold: Fold,
        seed: int,
        report: Report = silent,
    ) -> Trial:
        """Train on one fold; the seed decides weights, dropout and the order of the graphs."""
        if self.preset is None:
            return train_kernel(problem, fold, prepared)
        # One thread: sums are the same everywhere, and batches too small to share.
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = self.make_net(problem)
            return train_graphs(net, prepared, fold, self.preset.training, seed, report)


def make_graph_model(name: str, dataset: str = "", epochs: int | None = None) -> GraphModel:
    """Return a model by name, with the settings for a data set.

    Parameters
    ----------
    name : str
        One of `GRAPH_MODELS`.
    dataset : str
        Name of the data set: step counts differ between a hundred graphs and thousands.
    epochs : int, optional
        Another number of epochs than the model's own.

    Examples
    --------
    >>> make_graph_model("wavelet-paper").facts["layers"]
    6
    """
    check_choice("model", name, GRAPH_MODELS)
    if name == _KERNEL:
        return GraphModel(name, None)
    which, changes = _WAVELET.get(name, ("best", {}))
    preset = preset_for(which, dataset)
    preset = replace(preset, net=replace(preset.net, **changes))
    if epochs is not None:
        epochs = check_integer("epochs", epochs, 1)
        preset = replace(preset, training=replace(preset.training, epochs=epochs))
    return GraphModel(name, preset)
