"""The wavelet transform as a scikit-learn transformer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._factorize import factorize
from .._restarts import Search
from .._validation import check_choice
from ..graphs import as_matrix, is_graph
from ..optimize import Optimizer

__all__ = ["MMF"]

_AFFINITIES = ("precomputed", "covariance")


class MMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Wavelet transform of samples, in the basis of a factorization.

    A thin wrapper around `wavemmf.factorize`: whoever wants one factorization is better served
    there. As usual in scikit-learn, samples are rows: ``transform(X)`` is ``X @ W.T``.

    Parameters
    ----------
    core, k, drop, select, optimize, steps, restarts, seed, rotations
        As in `wavemmf.factorize`.
    affinity : {"precomputed", "covariance"}
        What is factorized: the matrix or graph given to `fit`, which relates the features to
        each other, or the covariance of the samples given to it.
    matrix : {None, "normalized_laplacian", "laplacian", "adjacency"}
        Which matrix of a graph is meant, as in `wavemmf.factorize`; for "precomputed" only.

    Attributes
    ----------
    factorization_ : Factorization
        The result, with everything that can be asked of it.
    n_features_in_ : int
        Number of rows of the factorized matrix.
    feature_names_in_ : ndarray of str
        Names of the features, if `fit` was given a data frame.

    Examples
    --------
    >>> import numpy as np, wavemmf as wm
    >>> signals = np.random.default_rng(0).normal(size=(5, 34))
    >>> model = wm.MMF(core=8, k=8).fit(wm.graphs.karate())
    >>> coefficients = model.transform(signals)
    >>> coefficients.shape
    (5, 34)
    >>> bool(np.allclose(model.inverse_transform(coefficients), signals))
    True
    """

    def __init__(
        self,
        core: int | float | None = None,
        k: int = 4,
        drop: int = 1,
        select: Any = "greedy",
        optimize: str | Optimizer | None = None,
        *,
        steps: int | None = None,
        restarts: int | Search = 0,
        seed: int = 0,
        affinity: str = "precomputed",
        matrix: str | None = None,
        rotations: str = "full",
    ) -> None:
        self.core = core
        self.k = k
        self.drop = drop
        self.select = select
        self.optimize = optimize
        self.steps = steps
        self.restarts = restarts
        self.seed = seed
        self.affinity = affinity
        self.matrix = matrix
        self.rotations = rotations

    def fit(self, A: Any, y: Any = None) -> MMF:
        """Factorize.

        Parameters
        ----------
        A : matrix, graph or path, or samples of shape (m, n)
            Whatever `wavemmf.factorize` takes, or samples for ``affinity="covariance"``.
        y : ignored
            For pipelines.

        Returns
        -------
        MMF
            Itself.
        """
        check_choice("affinity", self.affinity, _AFFINITIES)
        self.factorization_ = factorize(
            self._matrix(A), self.core, self.k, self.drop, self.select, self.optimize,
            steps=self.steps, restarts=self.restarts, seed=self.seed,
            rotations=self.rotations,
        )  # fmt: skip
        self._n_features_out = self.factorization_.n
        return self

    def transform(self, X: Any) -> Any:
        """Return the wavelet coefficients of the rows of `X`.

        Parameters
        ----------
        X : array of shape (m, n)
            Samples, one per row.

        Returns
        -------
        array of shape (m, n)
            Coefficients in coordinate order; float32 for samples in float32.
        """
        return self._rows(X, "analyze")

    def inverse_transform(self, X: Any) -> Any:
        """Return the samples whose wavelet coefficients are the rows of `X`."""
        return self._rows(X, "synthesize")

    def _matrix(self, A: Any) -> Any:
        if self.affinity == "covariance":
            samples = validate_data(self, A, dtype=np.float64, ensure_min_samples=2)
            return np.atleast_2d(np.cov(samples, rowvar=False))
        if is_graph(A) or isinstance(A, str | os.PathLike) or self.matrix is not None:
            A = as_matrix(A, matrix=self.matrix)
        return validate_data(self, A, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _rows(self, X: Any, direction: str) -> Any:
        check_is_fitted(self)
        signals = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        dense = signals.toarray() if sp.issparse(signals) else signals
        moved = getattr(self.factorization_, direction)(np.ascontiguousarray(dense.T))
        return np.ascontiguousarray(moved.T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self.affinity == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
