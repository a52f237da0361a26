"""A graph with features, classes and splits of its nodes, in files of your own."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from ..errors import FileFormatError, InvalidInputError

__all__ = ["NodeData", "read_nodes"]

Integers = NDArray[np.int64]

_ARRAYS = ("node_features", "node_labels", "edges")
_MASKS = ("train_masks", "val_masks", "test_masks")
# What the column "split" may say of a node.
_PARTS = {"train": 0, "val": 1, "validation": 1, "test": 2}


@dataclass(frozen=True)
class NodeData:
    """A graph whose nodes have features and classes, and splits that came with it.

    Attributes
    ----------
    graph : Graph
        With ``features`` and ``labels``.
    splits : sequence of triples of int arrays
        Training, validation and test nodes of every split; there may be none.
    """

    graph: Graph
    splits: Sequence[tuple[Integers, Integers, Integers]]


def read_nodes(path: str | os.PathLike[str]) -> NodeData:
    r"""Read nodes from a file ``.npz`` or from a folder of tables.

    Parameters
    ----------
    path : path
        A NumPy archive in the layout of the heterophilous-graphs benchmark (Platonov et al. 2023):
        ``node_features`` (n, features), ``node_labels`` (n,), ``edges`` (m, 2), each once or in
        both directions, and perhaps ``train_masks``, ``val_masks``, ``test_masks`` (splits, n).
        Or a folder with ``nodes.csv`` (a column ``label``, perhaps ``id`` and ``split``: train, val
        or test; all others are features) and ``edges.csv`` (columns ``source`` and ``target``:
        ids, or rows of ``nodes.csv`` counted from 0).

    Returns
    -------
    NodeData

    Raises
    ------
    InvalidInputError
        If there is nothing at the path.
    FileFormatError
        If it holds something else; the message says what and where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "nodes.csv").write_text("id,height,label\na,1,low\nb,5,high\n")
    ...     _ = (folder / "edges.csv").write_text("source,target\na,b\n")
    ...     read_nodes(folder).graph.class_names
    ('high', 'low')
    """
    place = Path(path)
    if place.is_dir():
        return _from_tables(place)
    if not place.is_file():
        raise InvalidInputError(f"there is no file or folder {place}")
    return _from_archive(place)


def _from_archive(path: Path) -> NodeData:
    try:
        with np.load(path, allow_pickle=False) as archive:
            held = {name: archive[name] for name in archive.files if name in (*_ARRAYS, *_MASKS)}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise FileFormatError(f"{path} is not an archive of arrays: {error}") from error
    except Exception as error:  # zipfile and zlib have errors of their own
        raise FileFormatError(f"{path} is damaged: {error}") from error
    missing = [name for name in _ARRAYS if name not in held]
    if missing:
        raise FileFormatError(f"{path} has no {', '.join(missing)}; it needs {', '.join(_ARRAYS)}")
    features, labels, edges = (held[name] for name in _ARRAYS)
    if features.ndim != 2 or features.dtype.kind not in "fiub":
        raise FileFormatError(f"{path}: node_features must be a table of numbers")
    if labels.shape != (len(features),) or labels.dtype.kind not in "iu":
        raise FileFormatError(f"{path}: node_labels must be one integer for each of the nodes")
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise FileFormatError(f"{path}: edges must be pairs of integers")
    graph = _graph(path, edges.astype(np.int64), features, labels.astype(np.int64), None)
    return NodeData(graph, _splits_of_masks(path, held, len(features)))


def _splits_of_masks(path: Path, held: dict[str, Any], n: int) -> Any:
    if not any(name in held for name in _MASKS):
        return ()
    masks = []
    for name in _MASKS:
        mask = np.atleast_2d(held.get(name, np.zeros(0)))
        if mask.dtype != bool or mask.ndim != 2 or mask.shape[1] != n:
            raise FileFormatError(f"{path}: {name} must be truth values of shape (splits, {n})")
        masks.append(mask)
    if len({len(mask) for mask in masks}) > 1:
        raise FileFormatError(f"{path}: {', '.join(_MASKS)} must have equally many splits")
    return tuple(tuple(map(np.flatnonzero, parts)) for parts in zip(*masks, strict=True))


def _from_tables(folder: Path) -> NodeData:
    nodes, edges = _table(folder / "nodes.csv"), _table(folder / "edges.csv")
    wanted = {"nodes.csv": (nodes, ["label"]), "edges.csv": (edges, ["source", "target"])}
    for file, (table, columns) in wanted.items():
        for name in columns:
            if name not in table:
                raise FileFormatError(f"{folder / file} has no column {name!r}")
    n = len(nodes["label"])
    names = nodes.get("id", [str(row) for row in range(n)])
    numbers = {name: row for row, name in enumerate(names)}
    if len(numbers) < n:
        raise FileFormatError(f"{folder / 'nodes.csv'} has two nodes of the same id")
    ends = [[_number(folder, numbers, end) for end in edges[side]] for side in ("source", "target")]
    told = [name for name in nodes if name not in ("id", "label", "split")]
    features = np.array([_floats(folder, name, nodes[name]) for name in told]).reshape(-1, n).T
    meaning, labels = _classes(nodes["label"])
    pairs = np.array(ends, dtype=np.int64).reshape(2, -1).T
    graph = _graph(folder, pairs, features, labels, meaning, names if "id" in nodes else None)
    return NodeData(graph, _splits_of_words(folder, nodes.get("split")))


def _table(path: Path) -> dict[str, list[str]]:
    """Return the columns of a table by their names."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"cannot read {path}: {error}") from error
    if len(rows) < 2:
        raise FileFormatError(f"{path} needs a line of names, and lines below it")
    heads = [head.strip() for head in rows[0]]
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            raise FileFormatError(f"{path} has {len(row)} fields in row {line}, not {len(heads)}")
    if len(set(heads)) < len(heads):
        raise FileFormatError(f"{path} has two columns of the same name")
    return {head: [row[i].strip() for row in rows[1:]] for i, head in enumerate(heads)}


