"""Road, mesh and social networks read from the data folder."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._graph import Graph
from ..errors import FileFormatError, InvalidInputError
from ..io._edgelist import read_edge_list
from ..io._text import read_text
from ._folder import data_file, data_folder, find_data_file
from ._matlab import read_matlab
from ._tu import LARGEST_INTEGER

__all__ = ["minnesota", "snap", "snap_names"]

SNAP_NAMES = (
    "4elt BlogCatalog3 PGPgiantcompo amsterdam-roads ca-CondMat ca-GrQc ca-HepTh cnr-2000 "
    "dblp-2010 deezer ego-Facebook email-Enron lastfm luxembourg_osm moscow-roads "
    "musae-facebook musae-github power wiki-Vote wing"
)


def minnesota() -> Graph:
    """Return the road network of Minnesota, unweighted, at (longitude, latitude).

    Returns
    -------
    Graph
        2642 junctions, 3303 roads, in two connected components.

    References
    ----------
    D. Gleich, the MatlabBGL library; also in the SuiteSparse Matrix Collection.
    """
    path = data_file("minnesota/minnesota.mat")
    content = read_matlab(path)
    adjacency, coordinates = content.get("A"), content.get("xy")
    if not isinstance(adjacency, sp.csr_array) or not isinstance(coordinates, np.ndarray):
        raise FileFormatError(f"{path} must hold a sparse matrix A and coordinates xy")
    adjacency.data[:] = 1.0  # A few roads are listed twice, with weight 2.
    return Graph(adjacency, coordinates=coordinates, name="minnesota")


def snap(name: str) -> Graph:
    """Return the graph in ``snap/<name>.edges`` of the data folder, plain or gzipped.

    Parameters
    ----------
    name : str
        One of `snap_names`, or any other file that you put into the folder ``snap``.

    Returns
    -------
    Graph
        With coordinates if there is a file ``<name>.xy``, with labels if ``<name>.labels``;
        each has one line per vertex. A comment ``# ... nodes N`` at the head of the edge list
        gives the number of vertices, if some of the last ones are isolated.
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise InvalidInputError(f"not the name of a SNAP graph: {name!r}")
    path = data_file(f"snap/{name}.edges")
    announced = re.match(r"#[^\n]*\bnodes (\d{1,12})\b", _first_line(path))
    graph = read_edge_list(path, num_nodes=int(announced[1]) if announced else None)
    return Graph(
        graph.adjacency,
        name=name,
        coordinates=_read_table(f"snap/{name}.xy"),
        labels=_read_labels(f"snap/{name}.labels"),
        node_names=graph.node_names,
    )


def snap_names() -> list[str]:
    """Return the SNAP graphs known by name, with those found in the data folder."""
    found = (data_folder() / "snap").glob("*.edges*")
    return sorted({*SNAP_NAMES.split(), *(path.name.partition(".edges")[0] for path in found)})


def _first_line(path: Path) -> str:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as stream:
        return stream.readline(1000).decode("utf-8", errors="replace")


def _read_table(name: str) -> NDArray[np.float64] | None:
    # Optional companions of a graph: nothing is downloaded for them.
    path = find_data_file(name)
    if path is None:
        return None
    lines = read_text(path).splitlines()
    if not any(map(str.strip, lines)):
        raise FileFormatError(f"{path} is empty")
    try:
        return np.loadtxt(lines)
    except ValueError as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from error


def _read_labels(name: str) -> NDArray[np.int64] | None:
    values = _read_table(name)
    if values is None:
        return None
    if not (np.abs(values) < LARGEST_INTEGER).all() or (values != np.rint(values)).any():
        raise FileFormatError(f"{name} must have one integer per line")
    return values.astype(np.int64)
