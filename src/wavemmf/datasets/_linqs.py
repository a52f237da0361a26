"""The citation and hyperlink graphs of the LINQS group: Cora, CiteSeer, WebKB."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .._graph import Graph, graph_from_edges
from .._validation import check_choice
from ..errors import FileFormatError
from ..io._text import read_text
from ._folder import data_file

__all__ = ["linqs"]

_FOLDERS = {"cora": "cora", "citeseer": "citeseer", "webkb": "WebKB"}


def linqs(name: str) -> Graph:
    """Return a LINQS data set with its vertices in the order of the ``.content`` file.

    Parameters
    ----------
    name : {"cora", "citeseer", "webkb"}

    Returns
    -------
    Graph
        Undirected and unweighted: a citation in either direction, once or repeatedly, is one
        edge. Papers that cite nothing stay as isolated vertices. Features are binary word
        indicators, labels index the sorted class names. The metadata counts the ``.cites``
        lines (``citations``), and among them those dropped because they name a paper that is
        not in ``.content`` (``unknown``) or cite the paper itself (``self_citations``).

    References
    ----------
    P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad, Collective
    classification in network data, AI Magazine 29(3), 2008.
    """
    stem = _FOLDERS[check_choice("name", name, _FOLDERS)]
    content = data_file(f"LINQS/{stem}/{stem}.content")
    cites = data_file(f"LINQS/{stem}/{stem}.cites")
    papers, features, classes = _read_content(content)
    tails, heads, metadata = _read_cites(cites, {paper: i for i, paper in enumerate(papers)})
    class_names, labels = np.unique(classes, return_inverse=True)
    return graph_from_edges(
        len(papers),
        tails,
        heads,
        name=name,
        features=features,
        labels=labels,
        node_names=papers,
        class_names=class_names.tolist(),
        metadata=metadata,
    )


def _read_content(path: Path) -> tuple[list[str], sp.csr_array, list[str]]:
    papers: list[str] = []
    classes: list[str] = []
    columns: list[list[int]] = []
    width: int | None = None
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        paper, words, label = fields[0], fields[1:-1], fields[-1]
        width = len(words) if width is None else width
        if len(fields) < 3 or len(words) != width or not set(words) <= {"0", "1"}:
            raise FileFormatError(
                f"{path}, line {number}: expected an id, {width} features that are 0 or 1, a class"
            )
        papers.append(paper)
        classes.append(label)
        columns.append([column for column, word in enumerate(words) if word == "1"])
    if not papers:
        raise FileFormatError(f"{path} holds no papers")
    if len(set(papers)) < len(papers):
        raise FileFormatError(f"{path} lists a paper more than once")
    pointers = np.cumsum([0, *map(len, columns)])
    indices = np.fromiter(chain.from_iterable(columns), dtype=np.int64, count=pointers[-1])
    shape = (len(papers), width or 0)
    return papers, sp.csr_array((np.ones(len(indices)), indices, pointers), shape=shape), classes


def _read_cites(
    path: Path, numbering: dict[str, int]
) -> tuple[list[int], list[int], dict[str, int]]:
    counts = {"citations": 0, "unknown": 0, "self_citations": 0}
    edges: set[tuple[int, int]] = set()
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        ends = line.split()
        if not ends:
            continue
        if len(ends) != 2:
            raise FileFormatError(f"{path}, line {number}: expected two papers, got {len(ends)}")
        counts["citations"] += 1
        if ends[0] not in numbering or ends[1] not in numbering:
            counts["unknown"] += 1
        elif ends[0] == ends[1]:
            counts["self_citations"] += 1
        else:
            low, high = sorted(numbering[end] for end in ends)
            edges.add((low, high))
    ordered = sorted(edges)
    return [low for low, _ in ordered], [high for _, high in ordered], counts
