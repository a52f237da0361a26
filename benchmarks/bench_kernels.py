"""Regression with a compressed kernel against exact and Nyström, on data of scikit-learn.

    python benchmarks/bench_kernels.py [--only diabetes] [--method MMFKernelRidge] [--record FILE]

Half of the samples train, half test; three splits. All methods share the kernel, its width and the
regularisation, which were not tuned for any of them. Nyström has as many landmarks as the
factorization has core rows. Errors are root mean squares relative to the spread of the targets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

ALPHA = 0.1
SPLITS = 3
DATA = {"diabetes": load_diabetes, "digits": load_digits}


def methods(gamma: float, core: int) -> dict[str, Callable[[], Any]]:
    shared = {"alpha": ALPHA, "kernel": "rbf", "gamma": gamma}
    kernel = RBF(np.sqrt(0.5 / gamma))  # the same kernel in the other parametrisation
    landmarks = Nystroem(kernel="rbf", gamma=gamma, n_components=core, random_state=0)
    return {
        "KernelRidge, exact": lambda: KernelRidge(**shared),
        "Nystroem and Ridge": lambda: make_pipeline(
            landmarks, Ridge(alpha=ALPHA, fit_intercept=False)
        ),
        "MMFKernelRidge": lambda: wm.estimator.MMFKernelRidge(**shared, core=core),
        "MMFKernelRidge, corrections=0": lambda: wm.estimator.MMFKernelRidge(
            **shared, core=core, corrections=0
        ),
        "GaussianProcessRegressor, exact": lambda: GaussianProcessRegressor(
            kernel, alpha=ALPHA, optimizer=None
        ),
        "MMFGaussianProcessRegressor": lambda: wm.estimator.MMFGaussianProcessRegressor(
            kernel, ALPHA, core=core
        ),
    }


def measure(make: Callable[[], Any], splits: list[Any]) -> tuple[float, float, float]:
    """Return mean error, its spread over splits, and median seconds of fit and predict."""
    errors, seconds = [], []
    for train, test, train_target, test_target in splits:
        start = time.perf_counter()
        predicted = make().fit(train, train_target).predict(test)
        seconds.append(time.perf_counter() - start)
        errors.append(np.sqrt(np.mean((predicted - test_target) ** 2)))
    return float(np.mean(errors)), float(np.std(errors)), float(np.median(seconds))


def table(name: str, wanted: str | None) -> list[dict[str, Any]]:
    data, target = DATA[name](return_X_y=True)
    data = StandardScaler().fit_transform(data)
    target = (target - target.mean()) / target.std()
    splits = [
        train_test_split(data, target, test_size=0.5, random_state=seed) for seed in range(SPLITS)
    ]
    size = len(splits[0][0])
    gamma, core = 0.1 / data.shape[1], size // 10
    print(f"\n{name}: {size} samples to train, {len(data) - size} to test, core {core}")
    rows = []
    for label, make in methods(gamma, core).items():
        if wanted not in (None, label):
            continue
        make().fit(*splits[0][::2])  # compile
        error, spread, seconds = measure(make, splits)
        print(f"{label:32} {error:.4f} ± {spread:.4f} {seconds:7.3f} s", flush=True)
        row = {"data": name, "method": label, "error": error, "error_std": spread}
        rows.append({**row, "seconds": seconds})
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=DATA, help="one data set")
    parser.add_argument("--method", help="one row")
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    names = [given.only] if given.only else list(DATA)
    found = [row for name in names for row in table(name, given.method)]
    settings = {"alpha": ALPHA, "method": given.method, "splits": SPLITS}
    keep("bench_kernels", names, settings, range(SPLITS), found)
