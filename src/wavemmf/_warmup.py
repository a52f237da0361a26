"""Compile the kernels before they are needed, in several processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np

from ._factorize import factorize
from ._progress import Progress, silent
from .graphs import grid, karate, normalized_laplacian

__all__ = ["JOBS", "warm_up"]


def _small() -> None:
    factorize(karate(), core=8, k=8)
    for select in ("random", "neighbors"):
        factorize(karate(), core=8, k=4, select=select)


def _optimised() -> None:
    factorize(karate(), core=8, k=8, optimize="lbfgs")
    factorize(karate(), core=8, k=4, optimize="adam")
    factorize(grid(17, 17), core=20, k=4, optimize="lbfgs")


def _dense() -> None:
    factorize(grid(17, 17), core=20, k=4)
    factorize(grid(17, 17), core=20, k=2)


def _sparse() -> None:
    laplacian = normalized_laplacian(grid(40, 40))
    factorize(laplacian, core=100, k=4, engine="sparse")
    factorize(laplacian, core=100, k=2, select="diffusion")


def _transforms() -> None:
    f = factorize(karate(), core=8, k=2)
    for columns in (1, 8, 32):
        for dtype in (np.float64, np.float32):
            f.synthesize(f.analyze(np.ones((f.n, columns), dtype)))
    f.basis()


#: What is compiled together: these share most of what they call. The longest come first.
JOBS: dict[str, Callable[[], None]] = {
    "optimisation": _optimised,
    "sparse matrices": _sparse,
    "small matrices": _small,
    "dense matrices": _dense,
    "transforms": _transforms,
}


def warm_up(workers: int | None = None, progress: Progress = silent) -> None:
    """Compile what the usual calls need, and keep it on disk.

    Parameters
    ----------
    workers : int, optional
        Number of processes; by default one for each core, up to the number of `JOBS`.
    progress : callable
        Is told how many jobs are done, and which one was the last.
    """
    workers = min(workers or os.cpu_count() or 1, len(JOBS))
    progress(0, len(JOBS), "")
    # Forked processes would share the locks of this one.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(_run, name): name for name in JOBS}
        for done, job in enumerate(as_completed(running), 1):
            job.result()
            progress(done, len(JOBS), running[job])


def _run(name: str) -> None:
    os.environ["WAVEMMF_NOTICE"] = "0"  # whoever waits sees the progress
    JOBS[name]()
