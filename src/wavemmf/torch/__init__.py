"""The wavelet transform and the factorization objective as differentiable PyTorch functions.

>>> import torch
>>> import wavemmf as wm
>>> from wavemmf.torch import MMFLayer
>>> layer = MMFLayer(wm.factorize(wm.graphs.karate(), core=8, k=4))
>>> layer(torch.ones(34, 3)).shape
torch.Size([34, 3])
"""

from __future__ import annotations

from .._optional import require

require("torch", extra="torch")

from ._coordinates import PlaneCoordinates, SkewCoordinates  # noqa: E402
from ._functional import analyze, residual, synthesize  # noqa: E402
from ._layer import MMFLayer  # noqa: E402

__all__ = ["MMFLayer", "PlaneCoordinates", "SkewCoordinates", "analyze", "residual", "synthesize"]
