"""Estimators for scikit-learn: wavelet transform and denoising, kernel ridge, Gaussian processes.

>>> import wavemmf as wm
>>> wm.MMF(core=8, k=8).fit(wm.graphs.karate()).n_features_in_
34
"""

from .._optional import require

require("sklearn", extra="sklearn")

from ._denoiser import WaveletDenoiser  # noqa: E402
from ._kernels import MMFGaussianProcessRegressor, MMFKernelRidge  # noqa: E402
from ._transformer import MMF  # noqa: E402

__all__ = ["MMF", "MMFGaussianProcessRegressor", "MMFKernelRidge", "WaveletDenoiser"]
