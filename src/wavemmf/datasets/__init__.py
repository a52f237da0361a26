"""Public data sets: found in the data folder, downloaded where there is an address, and verified.

The environment variable ``WAVEMMF_DATA`` names the folder.
"""

from __future__ import annotations

from ._digits import digits_kernel, mnist_kernel
from ._folder import cache_folder, data_file, data_folder, find_data_file
from ._linqs import linqs
from ._networks import minnesota, snap, snap_names
from ._own_nodes import NodeData, read_nodes
from ._planetoid import Planetoid, planetoid
from ._tu import GraphDataset, read_graphs, tu_dataset

__all__ = [
    "GraphDataset",
    "NodeData",
    "Planetoid",
    "cache_folder",
    "data_file",
    "data_folder",
    "digits_kernel",
    "find_data_file",
    "linqs",
    "minnesota",
    "mnist_kernel",
    "planetoid",
    "read_graphs",
    "read_nodes",
    "snap",
    "snap_names",
    "tu_dataset",
]
