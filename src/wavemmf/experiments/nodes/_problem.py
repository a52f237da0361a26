"""Data sets for node classification, ready for networks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ..._cache import decisive
from ..._fingerprint import fingerprint
from ..._validation import check_choice
from ...datasets import linqs, planetoid, read_nodes
from ...errors import InvalidInputError
from ...graphs import Graph, karate, similarity_graph
from ...nn import SparseOperator, WaveletBasis, hop_operator, wavelet_basis
from ...nn._labels import check_classes, check_features, standardized
from ...nn._plans import are_words
from ...nn._split import Split
from ...nn._training import METRICS
from ._heat import HeatWavelets
from ._splits import PUBLIC, make_split

__all__ = ["NODE_DATASETS", "NodeProblem", "load_node_problem", "read_node_problem"]

_LINQS = ("cora", "citeseer", "webkb")
_PLANETOID = {
    "planetoid-cora": "Cora",
    "planetoid-citeseer": "CiteSeer",
    "planetoid-pubmed": "PubMed",
}

# Sparse products are worth it below this share of non-zero features.
_SPARSE_SHARE = 0.1

#: Data sets by name: those of LINQS as in the paper, those of Planetoid, and the karate club.
NODE_DATASETS = (*_LINQS, *_PLANETOID, "karate")


@dataclass(frozen=True, eq=False, repr=False)
class NodeProblem:
    """A graph, features and labels of its nodes, and the operators that networks ask for.

    Operators are computed when they are first asked for and kept.

    Parameters
    ----------
    name : str
        What to call it in reports.
    graph : Graph
        The graph, undirected.
    x : tensor of shape (n, features)
        Features, finite; usually their rows add up to one. Networks take them as float32.
    y : integer tensor of shape (n,)
        Classes, counted from 0.
    splits : sequence of triples of int arrays
        Splits that came with the data: training, validation and test nodes. The split "public"
        takes them in turn.
    cache : bool or folder, optional
        Where factorizations are kept; see `wavemmf.nn.wavelet_basis`.
    metric : {"accuracy", "roc_auc"}
        What epochs are chosen by; the second for two classes.

    Raises
    ------
    InvalidInputError, InputTypeError
        If they do not fit, with the position of what is wrong.

    Examples
    --------
    >>> load_node_problem("karate")
    NodeProblem('karate', nodes=34, edges=78, features=34, classes=2)
    """

    name: str
    graph: Graph
    x: torch.Tensor
    y: torch.Tensor
    splits: Sequence[tuple[npt.NDArray[np.int64], ...]] = ()
    cache: Any = None
    metric: str = "accuracy"
    _bases: dict[str, WaveletBasis] = field(default_factory=dict, init=False)
    _similar: dict[int, SparseOperator] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        # Copies: what is made of them is kept, and must not change when the caller's tensors do.
        x, y = check_features(self.x).clone(), check_classes(self.y).clone()
        if not len(x) == len(y) == self.graph.n:
            raise InvalidInputError(
                f"x and y must have one row for each of {self.graph.n} nodes, got shapes "
                f"{tuple(x.shape)} and {tuple(y.shape)}"
            )
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        check_choice("metric", self.metric, METRICS)
        for seed in range(len(self.splits)):
            self.split(PUBLIC, seed)  # for its complaints

    def fingerprint_parts(self) -> dict[str, Any]:
        """Return what the outcome of a training depends on, beside the network and the split."""
        return {"adjacency": self.graph.adjacency, "x": self.x, "y": self.y}

    def split(self, name: str, seed: int) -> Split:
        """Return a split by name; see `make_split`. The public ones are taken in turn."""
        given = self.splits[seed % len(self.splits)] if self.splits else None
        return make_split(name, self.y.numpy(), seed, given)

    @property
    def num_features(self) -> int:
        """Number of features of a node."""
        return self.x.shape[1]

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    @cached_property
    def edge_index(self) -> torch.Tensor:
        """Both directions of every edge, shape (2, edges), as PyTorch Geometric has them."""
        entries = sp.coo_array(self.graph.adjacency)
        return torch.from_numpy(np.stack(entries.coords).astype(np.int64))

    @cached_property
    def features(self) -> torch.Tensor | SparseOperator:
        """The features `x`, as a sparse matrix if most of them are zero."""
        sparse = int((self.x != 0).sum()) < _SPARSE_SHARE * self.x.numel()
        return SparseOperator(sp.csr_array(self.x.numpy())) if sparse else self.x

    @cached_property
    def hops(self) -> SparseOperator:
        """One exact hop; see `wavemmf.nn.hop_operator`."""
        return hop_operator(self.graph)

    def similar(self, neighbors: int) -> SparseOperator:
        """Return one hop between nodes whose features are alike."""
        if neighbors not in self._similar:
            self._similar[neighbors] = hop_operator(similarity_graph(self.x.numpy(), neighbors))
        return self._similar[neighbors]

    @cached_property
    def heat_wavelets(self) -> HeatWavelets:
        """The heat-kernel wavelets of GWNN."""
        return HeatWavelets(self.graph)

    def basis(self, **settings: Any) -> WaveletBasis:
        """Return the wavelet basis; the settings are those of `wavemmf.nn.wavelet_basis`."""
        key = fingerprint("basis", settings=decisive(settings))
        if key not in self._bases:
            self._bases[key] = wavelet_basis(self.graph, cache=self.cache, **settings)
        return self._bases[key]

    def __repr__(self) -> str:
        return (
            f"NodeProblem({self.name!r}, nodes={self.graph.n}, edges={self.graph.num_edges}, "
            f"features={self.num_features}, classes={self.num_classes})"
        )


def load_node_problem(name: str, cache: Any = None) -> NodeProblem:
    """Return a data set by name.

    Parameters
    ----------
    name : str
        One of `NODE_DATASETS`. "cora" and "citeseer" are the LINQS files that the paper used (2708
        and 3312 papers); "planetoid-citeseer" has 3327 nodes. The karate club has no features: a
        node's feature is which node it is.
    cache : bool or folder, optional
        Where factorizations are kept; see `wavemmf.nn.wavelet_basis`.

    Returns
    -------
    NodeProblem
    """
    check_choice("dataset", name, NODE_DATASETS)
    if name in _PLANETOID:
        return _planetoid(name, cache)
    graph = linqs(name) if name in _LINQS else karate()
    features = sp.eye_array(graph.n) if graph.features is None else graph.features
    y = torch.from_numpy(np.array(graph.labels, dtype=np.int64))
    return NodeProblem(name, graph, _normalised(features), y, cache=cache)


def _normalised(features: Any) -> torch.Tensor:
    csr = sp.csr_array(features, dtype=np.float64)
    totals = np.maximum(np.asarray(abs(csr).sum(axis=1)).ravel(), 1e-12)
    scaled = sp.csr_array(sp.diags_array(1.0 / totals) @ csr)
    return torch.from_numpy(scaled.toarray().astype(np.float32))


def _planetoid(name: str, cache: Any) -> NodeProblem:
    data = planetoid(_PLANETOID[name])
    y = torch.from_numpy(np.array(data.graph.labels, dtype=np.int64))
    splits = ((data.train, data.validation, data.test),)
    return NodeProblem(name, data.graph, _normalised(data.graph.features), y, splits, cache)


def read_node_problem(path: str | os.PathLike[str], cache: Any = None) -> NodeProblem:
    """Return data of one's own; see `wavemmf.datasets.read_nodes`.

    Features are standardised, unless they are words: then rows add up to one. With two classes
    epochs are chosen by the ROC AUC.
    """
    data = read_nodes(path)
    table = sp.csr_array(data.graph.features)
    x = check_features(torch.from_numpy(table.toarray()))
    x = _normalised(table) if are_words(x) else standardized(x)
    y = torch.from_numpy(np.array(data.graph.labels, dtype=np.int64))
    metric = "roc_auc" if int(y.max()) == 1 else "accuracy"
    return NodeProblem(data.graph.name, data.graph, x, y, data.splits, cache, metric)
