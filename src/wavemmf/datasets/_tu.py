"""Data sets of many graphs in the text format of the TU Dortmund collection."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from ..errors import FileFormatError, InvalidInputError
from ..io._text import is_plain_number_text, read_text
from ._folder import data_file, find_data_file

__all__ = ["LARGEST_INTEGER", "GraphDataset", "integer_table", "read_graphs", "tu_dataset"]

#: Larger integers are not kept exactly by the tables, which are of floating-point numbers.
LARGEST_INTEGER = 2**53

_NEEDED = ("graph_indicator", "A", "graph_labels")
_OPTIONAL = ("node_labels", "node_attributes")


@dataclass(frozen=True)
class GraphDataset:
    """Many graphs, each with a class.

    Attributes
    ----------
    name : str
        What it is called.
    graphs : list of Graph
        With node labels as ``labels`` and node attributes as ``features`` where there are any.
    labels : int array
        The class of every graph, as the files have it.
    """

    name: str
    graphs: list[Graph]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return f"GraphDataset({self.name!r}, {len(self)} graphs)"


def tu_dataset(name: str) -> GraphDataset:
    """Read ``TUDataset/<name>/raw/<name>_*.txt`` from the data folder.

    Parameters
    ----------
    name : str
        For example ``"NCI1"`` or ``"PROTEINS"``.

    Returns
    -------
    GraphDataset

    Raises
    ------
    InvalidInputError
        If the files are not there.
    FileFormatError
        If they are not the known ones (see `wavemmf.datasets.data_file`), or contradict
        each other.

    References
    ----------
    C. Morris et al., TUDataset: a collection of benchmark datasets for learning with graphs, 2020.
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise InvalidInputError(f"not the name of a TU data set: {name!r}")
    stem = f"TUDataset/{name}/raw/{name}"
    needed = [data_file(f"{stem}_{part}.txt") for part in _NEEDED]
    return _read(name, needed, [find_data_file(f"{stem}_{part}.txt") for part in _OPTIONAL])


def read_graphs(folder: str | os.PathLike[str]) -> GraphDataset:
    """Read graphs of your own, in the text format of the TU collection.

    Parameters
    ----------
    folder : path
        Holds ``<name>_A.txt``, ``<name>_graph_indicator.txt`` and ``<name>_graph_labels.txt``, and
        perhaps ``<name>_node_labels.txt`` and ``<name>_node_attributes.txt``; or has a folder
        ``raw`` that does.

    Returns
    -------
    GraphDataset

    Raises
    ------
    InvalidInputError
        If the files are not there.
    FileFormatError
        If they contradict each other.
    """
    place = Path(folder)
    found = [*place.glob("*_graph_indicator.txt"), *place.glob("raw/*_graph_indicator.txt")]
    if len(found) != 1:
        raise InvalidInputError(
            f"{folder} must have one file NAME_graph_indicator.txt, in it or in its folder raw; "
            f"it has {len(found)}"
        )
    name = found[0].name.removesuffix("_graph_indicator.txt")
    needed, optional = (
        [found[0].with_name(f"{name}_{part}.txt") for part in parts]
        for parts in (_NEEDED, _OPTIONAL)
    )
    missing = [path.name for path in needed if not path.is_file()]
    if missing:
        raise InvalidInputError(f"{found[0].parent} has no {', '.join(missing)}")
    return _read(name, needed, [path if path.is_file() else None for path in optional])


def _read(name: str, needed: Sequence[Path], optional: Sequence[Path | None]) -> GraphDataset:
    owner, edges, classes = (
        integer_table(path, columns) for path, columns in zip(needed, (1, 2, 1), strict=True)
    )
    owner, classes = owner[:, 0], classes[:, 0]
    labels, attributes = (_optional_table(path, owner.size) for path in optional)
    _check(name, owner, edges, classes)
    if labels is not None and (labels[:, 0] != np.rint(labels[:, 0])).any():
        raise FileFormatError(f"{name}_node_labels.txt must have integers")
    bounds = np.searchsorted(owner, np.arange(1, classes.size + 2))
    adjacency = _adjacency(edges - 1, owner.size)
    graphs: list[Graph] = []
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        nodes = slice(first, last)
        graphs.append(
            Graph(
                adjacency[nodes, nodes],
                name=f"{name}[{len(graphs)}]",
                labels=None if labels is None else labels[nodes, 0].astype(np.int64),
                features=None if attributes is None else sp.csr_array(attributes[nodes]),
            )
        )
    return GraphDataset(name, graphs, classes)


def _adjacency(edges: NDArray[np.int64], n: int) -> sp.csr_array:
    """Every edge once, whichever of its directions are listed, and however often."""
    both = np.concatenate([edges, edges[:, ::-1]])
    values = np.ones(len(both))
    adjacency = sp.csr_array(sp.coo_array((values, (both[:, 0], both[:, 1])), shape=(n, n)))
    adjacency.data[:] = 1.0
    return adjacency


def _check(
    name: str, owner: NDArray[np.int64], edges: NDArray[np.int64], classes: NDArray[np.int64]
) -> None:
    if owner.size == 0 or owner[0] != 1 or not np.isin(np.diff(owner), (0, 1)).all():
        raise FileFormatError(f"{name}_graph_indicator.txt must count 1, 1, ..., 2, 2, ... upwards")
    if owner[-1] != classes.size:
        raise FileFormatError(f"{name} has {owner[-1]} graphs but {classes.size} graph labels")
    if edges.size and not 1 <= edges.min() <= edges.max() <= owner.size:
        raise FileFormatError(f"{name}_A.txt names nodes outside 1..{owner.size}")
    if (owner[edges[:, 0] - 1] != owner[edges[:, 1] - 1]).any():
        raise FileFormatError(f"{name}_A.txt has edges between different graphs")


def integer_table(path: Path, columns: int) -> NDArray[np.int64]:
    """Read a file of integers separated by commas, so many per line.

    Raises
    ------
    FileFormatError
        If it holds anything else.
    """
    table = _table(path)
    whole = (table == np.rint(table)) & (np.abs(table) < LARGEST_INTEGER)
    if table.shape[1] != columns or not whole.all():
        raise FileFormatError(f"{path} must have {columns} integers per line")
    return table.astype(np.int64)


def _optional_table(path: Path | None, rows: int) -> NDArray[np.float64] | None:
    if path is None:
        return None
    table = _table(path)
    if len(table) != rows:
        raise FileFormatError(f"{path} has {len(table)} lines for {rows} nodes")
    return table


def _table(path: Path) -> NDArray[np.float64]:
    """Read numbers separated by commas, the same number in every line."""
    lines = read_text(path).strip().splitlines()
    columns = lines[0].count(",") + 1 if lines else 1
    text = ",".join(lines)
    if not is_plain_number_text(text):
        bad = next(i for i, line in enumerate(lines, 1) if not is_plain_number_text(line))
        raise FileFormatError(f"{path}, line {bad}: {lines[bad - 1]!r} are not numbers")
    try:
        values = np.array(text.split(","), dtype=np.float64).reshape(len(lines), columns)
    except ValueError as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from error
    if not np.isfinite(values).all():
        bad = int(np.argwhere(~np.isfinite(values))[0, 0]) + 1
        raise FileFormatError(f"{path}, line {bad}: {lines[bad - 1]!r} are not finite numbers")
    return values
