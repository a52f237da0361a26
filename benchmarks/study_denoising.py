"""Noise taken out of signals without knowing the clean ones: wavelets, and what else there is.

    python benchmarks/study_denoising.py [--only tuning] [--only table] [--record F]

tuning  rules for the threshold, on the graphs and signals of tuning_signals.py
table   a digit and Toronto intersections, with noise of 5 and 10 dB, ten draws each: signal against
        error in dB, for wavelets, other bases with the same rule, and smoothing and trend filtering
        with the strength of least estimated risk

The noise level is not told to any method; all take the median of the finest coefficients of their
own basis, and those without a basis that of the wavelets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from tuning_signals import PROBLEMS, problem

import wavemmf as wm
from wavemmf.experiments._haar_walsh import _up, bisections, haar_basis
from wavemmf.experiments._signal_rivals import eigenvector_basis
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.experiments.signal_data import signal_problem
from wavemmf.signals import denoise, noise_level
from wavemmf.signals._threshold import _limits
from wavemmf.signals._tikhonov import STRENGTHS, Tikhonov

Row = dict[str, Any]
Diffusion = wm.select.Diffusion
LEVELS = (5.0, 10.0)
DRAWS = 10
RULES = [("bayes", "soft"), ("sure", "soft"), ("universal", "soft"), ("universal", "hard")]
# What the table is made with: chosen by `tuning`.
RULE = ("sure", "soft")
GRAPHS = (("digits", "images"), ("toronto", "pedestrians"), ("toronto", "vehicles"))
# Scaling functions of all bases, and several walks whose wavelets differ.
CORE = 8
SPUN = (Diffusion(), Diffusion(time=100.0), Diffusion(balanced=False))
# Penalties of trend filtering in units of the noise, and steps for each.
PENALTIES = np.geomspace(0.1, 6.4, 7)
STEPS = 300
# Differences that are none.
FUSED = 1e-3


def noisy(x: Any, decibel: float, seed: int) -> Any:
    """Return draws as columns."""
    noise = np.random.default_rng(seed).normal(size=(len(x), DRAWS))
    scale = np.linalg.norm(x) / np.sqrt(len(x)) / 10.0 ** (decibel / 20.0)
    return x[:, None] + scale * noise


def decibels(x: Any, found: Any) -> Any:
    return 20.0 * np.log10(np.linalg.norm(x) / np.linalg.norm(found - x[:, None], axis=0))


def tuning() -> Iterator[Row]:
    for name in PROBLEMS:
        graph, signals = problem(name)
        f = wm.wavelets(graph)
        for decibel in LEVELS:
            draws = [noisy(x, decibel, i) for i, x in enumerate(signals.T)]
            for rule in RULES:
                after = [
                    decibels(x, denoise(y, f, *rule)).mean()
                    for x, y in zip(signals.T, draws, strict=True)
                ]
                yield {
                    "what": "tuning", "signal": name, "method": ", ".join(rule), "before": decibel,
                    "after": float(np.mean(after)),
                }  # fmt: skip


def table() -> Iterator[Row]:
    for name, signal in GRAPHS:
        graph, x = signal_problem(name, signal, lambda path: path)
        x = x if x.ndim == 1 else x[:, 0]
        methods = ways(graph)
        for decibel in LEVELS:
            y = noisy(x, decibel, 0)
            for method, way in methods.items():
                after = decibels(x, way(y))
                yield {
                    "what": "table", "signal": f"{name}, {signal}", "method": method,
                    "before": decibel, "after": float(after.mean()), "spread": float(after.std()),
                }  # fmt: skip


def ways(graph: Any) -> dict[str, Callable[[Any], Any]]:
    several = [wm.wavelets(graph, select=each) for each in SPUN]
    f = several[0]
    tree = bisections(graph)
    haar, eigenvectors = haar_basis(graph, tree).toarray(), eigenvector_basis(graph)
    finest_haar = np.argsort((haar != 0).sum(axis=1), kind="stable")
    order = np.arange(len(haar))
    return {
        "wavelets": lambda y: denoise(y, f, *RULE),
        "wavelets, smoothing first": lambda y: denoise(y, f, *RULE, smooth=graph),
        "three wavelet bases": lambda y: denoise(y, several, *RULE),
        "three wavelet bases, smoothing first": lambda y: denoise(y, several, *RULE, smooth=graph),
        "Haar": partial(in_basis, haar[finest_haar]),
        "best Haar-Walsh basis": partial(in_best_basis, tree),
        "eigenvectors": partial(in_basis, eigenvectors[order[::-1]]),
        "Tikhonov": partial(smoothed, graph, f),
        "trend filtering": partial(trend_filtered, graph, f),
    }


def in_basis(basis: Any, y: Any) -> Any:
    """Threshold coefficients in a basis whose rows go from fine to coarse, in octaves."""
    bands = np.full(len(basis), -1)
    first, left = 0, len(basis)
    while left > CORE:
        count = min((left + 1) // 2, left - CORE)
        bands[first : first + count] = bands.max() + 1
        first, left = first + count, left - count
    c = basis @ y
    sigma = np.median(np.abs(c[bands == 0]), axis=0) / 0.6744897501960817
    limits = _limits(c, bands, sigma, RULE[0])
    return basis.T @ (np.sign(c) * np.maximum(np.abs(c) - limits, 0.0))


def in_best_basis(tree: Any, y: Any) -> Any:
    """Threshold in the Haar-Walsh basis that is best for each noisy signal."""
    n = len(y)

    def cheapest(own: Any, below: Any) -> Any:
        return own if np.abs(own[:, 0]).sum() <= np.abs(below[:, 0]).sum() else below

    found = []
    for column in y.T:
        basis = _up(tree, np.column_stack([column, np.eye(n)]), cheapest)[2][:, 1:]
        finest = np.argsort((np.abs(basis) > 1e-12).sum(axis=1), kind="stable")
        found.append(in_basis(basis[finest], column[:, None])[:, 0])
    return np.stack(found, axis=1)


def smoothed(graph: Any, f: Any, y: Any) -> Any:
    """Smooth each signal by the strength of least risk, by its trace."""
    tikhonov = Tikhonov(graph, len(y))
    sigma = noise_level(f, f.analyze(y))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(y), 64))
    candidates = []
    for strength in STRENGTHS:
        smoother = tikhonov.smoother(strength)
        trace = (signs * smoother(signs)).sum(axis=0).mean()
        found = smoother(y)
        candidates.append((found, ((y - found) ** 2).sum(axis=0) + 2.0 * sigma**2 * trace))
    return least(candidates)


def trend_filtered(graph: Any, f: Any, y: Any) -> Any:
    """Graph trend filtering of order 0: penalise differences along edges, by dual descent."""
    weights = sp.triu(wm.graphs.adjacency(graph), 1).tocoo()
    count = weights.nnz
    rows = np.repeat(np.arange(count), 2)
    signs = np.tile([1.0, -1.0], count)
    ends = np.stack(weights.coords, axis=1)
    difference = sp.csr_array((signs, (rows, ends.ravel())), shape=(count, len(y)))
    step = 1.0 / (2.0 * np.abs(difference).sum(axis=0).max())
    sigma = noise_level(f, f.analyze(y))
    dual = np.zeros((count, y.shape[1]))
    candidates = []
    for penalty in PENALTIES:
        limit = penalty * sigma
        ahead, before = dual, 1.0
        for _ in range(STEPS):
            moved = ahead + step * (difference @ (y - difference.T @ ahead))
            moved = np.clip(moved, -limit, limit)
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * before**2))
            ahead, dual, before = (
                moved + (before - 1.0) / momentum * (moved - dual),
                moved,
                momentum,
            )
        found = y - difference.T @ dual
        pieces = [
            fused(difference @ column, ends, s) for column, s in zip(found.T, sigma, strict=True)
        ]
        risk = ((y - found) ** 2).sum(axis=0) + 2.0 * sigma**2 * np.array(pieces)
        candidates.append((found, risk))
    return least(candidates)


def fused(differences: Any, ends: Any, sigma: float) -> int:
    """Return in how many pieces a signal is constant: its degrees of freedom."""
    same = ends[np.abs(differences) < FUSED * sigma]
    n = int(ends.max()) + 1
    joined = sp.csr_array((np.ones(len(same)), (same[:, 0], same[:, 1])), shape=(n, n))
    return int(connected_components(joined, directed=False)[0])


def least(candidates: list[tuple[Any, Any]]) -> Any:
    best = np.argmin([risk for _, risk in candidates], axis=0)
    return np.stack([candidates[b][0][:, j] for j, b in enumerate(best)], axis=1)


def main() -> int:
    studies = {"tuning": tuning, "table": table}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=list(studies))
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    chosen = given.only or list(studies)
    rows = []
    for name in chosen:
        for row in studies[name]():
            spread = f" ± {row['spread']:.2f}" if "spread" in row else ""
            told = f"{row['before']:g} dB | {row['after']:.2f}{spread}"
            print(f"| {row['signal']} | {row['method']} | {told} |", flush=True)
            rows.append(row)
    keep("study_denoising", chosen, {"draws": DRAWS, "rule": list(RULE)}, list(range(DRAWS)), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
