"""Bases of all graphs of a data set, with their nodes numbered as they are or otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._many import factorize_many
from ..._progress import Progress, silent
from ...graphs import Graph
from ...nn._batch import basis_arrays
from ._numbering import random_orders, relabelled

__all__ = ["compute_bases"]


def compute_bases(
    graphs: Sequence[Graph],
    cache: Any = None,
    progress: Progress = silent,
    threshold: float = 1e-4,
    numbering: int = 0,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Return the bases of many graphs, as arrays that `wavemmf.nn.BatchBasis` reads.

    Parameters
    ----------
    graphs : sequence of Graph
        Factorized through their normalized Laplacians.
    cache, progress, **settings
        As for `wavemmf.factorize_many`.
    threshold : float
        Entries of this magnitude or less are left out.
    numbering : int
        0 to factorize graphs with their nodes as they are; other numbers are seeds of a random
        order. Ties between equivalent nodes are then broken otherwise.

    Examples
    --------
    >>> import wavemmf as wm
    >>> len(compute_bases([wm.graphs.cycle(6), wm.graphs.path(3)], k=2))
    2
    """
    if numbering == 0:
        made = factorize_many(graphs, cache=cache, progress=progress, **settings)
        return [basis_arrays(f, threshold) for f in made]
    orders = random_orders(graphs, numbering)
    turned = [relabelled(graph, order) for graph, order in zip(graphs, orders, strict=True)]
    made = factorize_many(turned, cache=cache, progress=progress, **settings)
    return [basis_arrays(f, threshold, order) for f, order in zip(made, orders, strict=True)]
