"""Wavelet denoising as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InvalidInputError
from ..factorization import Factorization
from ..graphs import path
from ..signals import denoise, wavelets

__all__ = ["WaveletDenoiser"]


class WaveletDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Remove noise from samples whose features are the nodes of a graph.

    Every sample is a signal, a row of X: ``transform(X)`` is ``denoise(X.T, f).T``.

    Parameters
    ----------
    graph : graph, matrix or Factorization, optional
        What relates the features to each other, or wavelets that were made already. Without it
        features are neighbours in their order, as points in time are.
    method, shrink, noise
        As in `wavemmf.signals.denoise`. Several samples may have noise of one level each.
    smooth : bool
        Smooth by Tikhonov first, as ``denoise(smooth=graph)`` does; a factorization alone knows no
        graph to smooth by.
    core, k
        As in `wavemmf.wavelets`.

    Attributes
    ----------
    factorization_ : Factorization
        The wavelets.
    n_features_in_ : int
        Number of nodes.
    feature_names_in_ : ndarray of str
        Names of the features, if `fit` was given a data frame.

    Examples
    --------
    >>> import numpy as np, wavemmf as wm
    >>> graph = wm.graphs.grid(12, 12)
    >>> clean = np.repeat([[0.0, 5.0], [3.0, 0.0]], 72, axis=1)
    >>> noisy = clean + np.random.default_rng(0).normal(size=clean.shape)
    >>> found = wm.estimator.WaveletDenoiser(graph).fit_transform(noisy)
    >>> bool(np.linalg.norm(found - clean) < 0.7 * np.linalg.norm(noisy - clean))
    True
    """

    def __init__(
        self,
        graph: Any = None,
        method: str | float = "bayes",
        shrink: str = "soft",
        noise: Any = None,
        *,
        smooth: bool = False,
        core: int | float | None = None,
        k: int = 2,
    ) -> None:
        self.graph = graph
        self.method = method
        self.shrink = shrink
        self.noise = noise
        self.smooth = smooth
        self.core = core
        self.k = k

    def fit(self, X: Any, y: Any = None) -> WaveletDenoiser:
        """Make the wavelets.

        Parameters
        ----------
        X : array of shape (m, n)
            Samples; only their number of features counts.
        y : ignored
            For pipelines.

        Returns
        -------
        WaveletDenoiser
            Itself.
        """
        samples = validate_data(self, X, dtype=np.float64)
        graph = path(samples.shape[1]) if self.graph is None else self.graph
        if isinstance(graph, Factorization):
            self.factorization_ = graph
        else:
            self.factorization_ = wavelets(graph, self.core, self.k)
        if self.factorization_.n != samples.shape[1]:
            raise InvalidInputError(
                f"the graph has {self.factorization_.n} nodes, and X {samples.shape[1]} features"
            )
        self._smoothed_by = self._to_smooth_by(graph)
        return self

    def transform(self, X: Any) -> Any:
        """Return the samples without noise.

        Parameters
        ----------
        X : array of shape (m, n)
            Samples, one per row.

        Returns
        -------
        array of shape (m, n)
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        found = denoise(
            np.ascontiguousarray(samples.T), self.factorization_, self.method, self.shrink,
            self.noise, smooth=self._smoothed_by,
        )  # fmt: skip
        return np.ascontiguousarray(found.T)

    def _to_smooth_by(self, graph: Any) -> Any:
        if not self.smooth:
            return None
        if isinstance(graph, Factorization):
            raise InvalidInputError("smooth=True needs a graph to smooth by, got a factorization")
        return graph
