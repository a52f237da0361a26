"""From a graph with features, labels and masks to a trained network, in one call."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from .._fingerprint import fingerprint
from .._progress import Progress, silent
from .._validation import check_integer, check_named
from ..errors import InputTypeError, InvalidInputError
from ..graphs import adjacency, similarity_graph, symmetric_part
from ._basis import WaveletBasis
from ._labels import check_classes, check_features
from ._net import WaveletNet
from ._operators import hop_operator, wavelet_basis
from ._plans import NodePlan, are_words, plan_for
from ._settings import NetSettings
from ._sparse import SparseOperator
from ._split import Split
from ._storage import SavedNet, read_net, write_net
from ._train import NodeOutcome, train_nodes
from ._training import NodeTraining

__all__ = ["FittedNodes", "fit_nodes"]

_MASKS = ("train_mask", "val_mask", "test_mask")


def fit_nodes(
    data: Any,
    model: str = "auto",
    split: int = 0,
    training: NodeTraining | None = None,
    seed: int = 0,
    cache: Any = None,
    symmetrize: bool = False,
    progress: Progress = silent,
    **settings: Any,
) -> FittedNodes:
    """Train a network on the nodes of a graph of your own.

    Parameters
    ----------
    data : Data of PyTorch Geometric
        With ``x``, ``y``, ``edge_index``, and ``train_mask``, ``val_mask``, ``test_mask``: one mask
        each, or one column for every split. Test nodes are looked at once, after the training.
    model : {"auto", "wavemmf", "layers", "paper"}
        A preset of `WaveletNet`, with the basis and the training that belong to it, as they suit
        the features. "auto" takes "wavemmf" if these are words, and otherwise "layers".
    split : int
        Which column of the masks.
    training : NodeTraining, optional
        Another training than that of the preset. With two classes the epoch is chosen by
        the ROC AUC, unless it says otherwise.
    seed : int
        Of the weights and of dropout; torch's own random numbers are left as they are.
    cache : bool or folder, optional
        Where the factorization is kept; see `wavelet_basis`.
    symmetrize : bool
        Take a directed graph as undirected; otherwise it is an error.
    progress : callable
        Called as ``progress(done, total, note)`` after every epoch.
    **settings
        Fields of `NetSettings` to change.

    Returns
    -------
    FittedNodes

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> n = 40
    >>> here, next_one = torch.arange(n), (torch.arange(n) + 1) % n
    >>> ring = torch.stack([torch.cat([here, next_one]), torch.cat([next_one, here])])
    >>> part = torch.arange(n) % 4
    >>> data = Data(
    ...     x=torch.randn(n, 3), edge_index=ring, y=(here >= n // 2).long(),
    ...     train_mask=part < 2, val_mask=part == 2, test_mask=part == 3,
    ... )
    >>> fitted = fit_nodes(data, training=NodeTraining(epochs=3), layers=2)
    >>> fitted.predict().shape, sorted(fitted.metrics)[:2]
    (torch.Size([40]), ['best_epoch', 'epochs'])
    """
    x, y = check_features(_given(data, "x")), check_classes(_given(data, "y"))
    nodes = _split(data, split, len(y))
    plan = _changed(plan_for(x, model), settings)
    chosen = training or _for_classes(plan.training, y)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(check_integer("seed", seed, 0))
        classes = int(y.max()) + 1
        net = WaveletNet(x.shape[1], classes, num_wavelets=len(y), **plan.net.to_json())
        parts = _operators(_undirected(data, symmetrize), x, plan, cache)
        fitted = FittedNodes(SavedNet(net, *parts), _scaling(x), _digest(data), {})
        fitted.remember(data)
        outcome = train_nodes(net, fitted.scores, y, nodes, chosen, progress)
    fitted.metrics = _told(outcome)
    return fitted.eval()


class FittedNodes(torch.nn.Module):
    """A trained network with its basis: what `fit_nodes` returns.

    It moves with ``.to(device)`` as a whole.

    Attributes
    ----------
    net : WaveletNet
        The network.
    basis : WaveletBasis
        The basis it works in.
    metrics : dict
        Accuracies (and areas under the ROC curve, with two classes) on validation and test nodes,
        the epoch that was chosen, and seconds of processor time.
    """

    net: WaveletNet
    basis: WaveletBasis
    scaling: torch.Tensor

    def __init__(
        self, parts: SavedNet, scaling: torch.Tensor, graph: str, metrics: dict[str, float]
    ) -> None:
        super().__init__()
        self.net, self.basis, self.hop, self.similar = parts
        self.register_buffer("scaling", scaling)
        self.graph, self.metrics = graph, metrics
        self._features: torch.Tensor | SparseOperator | None = None

    def scores(self, data: Any = None) -> torch.Tensor:
        """Return the class scores of all nodes.

        Parameters
        ----------
        data : Data, optional
            The graph it was trained on, perhaps with other features. By default what it was
            trained on, which a file does not hold.

        Raises
        ------
        InvalidInputError
            If the graph is another one: a basis belongs to its graph. `on` moves the network
            there.
        """
        if data is not None:
            self._check(data)
            return self._run(self._prepared(data))
        if self._features is None:
            raise InvalidInputError("a network that was loaded needs data: scores(data)")
        return self._run(self._features)

    def predict(self, data: Any = None) -> torch.Tensor:
        """Return the class of every node; `data` as for `scores`."""
        with torch.no_grad():
            return self.eval().scores(data).argmax(dim=1)

    def on(self, data: Any, cache: Any = None, symmetrize: bool = False) -> FittedNodes:
        """Return the same network on another graph: with a new basis and new hops.

        That is possible if its filters are functions of the frequency (``filter="spectral"``).
        """
        s = self.net.settings
        if s.filter == "free":
            raise InvalidInputError(
                "a free filter has a number for every wavelet of the graph it was trained on; "
                "train with filter='spectral' to go to others"
            )
        x = check_features(_given(data, "x"))
        plan = plan_for(x, "layers" if s.layered else "wavemmf" if s.decoupled else "paper")
        taken = NodePlan(s, plan.training, plan.basis)
        parts = _operators(_undirected(data, symmetrize), x, taken, cache)
        moved = FittedNodes(SavedNet(self.net, *parts), self.scaling, _digest(data), self.metrics)
        moved.remember(data)
        return moved.to(self.scaling.device)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network, its basis and its hops to one file; `load` reads it."""
        header = {"graph": self.graph, "metrics": self.metrics, "scaling": self.scaling.tolist()}
        write_net(path, SavedNet(self.net, self.basis, self.hop, self.similar), header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FittedNodes:
        """Read what `save` wrote."""
        header, parts = read_net(path)
        if "graph" not in header:
            raise InvalidInputError(f"{path} holds a network of save_net: load_net reads it")
        scaling = torch.tensor(header["scaling"], dtype=torch.float32)
        return cls(parts, scaling, header["graph"], header["metrics"]).eval()

    def remember(self, data: Any) -> None:
        """Keep the features of `data` for `scores` and `predict` without an argument."""
        self._features = self._prepared(data)

    def _prepared(self, data: Any) -> torch.Tensor | SparseOperator:
        x = check_features(_given(data, "x"))
        if x.shape[1] != self.net.channels[0]:
            raise InvalidInputError(
                f"the network takes {self.net.channels[0]} features, got {x.shape[1]}"
            )
        shift, scale = self.scaling.cpu()
        x = (x - shift) / scale
        if are_words(x) and self.net.settings.gains != "pair":
            return SparseOperator(sp.csr_array(x.numpy()))
        return x

    def _run(self, x: torch.Tensor | SparseOperator) -> torch.Tensor:
        scores: torch.Tensor = self.net(
            x.to(self.scaling.device), self.basis, self.hop, self.similar
        )
        return scores

    def _check(self, data: Any) -> None:
        if _digest(data) != self.graph:
            n = len(_given(data, "x"))
            raise InvalidInputError(
                f"this network was trained on another graph, of {self.basis.n} nodes, and its "
                f"basis belongs to that; this one has {n} nodes: fitted.on(data) moves the network "
                "to it, fit_nodes(data) trains a new one"
            )


def _given(data: Any, name: str) -> Any:
    value = getattr(data, name, None)
    if value is None:
        raise InputTypeError(f"data must have {name}, got a {type(data).__name__} without it")
    return value


def _split(data: Any, split: int, n: int) -> Split:
    found = []
    for name in _MASKS:
        mask = torch.as_tensor(_given(data, name))
        columns = mask[:, None] if mask.ndim == 1 else mask
        if columns.dtype != torch.bool or columns.ndim != 2 or len(columns) != n:
            raise InvalidInputError(
                f"{name} must be a mask of {n} nodes, or a column of masks per split, got "
                f"{mask.dtype} of shape {tuple(mask.shape)}"
            )
        if not 0 <= split < columns.shape[1]:
            raise InvalidInputError(f"{name} has {columns.shape[1]} splits, there is no {split}")
        found.append(np.flatnonzero(columns[:, split].cpu().numpy()))
    train, validation, test = found
    return Split(train, validation, test, f"split {split} of the data")


def _changed(plan: NodePlan, settings: dict[str, Any]) -> NodePlan:
    for name in sorted(settings):
        check_named("setting", name, [field.name for field in fields(NetSettings)])
    return replace(plan, net=replace(plan.net, **settings))


def _for_classes(training: NodeTraining, y: torch.Tensor) -> NodeTraining:
    return replace(training, metric="roc_auc") if int(y.max()) == 1 else training


def _undirected(data: Any, symmetrize: bool) -> Any:
    return symmetric_part(data) if symmetrize else data


def _operators(
    graph: Any, x: torch.Tensor, plan: NodePlan, cache: Any
) -> tuple[WaveletBasis, SparseOperator, SparseOperator | None]:
    basis = wavelet_basis(graph, cache=cache, **plan.basis)
    alike = None
    if plan.net.decoupled and plan.net.similar_hops:
        alike = hop_operator(similarity_graph(x.numpy(), plan.net.neighbors))
    return basis, hop_operator(graph), alike


def _scaling(x: torch.Tensor) -> torch.Tensor:
    """Return shift and scale of every column; words are taken as they are."""
    if are_words(x):
        return torch.stack([torch.zeros(x.shape[1]), torch.ones(x.shape[1])])
    spread = x.std(dim=0, correction=0)
    return torch.stack([x.mean(dim=0), torch.where(spread > 0.0, spread, torch.ones(()))])


def _digest(data: Any) -> str:
    return fingerprint("graph of a network", adjacency=adjacency(symmetric_part(data)))


def _told(outcome: NodeOutcome) -> dict[str, float]:
    return {name: value for name, value in outcome.to_json().items() if value != -1.0}
