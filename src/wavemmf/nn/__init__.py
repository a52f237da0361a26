"""Wavelet networks: convolutions that filter signals in the basis of a factorization.

>>> import torch
>>> import wavemmf as wm
>>> basis = wm.nn.WaveletBasis(wm.factorize(wm.graphs.karate(), core=8, k=4))
>>> wm.nn.WaveletConv(3, 5)(torch.randn(34, 3), basis).shape
torch.Size([34, 5])
"""

from __future__ import annotations

import importlib
from typing import Any

from .._optional import require

require("torch", extra="torch")

from ..experiments.graphs._classify import classify_graphs  # noqa: E402
from ..experiments.graphs._duplicates import isomorphism_classes  # noqa: E402
from ..experiments.graphs._equivariance import equivariance  # noqa: E402
from ..experiments.graphs._folds import FOLDS, Fold, inner_holdout, make_folds  # noqa: E402
from ..experiments.graphs._models import GRAPH_MODELS  # noqa: E402
from ..experiments.graphs._problem import GRAPH_DATASETS, GraphProblem, load_graph_problem  # noqa: E402
from ..experiments.graphs._protocol import (  # noqa: E402
    PROTOCOLS,
    GraphClassification,
    paired_graph_difference,
)
from ..experiments.nodes._classify import Classification, classify_nodes, paired_difference  # noqa: E402
from ..experiments.nodes._models import BASELINES, MODELS  # noqa: E402
from ..experiments.nodes._problem import DATASETS, NodeProblem, load_problem  # noqa: E402
from ..experiments.nodes._splits import SPLITS, Split, make_split  # noqa: E402
from ..experiments.nodes._train import Outcome, train_nodes  # noqa: E402
from ._basis import WaveletBasis  # noqa: E402
from ._conv import WaveletConv  # noqa: E402
from ._filters import FreeFilter, SpectralFilter  # noqa: E402
from ._graph_net import GraphWaveletNet  # noqa: E402
from ._graph_settings import (  # noqa: E402
    GRAPH_PRESETS,
    GraphNetSettings,
    GraphTraining,
)
from ._net import WaveletNet  # noqa: E402
from ._operators import hop_operator, network_matrix, wavelet_basis  # noqa: E402
from ._propagation import WaveletPropagation  # noqa: E402
from ._responses import RESPONSES, pagerank_tail  # noqa: E402
from ._settings import PRESETS, NetSettings, TrainingSettings  # noqa: E402
from ._sparse import SparseOperator  # noqa: E402
from ._storage import SavedNet, load_net, save_net  # noqa: E402

__all__ = [
    "BASELINES",
    "DATASETS",
    "FOLDS",
    "GRAPH_DATASETS",
    "GRAPH_MODELS",
    "GRAPH_PRESETS",
    "MODELS",
    "PRESETS",
    "PROTOCOLS",
    "RESPONSES",
    "SPLITS",
    "AddGraphWavelets",
    "AddWaveletBasis",
    "Classification",
    "Fold",
    "FreeFilter",
    "GraphClassification",
    "GraphNetSettings",
    "GraphProblem",
    "GraphTraining",
    "GraphWaveletNet",
    "NetSettings",
    "NodeProblem",
    "Outcome",
    "SavedNet",
    "SparseOperator",
    "SpectralFilter",
    "Split",
    "TrainingSettings",
    "WaveletBasis",
    "WaveletConv",
    "WaveletNet",
    "WaveletPropagation",
    "classify_graphs",
    "classify_nodes",
    "equivariance",
    "hop_operator",
    "inner_holdout",
    "isomorphism_classes",
    "load_graph_problem",
    "load_net",
    "load_problem",
    "make_folds",
    "make_split",
    "network_matrix",
    "pagerank_tail",
    "paired_difference",
    "paired_graph_difference",
    "save_net",
    "train_nodes",
    "wavelet_basis",
]


def __getattr__(name: str) -> Any:
    # The transforms need PyTorch Geometric; the rest does not.
    if name == "AddWaveletBasis":
        return importlib.import_module("._transform", __name__).AddWaveletBasis
    if name == "AddGraphWavelets":
        return importlib.import_module("._graph_transform", __name__).AddGraphWavelets
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
