"""Recognise and convert the matrices and graphs of other libraries, without importing them.

An object can only be a networkx graph if its caller has imported networkx already, so the
module that defined its class is enough to know what it is.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._optional import require
from ..errors import InputTypeError, InvalidInputError, UnusedAttributeWarning

__all__ = [
    "from_igraph",
    "from_pyg",
    "from_torch",
    "graph_of_networkx",
    "is_igraph",
    "is_networkx",
    "is_pandas",
    "is_pyg",
    "is_torch",
]


def is_networkx(obj: Any) -> bool:
    """Whether `obj` is a networkx graph of any kind."""
    return _defined_in(obj, "networkx") and hasattr(obj, "adj")


def is_igraph(obj: Any) -> bool:
    """Whether `obj` is a graph of python-igraph."""
    return _defined_in(obj, "igraph") and hasattr(obj, "get_edgelist")


def is_pandas(obj: Any) -> bool:
    """Whether `obj` is a Series or a DataFrame."""
    return _defined_in(obj, "pandas") and hasattr(obj, "index") and hasattr(obj, "to_numpy")


def is_pyg(obj: Any) -> bool:
    """Whether `obj` is a PyTorch Geometric ``Data`` (or ``HeteroData``, refused later)."""
    return _defined_in(obj, "torch_geometric") and hasattr(obj, "num_nodes")


def is_torch(obj: Any) -> bool:
    """Whether `obj` is a torch tensor, dense or sparse."""
    return _defined_in(obj, "torch") and hasattr(obj, "layout")


def graph_of_networkx(graph: Any, weighted: bool = True) -> sp.csr_array:
    """Return the adjacency matrix, rows in node order; 'weight' is the edge attribute used."""
    if weighted:
        _warn_of_unused(next((sorted(map(str, d)) for *_, d in graph.edges(data=True)), []))
    return networkx_adjacency(graph, "weight" if weighted else None)


def networkx_adjacency(graph: Any, weight: Any) -> sp.csr_array:
    """Return the adjacency matrix with the given edge attribute as weights, None for ones."""
    networkx = require("networkx", extra="graphs")
    if len(graph) == 0:
        raise InvalidInputError("the networkx graph has no vertices")
    try:
        matrix = networkx.to_scipy_sparse_array(graph, weight=weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"the edge attribute {weight!r} is not a number: {error}") from error
    return sp.csr_array(matrix)


def _warn_of_unused(attributes: list[str]) -> None:
    """Say that edges have attributes, none of which is the one that is used."""
    if attributes and "weight" not in attributes:
        listed = ", ".join(map(repr, attributes))
        warnings.warn(
            f"all edges count 1: of their attributes ({listed}) none is called 'weight'. To use "
            f"one: wavemmf.graphs.from_networkx(graph, weight={attributes[0]!r}); for ones "
            "without this warning: weight=None",
            UnusedAttributeWarning,
            stacklevel=5,
        )


def from_igraph(graph: Any, weighted: bool = True) -> sp.csr_array:
    """Return the adjacency matrix; weights are the edge attribute 'weight', repeated edges add up.

    As for networkx, a self-loop is one diagonal entry, and a directed graph gives an asymmetric
    matrix.
    """
    n = graph.vcount()
    if n == 0:
        raise InvalidInputError("the igraph graph has no vertices")
    tails, heads = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    values = np.ones(tails.size)
    if weighted and "weight" in graph.es.attributes():
        try:
            values = np.array(graph.es["weight"], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"the edge attribute 'weight' is not a number: {error}") from error
    if not graph.is_directed():
        apart = tails != heads
        tails, heads, values = (
            np.concatenate([tails, heads[apart]]),
            np.concatenate([heads, tails[apart]]),
            np.concatenate([values, values[apart]]),
        )
    return sp.csr_array(sp.coo_array((values, (tails, heads)), shape=(n, n)))


def from_pyg(data: Any, weighted: bool = True) -> sp.csr_array:
    """Return the adjacency matrix of ``edge_index``.

    Weights are ``edge_weight``, or else an ``edge_attr`` of one column (several columns
    describe the edges rather than weigh them). Repeated edges count once when unweighted;
    otherwise their weights are added, as PyTorch Geometric's own ``coalesce`` does.
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None or not is_torch(edge_index):
        raise InputTypeError(f"{type(data).__name__} has no edge_index; only Data is supported")
    tails, heads = edge_index.detach().cpu().numpy()
    n = int(data.num_nodes)
    if n == 0:
        raise InvalidInputError("the graph has no vertices")
    if tails.size and not 0 <= min(tails.min(), heads.min()) <= max(tails.max(), heads.max()) < n:
        raise InvalidInputError(f"edge_index names vertices outside 0..{n - 1} (num_nodes is {n})")
    weights = _pyg_weights(data) if weighted else None
    values = np.ones(len(tails)) if weights is None else weights
    matrix = sp.csr_array(sp.coo_array((values, (tails, heads)), shape=(n, n)))
    if weights is None:
        matrix.data[:] = 1.0
    return matrix


def from_torch(tensor: Any) -> NDArray[Any] | sp.csr_array:
    """Return a dense tensor as an array, a sparse one (COO, CSR, CSC, BSR, BSC) as CSR."""
    torch = require("torch", extra="torch")
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type; nothing is lost this way.
        tensor = tensor.to(torch.float32)
    if tensor.layout == torch.strided:
        return np.asarray(tensor.resolve_conj().resolve_neg().numpy())
    if tensor.ndim != 2:
        raise InvalidInputError(f"expected a matrix, got a tensor of shape {tuple(tensor.shape)}")
    tensor = tensor.to_sparse_coo().coalesce()
    if tensor.values().ndim != 1:
        raise InputTypeError("a sparse tensor with dense dimensions is not a matrix")
    indices, values = tensor.indices().numpy(), tensor.values().numpy()
    return sp.csr_array(sp.coo_array((values, tuple(indices)), shape=tuple(tensor.shape)))


def _pyg_weights(data: Any) -> NDArray[np.float64] | None:
    for attribute in ("edge_weight", "edge_attr"):
        weights = getattr(data, attribute, None)
        if weights is not None and is_torch(weights) and weights.numel() == data.num_edges:
            return np.asarray(weights.detach().cpu().double().numpy().ravel())
    return None


def _defined_in(obj: Any, package: str) -> bool:
    # Subclasses written elsewhere (a user's own Data, nn.Parameter) count as well.
    return any(cls.__module__.partition(".")[0] == package for cls in type(obj).__mro__)
