"""Estimators for scikit-learn: the wavelet transform, kernel ridge regression, Gaussian processes.

>>> import wavemmf as wm
>>> wm.MMF(core=8, k=8).fit(wm.graphs.karate()).n_features_in_
34
"""

from .._optional import require

require("sklearn", extra="sklearn")

from ._kernels import MMFGaussianProcessRegressor, MMFKernelRidge  # noqa: E402
from ._transformer import MMF  # noqa: E402

__all__ = ["MMF", "MMFGaussianProcessRegressor", "MMFKernelRidge"]
