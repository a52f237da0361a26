"""City-Networks as they are published, read by PyTorch Geometric."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..._graph import Graph, graph_from_edges
from ..._optional import require
from ..._validation import check_choice
from ...datasets import data_folder
from ...errors import InvalidInputError
from ...nn._labels import standardized
from ..nodes import NodeProblem

__all__ = ["CITIES", "city_problem"]

#: City-Networks by the names that PyTorch Geometric knows them by.
CITIES = ("paris", "shanghai", "la", "london")


def city_problem(
    name: str, root: str | os.PathLike[str] | None = None, cache: Any = None
) -> NodeProblem:
    """Return one of the four City-Networks, with the split that it comes with.

    Parameters
    ----------
    name : str
        One of `CITIES`.
    root : path, optional
        Folder of PyTorch Geometric's files; by default ``CityNetwork`` in the data folder. What is
        not there is downloaded.
    cache : bool or folder, optional
        Where factorizations are kept.

    Returns
    -------
    NodeProblem
        Features (37 numbers of nodes and of their roads) have mean 0 and standard deviation 1.

    Raises
    ------
    InvalidInputError
        If it is not there and cannot be downloaded.
    """
    check_choice("dataset", name, CITIES)
    datasets = require("torch_geometric.datasets", extra="pyg")
    folder = data_folder() / "CityNetwork" if root is None else root
    try:
        data = datasets.CityNetwork(str(folder), name)[0]
    except OSError as error:
        raise InvalidInputError(
            f"the road network of {name} is not in {folder} and cannot be downloaded: {error}"
        ) from error
    split = tuple(_nodes(data[f"{part}_mask"]) for part in ("train", "val", "test"))
    return NodeProblem(name, _graph(data, name), standardized(data.x), data.y, (split,), cache)


def _graph(data: Any, name: str) -> Graph:
    tails, heads = data.edge_index.numpy()
    once = np.unique(np.sort(np.stack([tails, heads]), axis=0)[:, tails != heads], axis=1)
    return graph_from_edges(data.num_nodes, once[0], once[1], name=name)


def _nodes(mask: torch.Tensor) -> npt.NDArray[np.int64]:
    """Return the numbers of nodes, which some versions of the files hold in place of masks."""
    found = mask.nonzero()[:, 0] if mask.dtype == torch.bool else mask
    return np.asarray(found.numpy(), dtype=np.int64)
