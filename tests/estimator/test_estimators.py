"""Estimators for scikit-learn: its own checks, and ours against dense algebra."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InvalidInputError

sklearn = pytest.importorskip("sklearn", reason="needs scikit-learn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402


@parametrize_with_checks(
    [
        wm.MMF(core=1, k=2),
        wm.MMF(affinity="covariance"),
        wm.estimator.MMFKernelRidge(),
        wm.estimator.MMFGaussianProcessRegressor(),
        wm.estimator.WaveletDenoiser(),
    ]
)
def test_scikit_learn_accepts_them(estimator, check):
    check(estimator)


def test_the_transform_is_that_of_the_factorization(rng):
    signals = rng.normal(size=(5, 34))
    model = wm.MMF(core=8, k=4).fit(wm.graphs.karate())
    expected = wm.factorize(wm.graphs.karate(), core=8, k=4)
    np.testing.assert_array_equal(model.factorization_.to_dense(), expected.to_dense())
    np.testing.assert_allclose(model.transform(signals), expected.analyze(signals.T).T)
    np.testing.assert_allclose(model.inverse_transform(model.transform(signals)), signals)
    assert model.transform(signals.astype(np.float32)).dtype == np.float32
    assert list(model.get_feature_names_out()[:2]) == ["mmf0", "mmf1"]


def test_every_argument_is_forwarded(monkeypatch):
    given = {
        "core": 3, "k": 5, "drop": 2, "select": "random", "optimize": "lbfgs", "steps": 7,
        "restarts": 4, "seed": 9, "rotations": "compact",
    }  # fmt: skip
    assert set(inspect.signature(wm.MMF).parameters) - {"affinity", "matrix"} == set(given)
    seen = {}

    def spy(matrix, *arguments, **settings):
        names = inspect.signature(wm.factorize).parameters
        seen.update(dict(zip(list(names)[1:], arguments, strict=False)) | settings)
        return wm.factorize(matrix, core=2, k=2)

    monkeypatch.setattr("wavemmf.estimator._transformer.factorize", spy)
    wm.MMF(**given).fit(np.eye(4))
    assert seen == given


def test_the_covariance_in_a_pipeline_and_a_grid_search():
    data, labels = load_iris(return_X_y=True)
    model = make_pipeline(
        StandardScaler(), wm.MMF(core=2, affinity="covariance"), LogisticRegression()
    )
    search = GridSearchCV(model, {"mmf__core": [1, 2], "mmf__k": [2, 3]}, cv=3).fit(data, labels)
    assert search.best_score_ > 0.9
    covariance = clone(model["mmf"]).fit(data).factorization_
    assert covariance.trace() == pytest.approx(data.var(axis=0, ddof=1).sum())


def test_unknown_affinities_are_named():
    with pytest.raises(InvalidInputError, match="affinity must be one of 'precomputed'"):
        wm.MMF(affinity="rbf").fit(np.eye(3))


@pytest.fixture(scope="module")
def diabetes():
    data, target = load_diabetes(return_X_y=True)
    data, target = StandardScaler().fit_transform(data), (target - target.mean()) / target.std()
    return data[:150], target[:150], data[150:200]


def test_corrected_weights_are_those_of_exact_kernel_ridge(diabetes):
    data, target, fresh = diabetes
    both = np.column_stack([target, -2 * target])
    exact = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.05).fit(data, both)
    ours = wm.estimator.MMFKernelRidge(0.5, gamma=0.05, corrections=200).fit(data, both)
    np.testing.assert_allclose(ours.predict(fresh), exact.predict(fresh), atol=1e-4)


def test_weights_without_corrections_are_those_of_the_approximation(diabetes):
    data, target, _ = diabetes
    model = wm.estimator.MMFKernelRidge(0.5, gamma=0.05, corrections=0).fit(data, target)
    expected = np.linalg.solve(model.factorization_.to_dense(), target)
    np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-9)


def test_without_wavelets_the_process_is_exact(diabetes):
    data, target, fresh = diabetes
    kernel = 0.7 * RBF(3.0)
    exact = GaussianProcessRegressor(kernel, alpha=0.2, optimizer=None, normalize_y=True)
    exact.fit(data, target)
    ours = wm.estimator.MMFGaussianProcessRegressor(kernel, 0.2, normalize_y=True, core=150, k=2)
    ours.fit(data, target)
    for mine, theirs in zip(
        ours.predict(fresh, return_std=True), exact.predict(fresh, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        exact.log_marginal_likelihood_value_
    )


def test_the_compressed_process_is_near_the_exact_one(diabetes):
    data, target, fresh = diabetes
    exact = GaussianProcessRegressor(RBF(3.0), alpha=0.3, optimizer=None).fit(data, target)
    ours = wm.estimator.MMFGaussianProcessRegressor(RBF(3.0), 0.3, core=40, k=4).fit(data, target)
    mean, spread = ours.predict(fresh, return_std=True)
    expected, expected_spread = exact.predict(fresh, return_std=True)
    assert np.abs(mean - expected).max() < 0.05
    assert (spread >= expected_spread - 1e-9).all()
    assert (spread <= 1.0 + 1e-12).all()
    assert np.corrcoef(spread, expected_spread)[0, 1] > 0.8


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan])
def test_a_ridge_needs_a_positive_alpha(alpha):
    with pytest.raises(InvalidInputError, match="alpha must be a finite number above 0"):
        wm.estimator.MMFKernelRidge(alpha).fit(np.eye(3), np.ones(3))


def test_without_scikit_learn_the_error_names_the_extra():
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import wavemmf as wm\n"
        "try:\n    wm.MMF\n"
        "except wm.WavemmfError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "wavemmf[sklearn]" in done.stdout, done.stderr


def test_the_denoiser_is_denoise_with_samples_as_rows(rng):
    graph = wm.graphs.grid(8, 8)
    samples = rng.normal(size=(5, 64))
    f = wm.wavelets(graph, k=3)
    for settings in ({}, {"method": "sure", "shrink": "hard"}, {"noise": 0.5}, {"smooth": True}):
        model = wm.estimator.WaveletDenoiser(graph, k=3, **settings).fit(samples)
        given = {**settings, **({"smooth": graph} if settings.get("smooth") else {})}
        expected = wm.signals.denoise(samples.T, f, **given).T
        np.testing.assert_allclose(model.transform(samples), expected, atol=1e-12)
    made = wm.estimator.WaveletDenoiser(f).fit(samples)
    assert made.factorization_ is f


def test_what_a_denoiser_cannot_be_fitted_to(rng):
    samples = rng.normal(size=(5, 64))
    with pytest.raises(InvalidInputError, match="34 nodes, and X 64 features"):
        wm.estimator.WaveletDenoiser(wm.graphs.karate()).fit(samples)
    f = wm.wavelets(wm.graphs.grid(8, 8))
    with pytest.raises(InvalidInputError, match="needs a graph"):
        wm.estimator.WaveletDenoiser(f, smooth=True).fit(samples)
