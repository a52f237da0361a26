"""Bases on a tree of recursive bisections: Haar, Walsh, and the best basis between them (GHWT).

The generalised Haar-Walsh transform (Irion, Saito 2014) gives every set of the tree as many
vectors as it has vertices: tags 0 (constant), 1 (Haar) and higher (Walsh). A set's vectors come
from those of its two halves: equal tags l are added and subtracted to tags 2l and 2l + 1, a tag
that only one half has goes on as 2l. Any choice of disjoint sets that covers a level's vertices is
an orthonormal basis, and the cheapest for a signal is found from the leaves up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..errors import InvalidInputError
from ..graphs import adjacency, normalized_laplacian

__all__ = [
    "Tree",
    "best_haar_walsh",
    "bisections",
    "haar_basis",
    "halved_in_space",
    "walsh_basis",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Larger sets are cut by an iterative eigensolver.
_DENSE_UP_TO = 256


@dataclass(frozen=True)
class Tree:
    """A set of vertices, and the halves it is cut into."""

    members: Integers
    halves: tuple[Tree, Tree] | None


def bisections(graph: Any) -> Tree:
    """Cut a graph again and again by the sign of the second eigenvector.

    A set of vertices is cut by the second eigenvector of its random-walk Laplacian, or, if it is
    not connected, into its largest component and the rest.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> [half.members.tolist() for half in bisections(path(4)).halves]
    [[0, 1], [2, 3]]
    """
    matrix = adjacency(graph)
    if (matrix.data < 0.0).any():
        raise InvalidInputError("a graph that is cut must have no negative weights")

    def grow(members: Integers) -> Tree:
        if members.size < 2:
            return Tree(members, None)
        first = _one_side(sp.csr_array(matrix[members][:, members]))
        return Tree(members, (grow(members[first]), grow(members[~first])))

    return grow(np.arange(matrix.shape[0]))


def halved_in_space(points: Any) -> Tree:
    """Cut points again and again at the median of the axis along which they reach furthest.

    Examples
    --------
    >>> [half.members.tolist() for half in halved_in_space([[0, 0], [9, 1], [3, 1]]).halves]
    [[0], [2, 1]]
    """
    places = np.asarray(points, np.float64)

    def grow(members: Integers) -> Tree:
        if members.size < 2:
            return Tree(members, None)
        axis = int(np.argmax(np.ptp(places[members], axis=0)))
        order = members[np.argsort(places[members, axis], kind="stable")]
        half = order.size // 2
        return Tree(order, (grow(order[:half]), grow(order[half:])))

    return grow(np.arange(len(places)))


def haar_basis(graph: Any, tree: Tree | None = None) -> sp.csr_array:
    """Return Haar wavelets on the tree of a recursive spectral bisection, as rows.

    Each cut gives one wavelet, constant on both sides; the first row is constant.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> haar_basis(path(4)).toarray().round(3)[1]
    array([ 0.5,  0.5, -0.5, -0.5])
    """
    root = bisections(graph) if tree is None else tree
    n = root.members.size
    rows = [(root.members, np.full(n, n**-0.5))]
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.halves is None:
            continue
        left, right = node.halves
        sides = np.repeat([1.0 / left.members.size, -1.0 / right.members.size],
                          [left.members.size, right.members.size])  # fmt: skip
        members = np.concatenate([left.members, right.members])
        rows.append((members, sides / np.linalg.norm(sides)))
        waiting += [right, left]
    indptr = np.concatenate([[0], np.cumsum([members.size for members, _ in rows])])
    columns = np.concatenate([members for members, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return sp.csr_array((values, columns, indptr), shape=(n, n))


def walsh_basis(graph: Any, tree: Tree | None = None) -> Floats:
    """Return the Walsh functions of the whole graph, as rows.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> (2.0 * walsh_basis(path(4))).round(9).astype(int)[3].tolist()
    [1, -1, -1, 1]
    """
    root = bisections(graph) if tree is None else tree
    coefficients = _up(root, np.eye(root.members.size), _whole)[0]
    return np.ascontiguousarray(coefficients)


def best_haar_walsh(signal: Floats, tree: Tree) -> Floats:
    """Return the coefficients of one signal in its best basis, by the sum of magnitudes.

    Examples
    --------
    >>> from wavemmf.graphs import path
    >>> found = best_haar_walsh(np.array([1.0, 1.0, -1.0, -1.0]), bisections(path(4)))
    >>> np.sort(np.abs(found)).round(9).tolist()
    [0.0, 0.0, 0.0, 2.0]
    """
    return np.asarray(_up(tree, signal[:, None], _cheapest)[2][:, 0])


def _up(node: Tree, signal: Floats, choose: Any) -> tuple[Floats, Integers, Floats]:
    """Coefficients of a set with their tags, and those of the basis chosen below it."""
    if node.halves is None:
        own = signal[node.members]
        return own, np.zeros(own.shape[0], np.int64), own
    parts = [_up(half, signal, choose) for half in node.halves]
    sizes = [half.members.size for half in node.halves]
    own, tags = _joined(parts[0][:2], parts[1][:2], sizes)
    return own, tags, choose(own, np.concatenate([parts[0][2], parts[1][2]]))


def _joined(
    left: tuple[Floats, Integers], right: tuple[Floats, Integers], sizes: list[int]
) -> tuple[Floats, Integers]:
    found: Any = np.intersect1d(left[1], right[1], return_indices=True)
    both, at_left, at_right = found
    a, b = left[0][at_left], right[0][at_right]
    # Constants are weighed by the sizes of the sets; all other vectors have mean zero.
    constant = (both == 0)[:, None]
    p = np.where(constant, np.sqrt(sizes[0] / sum(sizes)), np.sqrt(0.5))
    q = np.where(constant, np.sqrt(sizes[1] / sum(sizes)), np.sqrt(0.5))
    alone = [
        (part[0][~np.isin(part[1], both)], 2 * part[1][~np.isin(part[1], both)])
        for part in (left, right)
    ]
    values = np.concatenate([p * a + q * b, q * a - p * b, alone[0][0], alone[1][0]])
    tags = np.concatenate([2 * both, 2 * both + 1, alone[0][1], alone[1][1]])
    order = np.argsort(tags, kind="stable")
    return values[order], tags[order]


def _whole(own: Floats, below: Floats) -> Floats:
    return own


def _cheapest(own: Floats, below: Floats) -> Floats:
    return own if np.abs(own).sum() <= np.abs(below).sum() else below


def _one_side(matrix: sp.csr_array) -> npt.NDArray[np.bool_]:
    """Return which vertices are on the side of the first one."""
    count, component = connected_components(matrix, directed=False)
    if count > 1:
        side = component == np.argmax(np.bincount(component))
    else:
        degrees = np.asarray(matrix.sum(axis=1)).ravel()
        side = _second_eigenvector(normalized_laplacian(matrix)) / np.sqrt(degrees) > 0.0
        if side.all() or not side.any():  # rounding: cut off one vertex
            side = np.arange(side.size) == 0
    return side if side[0] else ~side


def _second_eigenvector(laplacian: sp.csr_array) -> Floats:
    if laplacian.shape[0] <= _DENSE_UP_TO:
        vectors: Floats = np.linalg.eigh(laplacian.toarray())[1]
        return vectors[:, 1]
    start = np.random.default_rng(0).normal(size=laplacian.shape[0])
    values, vectors = sp.linalg.eigsh(laplacian, 2, sigma=-1e-3, v0=start)
    return np.asarray(vectors[:, np.argsort(values)[1]])
