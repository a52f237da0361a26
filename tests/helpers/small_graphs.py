"""Small graphs for tests of networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from wavemmf.graphs import Graph, graph_from_edges

__all__ = ["as_data", "random_graph", "random_graphs"]


def random_graph(rng: np.random.Generator, n: int, labels: int = 3) -> Graph:
    """Return a random tree with a few more edges and labels on its nodes."""
    tails = [int(rng.integers(0, i)) for i in range(1, n)]
    pairs = {(tail, head) for tail, head in zip(tails, range(1, n), strict=True)}
    for _ in range(n // 3):
        a, b = sorted(rng.choice(n, 2, replace=False).tolist())
        pairs.add((a, b))
    edges = np.array(sorted(pairs)).reshape(-1, 2)
    return graph_from_edges(n, edges[:, 0], edges[:, 1], labels=rng.integers(0, labels, n))


def random_graphs(
    rng: np.random.Generator, count: int = 12, sizes: tuple[int, int] = (5, 25)
) -> list[Graph]:
    """Return random graphs of different sizes."""
    return [random_graph(rng, int(rng.integers(*sizes))) for _ in range(count)]


def as_data(graph: Graph) -> Any:
    """Return a graph as a ``Data`` of PyTorch Geometric, its labels (three) as features."""
    import torch
    from torch_geometric.data import Data

    edges = np.stack(graph.adjacency.tocoo().coords).astype(np.int64)
    data = Data(edge_index=torch.from_numpy(edges), num_nodes=graph.n)
    if graph.labels is not None:
        data.x = torch.from_numpy(np.eye(3, dtype=np.float32)[graph.labels])
    return data
