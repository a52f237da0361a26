"""Colour refinement (Weisfeiler and Leman) of all nodes of a data set at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...graphs import Graph

__all__ = ["refined_colours"]

Integers = npt.NDArray[np.int64]
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def refined_colours(
    graphs: Sequence[Graph], labels: Sequence[Integers], rounds: int
) -> list[Integers]:
    """Return the colours of all nodes after 0 to `rounds` refinements.

    Two nodes have the same colour after r rounds if they had the same before and neighbours of
    the same colours, each equally often; also if they are nodes of different graphs. Multisets of
    colours are compared by sums of 64-bit numbers, which differ for different multisets but for a
    chance of about 1e-19 for each pair.

    Parameters
    ----------
    graphs : sequence of Graph
        Edges count as present or not, whatever their weight.
    labels : sequence of int arrays
        Labels of the nodes, the colours to begin with.
    rounds : int
        Number of refinements.

    Returns
    -------
    list of int arrays
        ``rounds + 1`` of them, each with the colours of the nodes of all graphs in order,
        numbered from 0.

    Examples
    --------
    >>> import wavemmf as wm
    >>> refined_colours([wm.graphs.path(4)], [np.zeros(4, np.int64)], 1)[1].tolist()
    [0, 1, 1, 0]
    """
    together = sp.csr_array(sp.block_diag([graph.adjacency for graph in graphs], format="csr"))
    colours = _numbered(np.concatenate(labels))
    history = [colours]
    rows = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
    for _ in range(rounds):
        around = np.zeros(colours.size, np.uint64)
        np.add.at(around, rows, _mixed(colours.astype(np.uint64))[together.indices])
        colours = _numbered(_mixed(colours.astype(np.uint64) ^ _mixed(around)))
        history.append(colours)
    return history


def _numbered(values: npt.NDArray[np.generic]) -> Integers:
    """Return distinct values numbered from 0, by where they occur first."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return 64 bits that look random, the same for the same value (splitmix64)."""
    z = (values + np.uint64(1)) * _MIX[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX[1]
    z = (z ^ (z >> np.uint64(27))) * _MIX[2]
    return z ^ (z >> np.uint64(31))
