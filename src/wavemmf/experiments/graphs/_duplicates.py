"""Find graphs of a data set that are the same but for the order of their nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..._validation import check_integer
from ...graphs import Graph
from ._wl import refined_colours

__all__ = ["isomorphic", "isomorphism_classes", "seen_in_training"]

Integers = npt.NDArray[np.int64]
_ROUNDS = 4
_EFFORT = 2000


def isomorphism_classes(graphs: Sequence[Graph], labels: Sequence[Integers]) -> Integers:
    """Return a number for every graph, the same for graphs that are isomorphic, labels kept.

    Colour refinement sorts graphs into buckets, an exact test decides inside. Pairs that the test
    gives up on (see `isomorphic`) count as isomorphic: what is then left out of a
    test set is too much rather than too little.

    Parameters
    ----------
    graphs : sequence of Graph
        The graphs.
    labels : sequence of int arrays
        Labels of their nodes.

    Examples
    --------
    >>> import wavemmf as wm
    >>> cycle, path = wm.graphs.cycle(4), wm.graphs.path(4)
    >>> isomorphism_classes([cycle, path, cycle], [np.zeros(4, np.int64)] * 3).tolist()
    [0, 1, 0]
    """
    numbers = np.empty(len(graphs), np.int64)
    buckets: dict[bytes, list[int]] = defaultdict(list)  # first members of the classes
    colours = refined_colours(graphs, labels, _ROUNDS)[-1]
    bounds = np.cumsum([graph.n for graph in graphs])[:-1]
    for i, own in enumerate(np.split(colours, bounds)):
        bucket = buckets[np.sort(own).tobytes()]
        for j in bucket:
            if isomorphic(graphs[i], graphs[j], labels[i], labels[j]) is not False:
                numbers[i] = numbers[j]
                break
        else:
            numbers[i] = i
            bucket.append(i)
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def seen_in_training(classes: Integers, train: Integers, test: Integers) -> npt.NDArray[np.bool_]:
    """Return which test graphs are isomorphic to a training graph.

    Examples
    --------
    >>> seen_in_training(np.array([0, 0, 1]), np.array([0]), np.array([1, 2]))
    array([ True, False])
    """
    return np.isin(classes[test], classes[train])


def isomorphic(
    a: Graph, b: Graph, labels_a: Integers, labels_b: Integers, effort: int = _EFFORT
) -> bool | None:
    """Return whether two graphs are isomorphic with labels kept, None if that takes too long.

    Both are refined together. As long as colours do not tell all nodes apart, a node of the first
    is matched with every possible one of the second in turn.

    Parameters
    ----------
    a, b : Graph
        The graphs; edges count as present or not.
    labels_a, labels_b : int arrays
        Labels of their nodes.
    effort : int
        How many refinements may be tried.

    Examples
    --------
    >>> import wavemmf as wm
    >>> none = np.zeros(6, np.int64)
    >>> isomorphic(wm.graphs.cycle(6), wm.graphs.path(6), none, none)
    False
    """
    budget = [check_integer("effort", effort, 1)]
    if a.n != b.n or a.adjacency.nnz != b.adjacency.nnz:
        return False
    near = [_neighbours(a), _neighbours(b)]
    return _match(near, [labels_a.tolist(), labels_b.tolist()], budget)


def _neighbours(graph: Graph) -> list[list[int]]:
    bounds = graph.adjacency.indptr[1:-1]
    return [part.tolist() for part in np.split(graph.adjacency.indices, bounds)]


def _match(near: list[list[list[int]]], colours: list[list[int]], budget: list[int]) -> bool | None:
    if budget[0] <= 0:
        return None
    budget[0] -= 1
    refined = _refine(near, colours)
    if refined is None:
        return False
    first, second = refined
    cells: dict[int, list[int]] = defaultdict(list)
    for node, colour in enumerate(first):
        cells[colour].append(node)
    choice = min((cell for cell in cells.values() if len(cell) > 1), key=len, default=None)
    if choice is None:
        return _same_edges(near, first, second)
    fresh = len(cells)
    left = [fresh if node == choice[0] else colour for node, colour in enumerate(first)]
    undecided = False
    for candidate in [node for node, colour in enumerate(second) if colour == first[choice[0]]]:
        right = [fresh if node == candidate else colour for node, colour in enumerate(second)]
        found = _match(near, [left, right], budget)
        if found:
            return True
        undecided |= found is None
    return None if undecided else False


def _refine(near: list[list[list[int]]], colours: list[list[int]]) -> list[list[int]] | None:
    """Refine both until nothing changes; None as soon as their colours are not the same."""
    count = 0
    while True:
        names: dict[tuple[int, tuple[int, ...]], int] = {}
        new = []
        for around, own in zip(near, colours, strict=True):
            signs = [
                (colour, tuple(sorted(own[j] for j in around[i]))) for i, colour in enumerate(own)
            ]
            new.append([names.setdefault(sign, len(names)) for sign in signs])
        if sorted(new[0]) != sorted(new[1]):
            return None
        if len(names) == count:
            return new
        colours, count = new, len(names)


def _same_edges(near: list[list[list[int]]], first: list[int], second: list[int]) -> bool:
    """Whether nodes of equal colours have neighbours of equal colours, all colours distinct."""
    edges = [
        {(own[i], own[j]) for i, around in enumerate(each) for j in around}
        for each, own in zip(near, (first, second), strict=True)
    ]
    return edges[0] == edges[1]
