"""Graphs and matrices: generate them, read them, convert them, take their Laplacian."""

from __future__ import annotations

from .citation import linqs
from .convert import as_matrix, is_graph
from .datasets import minnesota, snap, snap_names
from .generators import barabasi_albert, cayley_tree, cycle, grid, kronecker, path
from .graph import Graph, graph_from_edges
from .images import digits_kernel, mnist_kernel
from .karate import karate
from .laplacian import adjacency, laplacian, normalized_laplacian
from .readers import read
from .registry import named, names
from .similarity import similarity_graph
from .together import as_matrices
from .tudataset import GraphDataset, tu_dataset

__all__ = [
    "Graph",
    "GraphDataset",
    "adjacency",
    "as_matrices",
    "as_matrix",
    "barabasi_albert",
    "cayley_tree",
    "cycle",
    "digits_kernel",
    "graph_from_edges",
    "grid",
    "is_graph",
    "karate",
    "kronecker",
    "laplacian",
    "linqs",
    "minnesota",
    "mnist_kernel",
    "named",
    "names",
    "normalized_laplacian",
    "path",
    "read",
    "similarity_graph",
    "snap",
    "snap_names",
    "tu_dataset",
]
