"""Graphs: make them, take them by name, and their Laplacians.

What counts as a graph is said by `as_matrix`: objects of this room, of other libraries, and files.

>>> import wavemmf as wm
>>> wm.graphs.normalized_laplacian(wm.graphs.karate()).shape
(34, 34)
"""

from __future__ import annotations

from .._graph import Graph, graph_from_edges
from ..datasets import minnesota
from ._convert import as_matrix, is_graph
from ._from_others import from_networkx, from_pandas
from ._generators import barabasi_albert, cayley_tree, cycle, grid, kronecker, path
from ._karate import karate
from ._laplacian import adjacency, laplacian, normalized_laplacian
from ._lengths import weights_from_lengths
from ._named import named, names
from ._partition import partition, partitioner
from ._similarity import similarity_graph
from ._symmetric import symmetric_part
from ._together import as_matrices

__all__ = [
    "Graph",
    "adjacency",
    "as_matrices",
    "as_matrix",
    "barabasi_albert",
    "cayley_tree",
    "cycle",
    "from_networkx",
    "from_pandas",
    "graph_from_edges",
    "grid",
    "is_graph",
    "karate",
    "kronecker",
    "laplacian",
    "minnesota",
    "named",
    "names",
    "normalized_laplacian",
    "partition",
    "partitioner",
    "path",
    "similarity_graph",
    "symmetric_part",
    "weights_from_lengths",
]
