"""What the layers of networks multiply with on one graph."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from ...nn import SparseOperator
from ..nodes import NodeProblem

__all__ = ["Operators"]


class Operators:
    """Matrices of a graph, each made when it is first asked for.

    Parameters
    ----------
    problem : NodeProblem
        The graph.

    Examples
    --------
    >>> from wavemmf.experiments.nodes import load_node_problem
    >>> means = Operators(load_node_problem("karate")).mean(torch.ones(34, 1))
    >>> torch.allclose(means, torch.ones(34, 1))
    True
    """

    def __init__(self, problem: NodeProblem) -> None:
        self.problem = problem

    @property
    def hop(self) -> SparseOperator:
        """One hop with self-loops and symmetric normalisation."""
        return self.problem.hops

    @property
    def edges(self) -> torch.Tensor:
        """Both directions of every edge."""
        return self.problem.edge_index

    @cached_property
    def mean(self) -> SparseOperator:
        """The mean over neighbours; 0 where there are none."""
        return SparseOperator(self._scaled(1.0, 0.0))

    @cached_property
    def shifted(self) -> SparseOperator:
        """The normalized Laplacian minus the identity, with eigenvalues from -1 to 1."""
        return SparseOperator(-self._scaled(0.5, 0.5))

    def _scaled(self, left: float, right: float) -> sp.csr_array:
        adjacency = self.problem.graph.adjacency
        degree = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1.0)
        there, back = sp.diags_array(degree**-left), sp.diags_array(degree**-right)
        return sp.csr_array(there @ adjacency @ back)
