"""Classify the nodes of one graph: data sets, splits, networks to compare with, training.

>>> from wavemmf.experiments.nodes import classify_nodes
>>> classify_nodes("karate", model="wavelet", runs=1, epochs=3).seeds
(0,)
"""

from __future__ import annotations

from ..._optional import require

require("torch", extra="torch")

from ...nn._split import Split  # noqa: E402
from ...nn._train import NodeOutcome, train_nodes  # noqa: E402
from ._classify import NodeClassification, classify_nodes  # noqa: E402
from ._models import NODE_BASELINES, NODE_MODELS  # noqa: E402
from ._problem import NODE_DATASETS, NodeProblem, load_node_problem, read_node_problem  # noqa: E402
from ._recipes import NODE_RECIPES  # noqa: E402
from ._splits import PUBLIC, SPLITS, make_split  # noqa: E402

__all__ = [
    "NODE_BASELINES",
    "NODE_DATASETS",
    "NODE_MODELS",
    "NODE_RECIPES",
    "PUBLIC",
    "SPLITS",
    "NodeClassification",
    "NodeOutcome",
    "NodeProblem",
    "Split",
    "classify_nodes",
    "load_node_problem",
    "make_split",
    "read_node_problem",
    "train_nodes",
]
