"""Regression with a compressed kernel matrix: the factorization inverts it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.sparse.linalg import cg
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from .._factorize import factorize
from .._validation import check_integer, check_memory, check_positive
from ..errors import InvalidInputError
from ..factorization._wavelet_matrix import WaveletMatrix
from ..optimize import Optimizer

__all__ = ["MMFGaussianProcessRegressor", "MMFKernelRidge"]


# Weights are not corrected further than this, relative to the targets.
_ACCURATE = 1e-6


class _Compressed(RegressorMixin, BaseEstimator, ABC):
    """What both regressors share: the factorized kernel matrix, and predictions from weights.

    H consists of diagonal blocks of the rotated kernel matrix, so the approximation is positive
    semidefinite like the kernel itself, and regular with any positive `alpha`.
    """

    alpha: float
    core: int | float | None
    k: int
    optimize: str | Optimizer | None
    seed: int
    corrections: int

    @abstractmethod
    def _kernel(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel between the rows of X and of Y, or of X among themselves."""

    def _fit(self, X: Any, y: Any) -> None:
        alpha = check_positive("alpha", self.alpha)
        self.X_fit_, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True
        )
        n = len(self.X_fit_)
        check_memory(4 * 8 * n * n, f"the kernel matrix of {n} samples")
        kernel_matrix = self._kernel(self.X_fit_)
        fitted = factorize(kernel_matrix, self.core, self.k, optimize=self.optimize, seed=self.seed)
        self.factorization_ = fitted.shifted(alpha)
        self._targets = np.asarray(y, dtype=np.float64)
        kernel_matrix[np.diag_indices(n)] += alpha
        self.dual_coef_ = self._weights(kernel_matrix)

    def _weights(self, system: Any) -> Any:
        """Solve with the factorization, and correct by conjugate gradients with the kernel."""
        corrections = check_integer("corrections", self.corrections, 0)
        weights = self._approximation.solve(self._targets)
        if corrections == 0:
            return weights
        inverse = self.factorization_.inv().as_linear_operator()
        columns = zip(_columns(self._targets), _columns(weights), strict=True)
        corrected = [
            cg(system, target, x0=start, rtol=_ACCURATE, maxiter=corrections, M=inverse)[0]
            for target, start in columns
        ]
        return np.stack(corrected, axis=-1).reshape(weights.shape)

    @property
    def _approximation(self) -> WaveletMatrix:
        # What is said of the approximation is meant of it alone: corrections see to the rest.
        return WaveletMatrix(self.factorization_.rotations, self.factorization_.h)

    def _to_known(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        return samples, self._kernel(samples, self.X_fit_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


class MMFKernelRidge(_Compressed):
    """Kernel ridge regression whose kernel matrix is replaced by its factorization.

    Parameters
    ----------
    alpha : float
        Regularisation, added to the diagonal of the kernel matrix; above 0.
    kernel : str or callable
        As in `sklearn.kernel_ridge.KernelRidge`.
    gamma, degree, coef0 : float
        Parameters of the kernels that have them.
    core, k, optimize, seed
        As in `wavemmf.factorize`.
    corrections : int
        Steps of conjugate gradients with the kernel matrix itself, preconditioned by the
        factorization. Predictions take exact kernel values, so weights from the factorization
        alone (0) suit them badly where `alpha` is smaller than its error.

    Attributes
    ----------
    factorization_ : Factorization
        Of the kernel matrix plus ``alpha * I``.
    dual_coef_ : ndarray
        Weights of the samples, (m,) or (m, targets).
    X_fit_ : ndarray
        The samples, (m, n_features).

    Examples
    --------
    >>> import numpy as np, wavemmf as wm
    >>> x = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> model = wm.estimator.MMFKernelRidge(alpha=1e-3, gamma=20.0).fit(x, np.sin(6 * x[:, 0]))
    >>> model.score(x, np.sin(6 * x[:, 0])) > 0.99
    True
    """

    def __init__(
        self,
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        *,
        core: int | float | None = None,
        k: int = 4,
        optimize: str | Optimizer | None = None,
        seed: int = 0,
        corrections: int = 10,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.core = core
        self.k = k
        self.optimize = optimize
        self.seed = seed
        self.corrections = corrections

    def fit(self, X: Any, y: Any) -> MMFKernelRidge:
        """Fit to samples `X` of shape (m, n_features) and targets `y`, one or several each."""
        self._fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predictions for the rows of `X`."""
        _, kernel_values = self._to_known(X)
        return kernel_values @ self.dual_coef_

    def _kernel(self, X: Any, Y: Any = None) -> Any:
        settings = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        if callable(self.kernel):
            settings = {}
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **settings)


class MMFGaussianProcessRegressor(_Compressed):
    """Gaussian process regression whose covariance matrix is replaced by its factorization.

    The parameters of the kernel are taken as they are; choose them by grid search, or compare
    `log_marginal_likelihood_value_`. Variances lie between those of the exact process and of the
    prior: what is not known because of the compression counts as not known.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel, optional
        ``RBF(1.0)`` by default.
    alpha : float
        Variance of the noise; above 0.
    normalize_y : bool
        Centre and scale the targets first.
    core, k, optimize, seed
        As in `wavemmf.factorize`.
    corrections : int
        Steps of conjugate gradients with the kernel matrix itself, preconditioned by the
        factorization. Predictions take exact kernel values, so weights from the factorization
        alone (0) suit them badly where `alpha` is smaller than its error.

    Attributes
    ----------
    factorization_ : Factorization
        Of the covariance matrix plus ``alpha * I``.
    log_marginal_likelihood_value_ : float
        Of the (normalised) targets under the approximation, summed over targets.
    dual_coef_, X_fit_
        As for `MMFKernelRidge`.

    Examples
    --------
    >>> import numpy as np, wavemmf as wm
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> x = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> model = wm.estimator.MMFGaussianProcessRegressor(RBF(0.2), alpha=1e-3, k=8)
    >>> model = model.fit(x, np.sin(6 * x[:, 0]))
    >>> mean, spread = model.predict([[0.5], [9.0]], return_std=True)
    >>> bool(spread[0] < 0.2 and spread[1] > 0.9)
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        alpha: float = 1e-2,
        normalize_y: bool = False,
        *,
        core: int | float | None = None,
        k: int = 4,
        optimize: str | Optimizer | None = None,
        seed: int = 0,
        corrections: int = 10,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.normalize_y = normalize_y
        self.core = core
        self.k = k
        self.optimize = optimize
        self.seed = seed
        self.corrections = corrections

    def fit(self, X: Any, y: Any) -> MMFGaussianProcessRegressor:
        """Fit to samples `X` of shape (m, n_features) and targets `y`, one or several each."""
        self.kernel_ = RBF(1.0) if self.kernel is None else clone(self.kernel)
        self._mean: Any = 0.0
        self._scale: Any = 1.0
        if self.normalize_y:
            y = np.asarray(y, dtype=np.float64)
            self._mean = y.mean(axis=0)
            deviation = y.std(axis=0)
            self._scale = np.where(deviation > 0.0, deviation, 1.0)
            y = (y - self._mean) / self._scale
        self._fit(X, y)
        quadratic = float(np.sum(self._targets * self.dual_coef_))
        targets = 1 if self._targets.ndim == 1 else self._targets.shape[1]
        constant = self._approximation.logdet() + self.factorization_.n * np.log(2.0 * np.pi)
        self.log_marginal_likelihood_value_ = -0.5 * (quadratic + targets * constant)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean for the rows of `X`, and their standard deviations if asked.

        Parameters
        ----------
        X : array of shape (m, n_features)
            Samples.
        return_std : bool
            Also return the standard deviation of the process (without noise) at each sample.

        Returns
        -------
        array of shape (m,) or (m, targets), or a pair of them
        """
        samples, kernel_values = self._to_known(X)
        mean = self._mean + self._scale * (kernel_values @ self.dual_coef_)
        if not return_std:
            return mean
        variance = self._variance(self.kernel_.diag(samples), kernel_values)
        return mean, np.multiply.outer(np.sqrt(variance), self._scale)

    def _variance(self, prior: Any, kernel_values: Any) -> Any:
        """Return the least of ``prior - 2 t k.x + t^2 x.Kx`` over t, for x from the factorization.

        At the exact x it is the variance, at any other it is larger, by the error squared.
        """
        x = self._approximation.solve(np.ascontiguousarray(kernel_values.T))
        spread = self._kernel(self.X_fit_) @ x + self.alpha * x
        linear = np.einsum("ij,ji->i", kernel_values, x)
        quadratic = np.einsum("ij,ij->j", x, spread)
        explained = np.divide(linear**2, quadratic, out=np.zeros_like(prior), where=quadratic > 0)
        return np.clip(prior - explained, 0.0, prior)

    def _kernel(self, X: Any, Y: Any = None) -> Any:
        if not callable(self.kernel_):
            raise InvalidInputError(
                f"kernel must be a kernel of sklearn.gaussian_process, got {self.kernel!r}"
            )
        return self.kernel_(X, Y)


def _columns(targets: Any) -> Any:
    return targets.reshape(len(targets), -1).T
