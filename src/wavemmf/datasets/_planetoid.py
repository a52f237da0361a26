"""The citation graphs of Planetoid with their public splits: Cora, CiteSeer, PubMed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph, graph_from_edges
from .._validation import check_choice
from ..errors import FileFormatError
from ..io._text import read_integers
from ._folder import data_file
from ._pickled import read_pickled

__all__ = ["PLANETOID", "Planetoid", "planetoid"]

PLANETOID = ("Cora", "CiteSeer", "PubMed")
# The public split validates on the nodes that follow those for training.
_VALIDATION = 500

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Planetoid:
    """A citation graph with features and labels, and the public split.

    Attributes
    ----------
    graph : Graph
        Undirected and unweighted, with features and labels.
    train, validation, test : int arrays
        The nodes of the public split.
    """

    graph: Graph
    train: Integers
    validation: Integers
    test: Integers


def planetoid(name: str) -> Planetoid:
    """Read ``Planetoid/<name>/raw/ind.*`` from the data folder.

    The files are pickled, but nothing in them is run: see `wavemmf.datasets._pickled`.

    Parameters
    ----------
    name : {"Cora", "CiteSeer", "PubMed"}

    Returns
    -------
    Planetoid
        The nodes are in the order of PyTorch Geometric. Nodes of CiteSeer that are in no file
        have no features, and the first label.

    Raises
    ------
    InvalidInputError
        If the files are not there.
    FileFormatError
        If they are not the known ones (see `wavemmf.datasets.data_file`), or contradict
        each other.

    References
    ----------
    Z. Yang, W. Cohen, R. Salakhutdinov, Revisiting semi-supervised learning with graph embeddings,
    ICML 2016.
    """
    stem = f"Planetoid/{check_choice('name', name, PLANETOID)}/raw/ind.{name.lower()}"
    allx, tx = _matrix(f"{stem}.allx"), _matrix(f"{stem}.tx")
    ally, ty = _indicators(f"{stem}.ally"), _indicators(f"{stem}.ty")
    training = len(_indicators(f"{stem}.y"))
    test = _test_nodes(f"{stem}.test.index")
    first, last = _edges(f"{stem}.graph", int(test.max()) + 1)
    _check(name, allx, tx, ally, ty, test, training)
    n = int(test.max()) + 1
    place = np.concatenate([np.arange(allx.shape[0]), test])
    labels = np.zeros(n, np.int64)
    labels[place] = np.concatenate([ally, ty]).argmax(axis=1)
    given = sp.coo_array(sp.vstack([allx, tx]))
    rows, columns = given.coords
    features = sp.csr_array((given.data, (place[rows], columns)), shape=(n, allx.shape[1]))
    graph = graph_from_edges(
        n, first, last, name=f"planetoid-{name.lower()}", features=features, labels=labels
    )
    middle = training + _VALIDATION
    return Planetoid(graph, np.arange(training), np.arange(training, middle), np.sort(test))


def _matrix(name: str) -> sp.csr_array:
    """Read features, in the single precision in which everybody uses them."""
    path = data_file(name)
    found = read_pickled(path)
    if not sp.issparse(found):
        raise FileFormatError(f"{path} must hold a sparse matrix")
    return sp.csr_array(found, dtype=np.float32)


def _indicators(name: str) -> NDArray[Any]:
    path = data_file(name)
    found = read_pickled(path)
    if not isinstance(found, np.ndarray) or found.ndim != 2 or not found.size:
        raise FileFormatError(f"{path} must hold an array with one row for each node")
    return found


def _test_nodes(name: str) -> Integers:
    path = data_file(name)
    found = read_integers(path)
    if not found.size or found.min() < 0 or np.unique(found).size < found.size:
        raise FileFormatError(f"{path} must list different nodes")
    return found


def _edges(name: str, n: int) -> tuple[Integers, Integers]:
    """Return every edge once, whichever of its directions are listed, without loops."""
    path = data_file(name)
    neighbors = read_pickled(path)
    wrong = FileFormatError(f"{path} must list, for each of {n} nodes, its neighbours")
    if not isinstance(neighbors, dict) or len(neighbors) != n:
        raise wrong
    try:
        lengths = [len(each) for each in neighbors.values()]
        tails = np.repeat(np.array([*neighbors], dtype=np.int64), lengths)
        heads = np.array([node for each in neighbors.values() for node in each], dtype=np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong from error
    ends = np.concatenate([tails, heads])
    if ends.size and not 0 <= ends.min() <= ends.max() < n:
        raise wrong
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    first, last = np.divmod(np.unique(low * n + high), n)
    return first[first < last], last[first < last]


def _check(
    name: str, allx: Any, tx: Any, ally: Any, ty: Any, test: Integers, training: int
) -> None:
    known = allx.shape[0]
    fits = (
        len(ally) == known
        and tx.shape[0] == len(ty) == test.size
        and allx.shape[1] == tx.shape[1]
        and ally.shape[1] == ty.shape[1]
        and test.min() == known
        and training + _VALIDATION <= known
    )
    if not fits:
        raise FileFormatError(f"the files of Planetoid's {name} contradict each other")
