"""Networks and kernels for graphs by name, each with its settings, ready for a fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..._progress import Progress, silent
from ..._validation import check_choice
from ...errors import InvalidInputError
from ...nn import GraphWaveletNet
from ...parallel.torch_threads import one_thread
from ._folds import Fold
from ._kernel import DEPTHS, PENALTIES, subtree_kernels, train_kernel
from ._packed import PackedGraphs
from ._problem import GraphProblem
from ._recipes import GraphRecipe, recipe_for
from ._train import train_graphs
from ._trial import Trial, committee

__all__ = ["GRAPH_MODELS", "GraphModel", "make_graph_model"]

_BASELINES = ("gin", "gcn", "dgcnn", "counts")
_HIDDEN = 32
_KERNEL = "wl"
_MEMBER = 1_000_000  # between the seeds of members, more than there are folds
# "filterless": gains of one, so the orthonormal transform cancels and every node is alone, as in
# the network that came with the paper. "hops": our network without wavelets.
_WAVELET: dict[str, tuple[str, dict[str, Any]]] = {
    "wavelet": ("wavemmf", {}),
    "wavelet-paper": ("paper", {}),
    "filterless": ("wavemmf", {"filter": "ones", "hop": False}),
    "hops": ("wavemmf", {"filter": "ones"}),
}

#: Names of models: recipes and ablations of the wavelet network, then those to compare with.
GRAPH_MODELS = (*_WAVELET, *_BASELINES, _KERNEL)


@dataclass(frozen=True)
class GraphModel:
    """A model on a data set, without weights.

    Parameters
    ----------
    name : str
        One of `GRAPH_MODELS`.
    recipe : GraphRecipe or None
        Settings of a network; None for the kernel.
    """

    name: str
    recipe: GraphRecipe | None

    @property
    def facts(self) -> dict[str, Any]:
        """Settings as plain values."""
        if self.recipe is None:
            return {"depths": list(DEPTHS), "penalties": list(PENALTIES)}
        facts: dict[str, Any] = {"training": self.recipe.training.to_json()}
        if self.name in _BASELINES:
            return {"hidden": _HIDDEN, **facts}
        return {**self.recipe.net.to_json(), **facts, "basis": self.basis}

    @property
    def basis(self) -> dict[str, Any] | None:
        """How the bases are computed; None if the model needs none."""
        if self.recipe is None or self.name in _BASELINES:
            return None
        net = self.recipe.net
        needed = net.filter != "ones" or {"band", "level"} & set(net.pooling)
        return self.recipe.basis if needed else None

    def make_net(self, problem: GraphProblem) -> torch.nn.Module:
        """Return the network, its weights drawn from torch's random numbers."""
        channels = problem.num_features, problem.num_classes
        if self.recipe is None:
            raise InvalidInputError("a kernel has no network")
        if self.name not in _BASELINES:
            return GraphWaveletNet(*channels, **self.recipe.net.to_json())
        from ._baselines import make_baseline

        return make_baseline(self.name, channels[0], _HIDDEN, channels[1])

    @property
    def members(self) -> int:
        """How many networks there are, each with a hold-out of its own."""
        return 1 if self.recipe is None else self.recipe.training.members

    def bases(self) -> list[dict[str, Any] | None]:
        """Return how the bases of every member are computed: each numbers the nodes otherwise."""
        if self.basis is None:
            return [None] * self.members
        return [{**self.basis, "numbering": member} for member in range(self.members)]

    def prepare(self, problem: GraphProblem) -> list[Any]:
        """Return what is the same for all folds, by members: kernels, or graphs with bases."""
        if self.recipe is None:
            return [subtree_kernels(problem)]
        if self.basis is None:
            return [PackedGraphs(problem.data())] * self.members
        return [PackedGraphs(problem.data(basis)) for basis in self.bases()]

    def run(
        self,
        problem: GraphProblem,
        prepared: list[Any],
        folds: Sequence[Fold],
        seed: int,
        progress: Progress = silent,
    ) -> Trial:
        """Train all members on one fold.

        Parameters
        ----------
        problem : GraphProblem
            The data set.
        prepared : list
            What `prepare` returned.
        folds : sequence of Fold
            The same test graphs for all members, but a hold-out for each.
        seed : int
            Decides weights, dropout and the order of the graphs.
        progress : callable
            Called as ``progress(done, total, note)`` after every epoch.
        """
        if self.recipe is None:
            return train_kernel(problem, folds[0], prepared[0])
        each = self.recipe.training.epochs
        trials = []
        for member, (data, fold) in enumerate(zip(prepared, folds, strict=True)):

            def epochs(done: int, _: int, note: str, before: int = each * member) -> None:
                progress(before + done, each * self.members, note)

            trials.append(self._train(problem, data, fold, seed + _MEMBER * member, epochs))
        return committee(trials)

    def _train(
        self, problem: GraphProblem, data: Any, fold: Fold, seed: int, progress: Progress = silent
    ) -> Trial:
        if self.recipe is None:
            raise InvalidInputError("a kernel has no network")
        # One thread: sums are the same everywhere, and batches too small to share.
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = self.make_net(problem)
            return train_graphs(net, data, fold, self.recipe.training, seed, progress)


def make_graph_model(
    name: str, dataset: str = "", epochs: int | None = None, members: int | None = None
) -> GraphModel:
    """Return a model by name, with the settings for a data set.

    Parameters
    ----------
    name : str
        One of `GRAPH_MODELS`.
    dataset : str
        Name of the data set: step counts differ between a hundred graphs and thousands.
    epochs : int, optional
        Another number of epochs than the model's own.
    members : int, optional
        Another number of networks than the model's own; the kernel has none.

    Examples
    --------
    >>> make_graph_model("wavelet-paper").facts["layers"]
    6
    """
    check_choice("model", name, GRAPH_MODELS)
    if name == _KERNEL:
        return GraphModel(name, None)
    which, changes = _WAVELET.get(name, ("wavemmf", {}))
    recipe = recipe_for(which, dataset)
    if "filter" in changes:
        # Without wavelets: none in the pooling either.
        plain = [kind for kind in recipe.net.pooling if kind not in ("band", "level")]
        changes = {**changes, "pooling": plain or ["sum"]}
    recipe = replace(recipe, net=replace(recipe.net, **changes))
    given = {"epochs": epochs, "members": members}
    training: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    return GraphModel(name, replace(recipe, training=replace(recipe.training, **training)))
