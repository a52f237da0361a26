"""Read a matrix or a graph from a file, by its suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from ..errors import InvalidInputError
from ._edgelist import read_edge_list
from ._matrixfiles import read_matrix_market, read_npy, read_npz

__all__ = ["SUFFIXES", "load_if_path", "read"]

_READERS: dict[str, Callable[..., NDArray[Any] | sp.csr_array | Graph]] = {
    ".mtx": read_matrix_market,
    ".mtx.gz": read_matrix_market,
    ".npz": read_npz,
    ".npy": read_npy,
}
for _suffix in (".txt", ".csv", ".tsv", ".edges", ".edgelist"):
    _READERS[_suffix] = read_edge_list
    _READERS[f"{_suffix}.gz"] = read_edge_list

#: The suffixes of files that `read` understands.
SUFFIXES = tuple(_READERS)


def read(
    path: str | os.PathLike[str], *, header: bool | None = None
) -> NDArray[Any] | sp.csr_array | Graph:
    r"""Read a matrix or a graph from a file.

    Parameters
    ----------
    path : str or Path
        What the file holds is told by its suffix:

        * ``.mtx``, ``.mtx.gz``: a matrix in Matrix Market format;
        * ``.npz``: a matrix saved by `scipy.sparse.save_npz`, or a single array;
        * ``.npy``: an array. Pickled objects are never loaded;
        * ``.txt``, ``.csv``, ``.tsv``, ``.edges``, ``.edgelist``, plain or with ``.gz``: an
          edge list, one edge per line, its fields separated by white space or commas, in
          tables (``.csv``, ``.tsv``) also by semicolons, tabs or bars.
    header : bool, optional
        Whether the first line of an edge list holds titles; by default they are recognised.

    Returns
    -------
    ndarray, csr_array or Graph
        Edge lists give a Graph, the others a matrix, not checked for symmetry yet.

    Raises
    ------
    InvalidInputError
        If there is no such file, or its suffix is unknown.
    FileFormatError
        If the content is malformed; for edge lists with the number of the line.
    TooLargeError
        If the content implies an absurdly large matrix. Nothing has been allocated then.

    Notes
    -----
    An edge list line is ``u v`` or ``u v weight``; names may be quoted, and then hold what
    separates fields. Lines that start with ``#`` or ``%`` are comments. Titles of columns are
    recognised if they are usual words (``source,target``), stand over integers or over weights,
    or differ as two ends do (``city_a,city_b``) and are on no other line. If the first edge
    names its ends by non-negative integers, all must, and they are used as they are, counted
    from 0: the graph has ``max + 1`` vertices. Otherwise ids are arbitrary strings,
    numbered in order of first appearance and kept as ``node_names``. The graph is undirected:
    ``u v`` and ``v u`` are the same edge, however often it is listed; listed weights must then
    agree.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "triangle.edges")
    ...     _ = path.write_text("# u v\n0 1\n1 2\n2 0\n")
    ...     read(path)
    Graph('triangle', n=3, num_edges=3)
    """
    file = Path(path)
    reader = _READERS.get(_suffix_of(file))
    if reader is None:
        valid = ", ".join(SUFFIXES)
        raise InvalidInputError(f"cannot tell what {file} holds; the suffix must be one of {valid}")
    if not file.is_file():
        problem = "is a directory" if file.is_dir() else "does not exist"
        raise InvalidInputError(f"cannot read {file}: it {problem}")
    try:
        if header is None:
            return reader(file)
        if reader is not read_edge_list:
            raise InvalidInputError(f"header={header!r} is for edge lists; {file} is none")
        return read_edge_list(file, header=bool(header))
    except PermissionError as error:
        raise InvalidInputError(f"cannot read {file}: permission denied") from error


def load_if_path(obj: Any) -> Any:
    """Read the file if `obj` is a path, else return `obj` itself."""
    return read(obj) if isinstance(obj, str | os.PathLike) else obj


def _suffix_of(path: Path) -> str:
    suffix = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if suffix == ".gz" else suffix