def _number(folder: Path, numbers: dict[str, int], end: str) -> int:
    if end not in numbers:
        raise FileFormatError(f"{folder / 'edges.csv'} names the node {end!r}, which is not there")
    return numbers[end]


def _floats(folder: Path, name: str, column: list[str]) -> list[float]:
    try:
        return [float(entry) for entry in column]
    except ValueError as error:
        raise FileFormatError(
            f"{folder / 'nodes.csv'}: the feature {name!r} is not a number everywhere: {error}"
        ) from error


def _classes(column: list[str]) -> tuple[tuple[str, ...] | None, Integers]:
    """Return labels as they are if they are integers, otherwise their names and numbers."""
    try:
        return None, np.array([int(entry) for entry in column], dtype=np.int64)
    except ValueError:
        meaning, labels = np.unique(np.array(column), return_inverse=True)
        return tuple(map(str, meaning)), labels.astype(np.int64)


def _splits_of_words(folder: Path, column: list[str] | None) -> Any:
    if column is None:
        return ()
    wrong = next((word for word in column if word not in ("", *_PARTS)), None)
    if wrong is not None:
        raise FileFormatError(
            f"{folder / 'nodes.csv'}: split must be {', '.join(_PARTS)} or empty, got {wrong!r}"
        )
    parts = np.array([_PARTS.get(word, -1) for word in column])
    return (tuple(np.flatnonzero(parts == part) for part in range(3)),)


def _graph(
    path: Path,
    edges: Integers,
    features: Any,
    labels: Integers,
    meaning: tuple[str, ...] | None,
    names: list[str] | None = None,
) -> Graph:
    n = len(labels)
    if edges.size and not 0 <= edges.min() <= edges.max() < n:
        raise FileFormatError(f"{path}: edges name nodes outside 0..{n - 1}")
    both = np.concatenate([edges, edges[:, ::-1]])
    adjacency = sp.csr_array(sp.coo_array((np.ones(len(both)), both.T), shape=(n, n)))
    adjacency.data[:] = 1.0  # listed once, twice or in both directions: one edge
    return Graph(
        adjacency,
        name=path.stem,
        features=sp.csr_array(np.asarray(features, dtype=np.float64)),
        labels=labels,
        class_names=meaning,
        node_names=names,
    )
