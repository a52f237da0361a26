"""Classify whole graphs: data sets, folds, protocols, networks and kernels to compare with.

>>> import wavemmf as wm
>>> from wavemmf.experiments.graphs import GraphProblem, classify_graphs
>>> rings = [wm.graphs.cycle(n) for n in range(4, 10)]
>>> rows = [wm.graphs.path(n) for n in range(4, 10)]
>>> problem = GraphProblem("rings", rings + rows, [0] * 6 + [1] * 6)
>>> classify_graphs(problem, folds=2, runs=1, epochs=1).accuracies.shape
(1, 2)
"""

from __future__ import annotations

from ..._optional import require

require("torch", extra="torch")

from ._classify import classify_graphs  # noqa: E402
from ._duplicates import isomorphism_classes  # noqa: E402
from ._equivariance import equivariance  # noqa: E402
from ._folds import FOLDS, Fold, inner_holdout, make_folds  # noqa: E402
from ._models import GRAPH_MODELS  # noqa: E402
from ._problem import GRAPH_DATASETS, GraphProblem, load_graph_problem  # noqa: E402
from ._protocol import PROTOCOLS, FoldOutcome, GraphClassification  # noqa: E402
from ._recipes import GRAPH_RECIPES, GraphRecipe, GraphTraining, recipe_for  # noqa: E402
from ._train import train_graphs  # noqa: E402
from ._trial import Trial  # noqa: E402

__all__ = [
    "FOLDS",
    "GRAPH_DATASETS",
    "GRAPH_MODELS",
    "GRAPH_RECIPES",
    "PROTOCOLS",
    "Fold",
    "FoldOutcome",
    "GraphClassification",
    "GraphProblem",
    "GraphRecipe",
    "GraphTraining",
    "Trial",
    "classify_graphs",
    "equivariance",
    "inner_holdout",
    "isomorphism_classes",
    "load_graph_problem",
    "make_folds",
    "recipe_for",
    "train_graphs",
]
