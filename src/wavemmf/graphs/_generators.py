"""Graphs and matrices made from a formula, among them two of the paper's experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._graph import Graph, graph_from_edges
from .._validation import check_integer, check_matrix, check_memory
from ..errors import InvalidInputError

__all__ = ["barabasi_albert", "cayley_tree", "cycle", "grid", "kronecker", "path"]

# Peak memory of building a sparse graph, for each vertex and for each edge.
_BYTES_PER_VERTEX = 64
_BYTES_PER_EDGE = 96


def kronecker(order: int = 9, seed_matrix: ArrayLike = ((0, 1), (1, 1))) -> NDArray[np.float64]:
    """Return the Kronecker power of a small symmetric matrix, as a dense matrix.

    Parameters
    ----------
    order : int
        How many factors, at least 1.
    seed_matrix : array_like, shape (s, s)
        The factor.

    Returns
    -------
    ndarray, shape (s ** order, s ** order)

    Examples
    --------
    >>> kronecker(2)
    array([[0., 0., 0., 1.],
           [0., 0., 1., 1.],
           [0., 1., 0., 1.],
           [1., 1., 1., 1.]])
    >>> kronecker().shape
    (512, 512)
    """
    order = check_integer("order", order, minimum=1)
    seed = np.asarray(check_matrix(np.asarray(seed_matrix)))
    if order > 64 and len(seed) > 1:
        raise InvalidInputError(f"order must be at most 64, got {order}")
    size = len(seed) ** order
    check_memory(16.0 * size**2, f"a Kronecker power of order {size}")
    power = seed
    for _ in range(order - 1):
        power = np.kron(power, seed)
    return np.ascontiguousarray(power)


def cayley_tree(z: int, depth: int) -> Graph:
    """Return the Cayley tree (Bethe lattice): every inner vertex has `z` neighbours.

    Parameters
    ----------
    z : int
        The coordination number, at least 2.
    depth : int
        Distance of the leaves from the root.

    Returns
    -------
    Graph
        Numbered breadth first: the root is 0, then come its children in order, then theirs.
        Coordinates: one circle per level, its vertices evenly spaced.

    Examples
    --------
    >>> cayley_tree(4, 4)
    Graph('cayley_tree(4, 4)', n=161, num_edges=160)
    """
    z = check_integer("z", z, minimum=2)
    depth = check_integer("depth", depth, minimum=0)
    if depth > 64 and z > 2:
        raise InvalidInputError(f"depth must be at most 64, got {depth}")
    sizes = [1] + [z * (z - 1) ** level for level in range(depth)]
    n = sum(sizes)
    name = f"cayley_tree({z}, {depth})"
    _check_graph_memory(n, n - 1, name)
    starts = np.cumsum([0, *sizes])
    parents = [
        starts[level - 1] + np.arange(sizes[level]) // (z if level == 1 else z - 1)
        for level in range(1, depth + 1)
    ]
    rings = [_circle(size, radius=level) for level, size in enumerate(sizes)]
    tails = np.concatenate(parents) if parents else np.empty(0, dtype=np.int64)
    return graph_from_edges(n, tails, np.arange(1, n), coordinates=np.concatenate(rings), name=name)


def cycle(n: int) -> Graph:
    """Return the cycle on `n` vertices, at least 3, drawn on a circle.

    Examples
    --------
    >>> cycle(64)
    Graph('cycle(64)', n=64, num_edges=64)
    """
    n = check_integer("n", n, minimum=3)
    _check_graph_memory(n, n, f"cycle({n})")
    tails = np.arange(n)
    return graph_from_edges(n, tails, (tails + 1) % n, coordinates=_circle(n), name=f"cycle({n})")


def path(n: int) -> Graph:
    """Return the path on `n` vertices.

    Examples
    --------
    >>> path(5)
    Graph('path(5)', n=5, num_edges=4)
    """
    return _lattice(1, check_integer("n", n, minimum=1), name=f"path({n})")


def grid(rows: int, cols: int) -> Graph:
    """Return the square grid; vertex ``r * cols + c`` is drawn at ``(c, r)``.

    Examples
    --------
    >>> grid(3, 4)
    Graph('grid(3, 4)', n=12, num_edges=17)
    """
    rows = check_integer("rows", rows, minimum=1)
    cols = check_integer("cols", cols, minimum=1)
    return _lattice(rows, cols, name=f"grid({rows}, {cols})")


def barabasi_albert(n: int, m: int, seed: int | np.random.Generator | None = 0) -> Graph:
    """Return a random graph grown by preferential attachment.

    It starts from a star with `m` leaves; each further vertex is joined to `m` distinct
    earlier ones, drawn with probability proportional to their degree.

    Parameters
    ----------
    n, m : int
        Number of vertices; edges added with each one, ``1 <= m < n``.
    seed : int, Generator or None
        Passed to `numpy.random.default_rng`.

    Examples
    --------
    >>> barabasi_albert(1000, 3, seed=0)
    Graph('barabasi_albert(1000, 3)', n=1000, num_edges=2991)
    """
    n = check_integer("n", n, minimum=2)
    m = check_integer("m", m, minimum=1, maximum=n - 1)
    name = f"barabasi_albert({n}, {m})"
    # The ends of all edges are kept in a Python list as well: 8 bytes a slot, 32 an integer.
    check_memory(float(n) * (_BYTES_PER_VERTEX + m * (_BYTES_PER_EDGE + 80)), name)
    heads = _attach(n, m, np.random.default_rng(seed))
    tails = np.concatenate([np.zeros(m, dtype=np.int64), np.repeat(np.arange(m + 1, n), m)])
    return graph_from_edges(n, tails, heads, name=name)


def _attach(n: int, m: int, rng: np.random.Generator) -> NDArray[np.int64]:
    # Every edge puts both its ends on the list, so a uniform draw from the list is a draw
    # proportional to the degree.
    ends = [0, 1] if m == 1 else [end for leaf in range(1, m + 1) for end in (0, leaf)]
    heads = list(range(1, m + 1))
    draws = iter(rng.random(0).tolist())
    for vertex in range(m + 1, n):
        chosen: dict[int, None] = {}  # A set that remembers the order of insertion.
        size = len(ends)
        while len(chosen) < m:
            draw = next(draws, None)
            if draw is None:  # Fetched by the thousand: one call per draw would dominate.
                draws = iter(rng.random(65536).tolist())
                continue
            chosen[ends[int(draw * size)]] = None
        heads.extend(chosen)
        ends.extend(chosen)
        ends.extend([vertex] * m)
    return np.array(heads, dtype=np.int64)


def _lattice(rows: int, cols: int, **extra: Any) -> Graph:
    n = rows * cols
    _check_graph_memory(n, 2 * n, extra["name"])
    index = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64).reshape(rows, cols)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    y, x = np.divmod(np.arange(n, dtype=np.float64), cols)
    return graph_from_edges(n, tails, heads, coordinates=np.column_stack([x, y]), **extra)


def _circle(n: int, radius: float = 1.0) -> NDArray[np.float64]:
    angles = 2 * np.pi * (np.arange(n) + 0.5) / n
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def _check_graph_memory(n: int, edges: int, name: str) -> None:
    check_memory(float(n) * _BYTES_PER_VERTEX + float(edges) * _BYTES_PER_EDGE, name)
