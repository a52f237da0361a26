"""Wavelet networks: what they are built from, for one graph and for batches of graphs.

>>> import torch
>>> import wavemmf as wm
>>> basis = wm.nn.wavelet_basis(wm.graphs.karate(), core=8, k=4)
>>> wm.nn.WaveletConv(3, 5)(torch.randn(34, 3), basis).shape
torch.Size([34, 5])

Data sets, protocols and networks to compare with are in `wavemmf.experiments`.
"""

from __future__ import annotations

import importlib
from typing import Any

from .._optional import require

require("torch", extra="torch")

from ._basis import WaveletBasis  # noqa: E402
from ._batch import BatchBasis  # noqa: E402
from ._conv import WaveletConv  # noqa: E402
from ._filters import FreeFilter, HeatFilter, SpectralFilter  # noqa: E402
from ._fit import FittedNodes, fit_nodes  # noqa: E402
from ._graph_net import GraphWaveletNet  # noqa: E402
from ._layer import WaveletLayer  # noqa: E402
from ._net import WaveletNet  # noqa: E402
from ._operators import hop_operator, wavelet_basis  # noqa: E402
from ._pooling import WaveletPooling  # noqa: E402
from ._propagation import WaveletPropagation  # noqa: E402
from ._protocol import Basis  # noqa: E402
from ._settings import GraphNetSettings, NetSettings  # noqa: E402
from ._sparse import SparseOperator  # noqa: E402
from ._storage import load_net, save_net  # noqa: E402
from ._training import NodeTraining  # noqa: E402

__all__ = [
    "AddWaveletBasis",
    "Basis",
    "BatchBasis",
    "FittedNodes",
    "FreeFilter",
    "GraphNetSettings",
    "GraphWaveletNet",
    "HeatFilter",
    "NetSettings",
    "NodeTraining",
    "SparseOperator",
    "SpectralFilter",
    "WaveletBasis",
    "WaveletConv",
    "WaveletLayer",
    "WaveletNet",
    "WaveletPooling",
    "WaveletPropagation",
    "fit_nodes",
    "hop_operator",
    "load_net",
    "save_net",
    "wavelet_basis",
]


def __getattr__(name: str) -> Any:
    # The transform needs PyTorch Geometric; the rest does not.
    if name == "AddWaveletBasis":
        return importlib.import_module("._transform", __name__).AddWaveletBasis
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
