"""Data sets for graph classification, ready for networks and kernels."""

from __future__ import annotations

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
from ..._many import factorize_many
from ..._optional import require
from ..._progress import Progress, silent
from ..._validation import check_choice
from ...datasets import data_file, find_data_file, tu_dataset
from ...datasets._tu import integer_table
from ...errors import FileFormatError, InvalidInputError
from ...graphs import Graph
from ._bases import compute_bases
from ._duplicates import isomorphism_classes

__all__ = ["GRAPH_DATASETS", "GraphProblem", "graph_data", "load_graph_problem"]

#: Data sets by name. "PTC" has explicit hydrogens, as in the paper; "PTC_MR" has none.
GRAPH_DATASETS = ("MUTAG", "PTC", "PTC_MR", "PROTEINS", "NCI1", "NCI109", "ENZYMES", "DD")


@dataclass(frozen=True, eq=False, repr=False)
class GraphProblem:
    """Many graphs with a class each.

    The features of a node are its label, one column for every label of the data set, and its
    attributes if asked for. Nodes without either have one feature, which is 1.

    Parameters
    ----------
    name : str
        What to call it in reports.
    graphs : sequence of Graph
        With node labels as ``labels`` and node attributes as ``features``.
    classes : int array of shape (graphs,)
        The class of every graph; any integers.
    attributes : bool
        Whether node attributes, scaled to unit variance over the data set, are features too.
    cache : bool or folder, optional
        Where factorizations are kept; see `wavemmf.factorize_many`.
    edge_counts : sequence of arrays, optional
        For every graph a table with one row per node: how many edges of each label it has. They
        are features too.

    Examples
    --------
    >>> import wavemmf as wm
    >>> GraphProblem("two", [wm.graphs.cycle(4), wm.graphs.path(5)], [1, 2])
    GraphProblem('two', graphs=2, features=1, classes=2)
    """

    name: str
    graphs: Sequence[Graph]
    classes: npt.ArrayLike
    attributes: bool = False
    cache: Any = None
    edge_counts: Sequence[npt.NDArray[np.float32]] | None = None
    _bases: dict[str, list[dict[str, Any]]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.graphs:
            raise InvalidInputError("a problem has at least one graph, got none")
        classes = np.asarray(self.classes)
        if classes.shape != (len(self.graphs),) or classes.dtype.kind not in "iu":
            raise InvalidInputError(
                f"classes must be one integer for each of {len(self.graphs)} graphs, got shape "
                f"{classes.shape}, {classes.dtype}"
            )
        for what in ("labels", "features"):
            has = [getattr(graph, what) is not None for graph in self.graphs]
            if any(has) and not all(has):
                raise InvalidInputError(
                    f"graph {has.index(False)} has no node {what}, others have: all or none must"
                )
        if self.attributes and self.graphs[0].features is None:
            raise InvalidInputError(f"the nodes of {self.name} have no attributes")
        if self.attributes:
            self._check_tables("attributes", [graph.features for graph in self.graphs])
        if self.edge_counts is not None:
            self._check_tables("edge_counts", self.edge_counts)

    def _check_tables(self, what: str, tables: Sequence[Any]) -> None:
        """Refuse tables of nodes that do not fit their graphs, or each other, or are not finite."""
        if len(tables) != len(self.graphs):
            raise InvalidInputError(
                f"{what} must have a table for each of {len(self.graphs)} graphs, got {len(tables)}"
            )
        columns = tables[0].shape[-1]
        for number, (graph, table) in enumerate(zip(self.graphs, tables, strict=True)):
            if table.shape != (graph.n, columns):
                raise InvalidInputError(
                    f"{what} of graph {number} must have shape {(graph.n, columns)}, as its nodes "
                    f"and the tables before have it, got {table.shape}"
                )
            values = table.data if sp.issparse(table) else np.asarray(table)
            if not np.isfinite(values).all():
                raise InvalidInputError(f"{what} of graph {number} must be finite")

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return (
            f"GraphProblem({self.name!r}, graphs={len(self)}, features={self.num_features}, "
            f"classes={self.num_classes})"
        )

    @cached_property
    def y(self) -> npt.NDArray[np.int64]:
        """Classes numbered from 0."""
        return np.unique(np.asarray(self.classes), return_inverse=True)[1].astype(np.int64)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    @property
    def num_features(self) -> int:
        """Number of features of a node."""
        return int(self.features[0].shape[1])

    @cached_property
    def node_labels(self) -> list[npt.NDArray[np.int64]]:
        """Labels of the nodes of every graph, numbered from 0; all 0 if there are none."""
        if self.graphs[0].labels is None:
            return [np.zeros(graph.n, np.int64) for graph in self.graphs]
        joined = np.concatenate([graph.labels for graph in self.graphs])  # type: ignore[misc]
        numbered = np.unique(joined, return_inverse=True)[1].astype(np.int64)
        return np.split(numbered, np.cumsum([graph.n for graph in self.graphs])[:-1])

    @cached_property
    def features(self) -> list[npt.NDArray[np.float32]]:
        """Features of the nodes of every graph."""
        count = 1 + max(int(labels.max(initial=0)) for labels in self.node_labels)
        parts = [np.eye(count, dtype=np.float32)[labels] for labels in self.node_labels]
        if self.attributes:
            parts = [np.hstack(both) for both in zip(parts, self._attributes(), strict=True)]
        if self.edge_counts is not None:
            parts = [np.hstack(both) for both in zip(parts, self.edge_counts, strict=True)]
        return parts

    def _attributes(self) -> list[npt.NDArray[np.float32]]:
        tables = [graph.features.toarray() for graph in self.graphs]  # type: ignore[union-attr]
        joined = np.concatenate(tables)
        mean, scale = joined.mean(axis=0), joined.std(axis=0)
        scale[scale == 0.0] = 1.0
        return [((table - mean) / scale).astype(np.float32) for table in tables]

    def fingerprint_parts(self) -> dict[str, Any]:
        """Return what the outcome of a training depends on, beside the model and the fold."""
        return {
            "adjacencies": [graph.adjacency for graph in self.graphs],
            "node_labels": self.node_labels,
            "features": self.features,
            "y": self.y,
        }

    @cached_property
    def isomorphism_classes(self) -> npt.NDArray[np.int64]:
        """A number for every graph, the same for isomorphic ones; node labels kept."""
        return isomorphism_classes(self.graphs, self.node_labels)

    def bases(self, progress: Progress = silent, **settings: Any) -> list[dict[str, Any]]:
        """Return the basis of every graph as arrays, by the settings of `compute_bases`."""
        key = fingerprint("bases", settings=decisive(settings))
        if key not in self._bases:
            self._bases[key] = compute_bases(self.graphs, self.cache, progress, **settings)
        return self._bases[key]

    def basis_statistics(self, **settings: Any) -> dict[str, float]:
        """Return means over all graphs: share of non-zeros of the basis, error of factorizations.

        Examples
        --------
        >>> import wavemmf as wm
        >>> problem = GraphProblem("one", [wm.graphs.path(4)], [0])
        >>> problem.basis_statistics(core=4, k=2)
        {'nonzeros': 0.25, 'relative_error': 0.0}
        """
        plan = {name: value for name, value in settings.items() if name != "threshold"}
        made = factorize_many(self.graphs, cache=self.cache, **plan)
        return {
            "nonzeros": float(np.mean([f.basis_nonzeros / f.n**2 for f in made])),
            "relative_error": float(np.mean([f.relative_error() for f in made])),
        }

    def data(self, basis: dict[str, Any] | None = None) -> list[Any]:
        """Return every graph as a ``Data`` of PyTorch Geometric.

        Parameters
        ----------
        basis : dict, optional
            Settings of `compute_bases`, for graphs that carry their wavelet basis.
        """
        bases = [{}] * len(self) if basis is None else self.bases(**basis)
        rows = zip(self.graphs, self.features, self.y.tolist(), bases, strict=True)
        return [graph_data(*row) for row in rows]


def graph_data(
    graph: Graph, x: npt.NDArray[np.float32], label: int, basis: dict[str, Any] | None = None
) -> Any:
    """Return a graph as a ``Data`` of PyTorch Geometric, with its basis if there is one.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph_data(wm.graphs.path(3), np.ones((3, 1), np.float32), 0)
    Data(x=[3, 1], edge_index=[2, 4], y=[1])
    """
    data = require("torch_geometric.data", extra="pyg").Data
    edges = np.stack(graph.adjacency.tocoo().coords).astype(np.int64)
    tensors = {key: torch.from_numpy(array) for key, array in (basis or {}).items()}
    features, target = torch.from_numpy(x), torch.tensor([label])
    return data(x=features, edge_index=torch.from_numpy(edges), y=target, **tensors)


def load_graph_problem(
    name: str, attributes: bool = False, edge_labels: bool = False, cache: Any = None
) -> GraphProblem:
    """Return a data set of the TU collection by name.

    Parameters
    ----------
    name : str
        One of `GRAPH_DATASETS`, read from the data folder (see `wavemmf.datasets.tu_dataset`).
    attributes : bool
        Whether node attributes are features too (PROTEINS, ENZYMES).
    edge_labels : bool
        Whether the numbers of edges of each label at a node are features too (MUTAG, PTC_MR).
    cache : bool or folder, optional
        Where factorizations are kept; see `wavemmf.factorize_many`.

    Returns
    -------
    GraphProblem
    """
    check_choice("dataset", name, GRAPH_DATASETS)
    read = tu_dataset(name)
    counts = edge_label_counts(name, [graph.n for graph in read.graphs]) if edge_labels else None
    return GraphProblem(name, read.graphs, read.labels, attributes, cache, counts)


def edge_label_counts(name: str, sizes: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    """Return how many edges of each label every node has, graph by graph.

    Parameters
    ----------
    name : str
        A data set of the TU collection with a file of edge labels.
    sizes : sequence of int
        Numbers of nodes of its graphs.
    """
    stem = f"TUDataset/{name}/raw/{name}"
    labelled = find_data_file(f"{stem}_edge_labels.txt")
    if labelled is None:
        raise InvalidInputError(f"{name} has no edge labels")
    pairs = integer_table(data_file(f"{stem}_A.txt"), 2)
    labels = integer_table(labelled, 1)[:, 0]
    if pairs.size and not 1 <= pairs.min() <= pairs.max() <= sum(sizes):
        raise FileFormatError(f"{name}_A.txt names nodes outside 1..{sum(sizes)}")
    if len(pairs) != len(labels):
        raise FileFormatError(f"{name} has {len(pairs)} edges but {len(labels)} edge labels")
    numbered = np.unique(labels, return_inverse=True)[1]
    counts = np.zeros((sum(sizes), int(numbered.max(initial=0)) + 1), np.float32)
    # Both directions of an edge are listed, so every node meets its edges as the first of a pair.
    np.add.at(counts, (pairs[:, 0] - 1, numbered), 1.0)
    return np.split(counts, np.cumsum(sizes)[:-1])
