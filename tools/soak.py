"""Random matrices and parameters through the public functions, for a long time.

    python tools/soak.py [--minutes 20] [--cases 0] [--seed 0] [--processes 2] [--threads 16]

Every case draws a matrix, a way to factorize it and one property to check against dense algebra.
Cases run on several threads of several processes at once: what they share must bear it.
Prints how many cases each property had, and for every failure the number that repeats it
(``--only NUMBER``). Exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

Property = Callable[[Any, np.ndarray, Any, np.random.Generator], None]


# -- what is drawn ----------------------------------------------------------------------------


def draw_matrix(rng: np.random.Generator) -> Any:
    """Return a symmetric matrix, dense or sparse, of one of many kinds and scales."""
    n = int(rng.integers(2, 40))
    kind = rng.integers(8)
    if kind == 0:
        a = rng.standard_normal((n, n))
    elif kind == 1:
        a = np.diag(rng.standard_normal(n))
    elif kind == 2:
        points = rng.standard_normal((n, 3))
        a = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
    elif kind == 3:
        a = (rng.random((n, n)) < 0.2).astype(float)
    elif kind == 4:
        low = rng.standard_normal((n, 2))
        a = low @ low.T
    elif kind == 5:
        a = np.kron(np.eye((n + 3) // 4), np.ones((4, 4)))
    elif kind == 6:
        a = np.full((n, n), float(rng.integers(-2, 3)))
    else:
        length = max(3, n)
        a = wm.graphs.normalized_laplacian(wm.graphs.cycle(length)).toarray()
    a = (a + a.T) / 2.0 * 10.0 ** rng.integers(-8, 9)
    return sp.csr_array(a) if rng.random() < 0.5 else a


def draw_factorization(matrix: Any, rng: np.random.Generator) -> Any:
    """Factorize with random settings."""
    n = matrix.shape[0]
    k = int(rng.integers(2, min(n, 9) + 1))
    drop = int(rng.integers(1, k))
    core = int(rng.integers(1, n + 1))
    select = str(rng.choice(["greedy", "random", "neighbors"]))
    optimize = str(rng.choice(["", "", "lbfgs", "stiefel", "adam"]))
    more: dict[str, Any] = {"optimize": optimize, "steps": 5} if optimize else {}
    return wm.factorize(
        matrix, core=core, k=k, drop=drop, select=select, seed=int(rng.integers(100)), **more
    )


# -- what must hold ---------------------------------------------------------------------------


def close(got: Any, wanted: Any, scale: float, tolerance: float = 1e-9) -> None:
    """Compare arrays, relative to a scale."""
    worst = float(np.max(np.abs(np.asarray(got) - np.asarray(wanted)), initial=0.0))
    if not worst <= tolerance * max(scale, 1e-300):
        raise AssertionError(f"differs by {worst:.3g}, scale {scale:.3g}")


def size(dense: np.ndarray) -> float:
    """Return the Frobenius norm."""
    return float(np.linalg.norm(dense))


def the_error_is_exact(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    close(f.error(), size(dense - f.to_dense()), size(dense), 1e-8)


def the_basis_is_orthonormal(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    w = f.basis().toarray()
    close(w @ w.T, np.eye(f.n), 1.0, 1e-11)
    close(w.T @ f.h.to_sparse().toarray() @ w, f.to_dense(), size(dense))


def transforms_invert(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((f.n, int(rng.integers(1, 70))))
    close(f.synthesize(f.analyze(x)), x, size(x), 1e-12)
    close(f.analyze(x), f.basis() @ x, size(x), 1e-11)
    single = x.astype(np.float32)
    close(f.synthesize(f.analyze(single)), single, size(x), 1e-5)


def products(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    x, a = rng.standard_normal((f.n, 3)), f.to_dense()
    close(f @ x, a @ x, size(a) * size(x), 1e-12)
    close(f.as_linear_operator() @ x, a @ x, size(a) * size(x), 1e-12)
    close(x.T @ f, x.T @ a, size(a) * size(x), 1e-12)


def files_are_read_back(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.mmf"
        f.save(path)
        again = wm.load(path)
        same = np.array_equal(again.to_dense(), f.to_dense()) and again.error() == f.error()
        if not same or [p.name for p in Path(folder).iterdir()] != ["f.mmf"]:
            raise AssertionError("the file is not what was saved")


def functions_of_the_matrix(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    a = f.to_dense()
    scale = max(size(a), 1e-300)
    values, vectors = np.linalg.eigh(a / scale)
    close(f.eigvalsh() / scale, values, 1.0)
    close(f.trace() / scale, values.sum(), 1.0, 1e-8)
    close(f.diagonal() / scale, np.diag(a) / scale, 1.0)
    smooth = f.apply(lambda x: np.exp(-np.abs(x) / scale))
    close(smooth.to_dense(), (vectors * np.exp(-np.abs(values))) @ vectors.T, 1.0, 1e-7)
    shift = 2.0 * scale
    x = rng.standard_normal(f.n)
    g = f.shifted(shift)
    close(g @ g.solve(x), x, size(x), 1e-9)
    close(g.inv().to_dense() * scale, np.linalg.inv(a / scale + 2.0 * np.eye(f.n)), 1.0, 1e-9)
    close(g.logdet(), np.linalg.slogdet(a + shift * np.eye(f.n))[1], 1.0 + f.n, 1e-7)


def singular_matrices_are_refused(
    f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator
) -> None:
    if np.linalg.matrix_rank(f.to_dense(), rtol=1e-15) == f.n:
        return
    zero = f.apply(lambda x: 0.0 * x)
    try:
        zero.inv()
    except wm.WavemmfError:
        return
    raise AssertionError("a zero matrix was inverted")


def refining_never_hurts(f: Any, dense: np.ndarray, matrix: Any, rng: np.random.Generator) -> None:
    better = wm.refine(f, matrix, steps=5)
    if better.error() > f.error() * (1.0 + 1e-9) + 1e-12 * size(dense):
        raise AssertionError(f"{f.error()} became {better.error()}")
    the_error_is_exact(better, dense, matrix, rng)


def thresholds_discard_what_they_say(
    f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator
) -> None:
    w = f.basis().toarray()
    cut = float(rng.uniform(0.0, 0.5))
    kept, discarded = f.basis(threshold=cut, return_discarded=True)
    close(discarded, size(w - kept.toarray()), np.sqrt(f.n), 1e-9)


def many_at_once(f: Any, dense: np.ndarray, matrix: Any, rng: np.random.Generator) -> None:
    core, k = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    others = [dense, dense[:-1, :-1]] if len(dense) > 2 else [dense]
    for made, a in zip(wm.factorize_many(others, core=core, k=k), others, strict=True):
        close(made.error(), size(a - made.to_dense()), size(dense), 1e-8)


def baselines(f: Any, dense: np.ndarray, matrix: Any, rng: np.random.Generator) -> None:
    rank = int(rng.integers(1, f.n + 1))
    best = wm.baselines.truncated_eigh(matrix, rank)
    other = wm.baselines.nystrom(matrix, rank, seed=0)
    close(best.residual_norm, size(dense - best.dense), size(dense), 1e-8)
    if best.residual_norm > other.residual_norm + 1e-6 * size(dense):
        raise AssertionError("Nyström beat the best approximation of its rank")


def samples_are_finite(f: Any, dense: np.ndarray, _: Any, rng: np.random.Generator) -> None:
    g = f.apply(np.abs)
    drawn = g.sample(rng=1, size=3)
    if drawn.shape != (3, f.n) or not np.isfinite(drawn).all():
        raise AssertionError(f"samples of shape {drawn.shape}")


def gradients_flow(f: Any, dense: np.ndarray, matrix: Any, rng: np.random.Generator) -> None:
    layer = wm.torch.MMFLayer(f)
    x = torch.tensor(rng.standard_normal((f.n, 2)), requires_grad=True)
    y = layer(x)
    close(y.detach().numpy(), f.analyze(x.detach().numpy()), size(x.detach().numpy()), 1e-10)
    y.sum().backward()
    close(x.grad.numpy(), f.synthesize(np.ones((f.n, 2))), float(f.n), 1e-10)


PROPERTIES: list[Property] = [
    the_error_is_exact, the_basis_is_orthonormal, transforms_invert, products,
    files_are_read_back, functions_of_the_matrix, singular_matrices_are_refused,
    refining_never_hurts, thresholds_discard_what_they_say, many_at_once, baselines,
    samples_are_finite, gradients_flow,
]  # fmt: skip


# -- the run ----------------------------------------------------------------------------------


def run_case(number: int, seed: int) -> tuple[str, str]:
    """Return the property that was checked, and what went wrong, if anything."""
    rng = np.random.default_rng([seed, number])
    check = PROPERTIES[number % len(PROPERTIES)]
    try:
        matrix = draw_matrix(rng)
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        check(draw_factorization(matrix, rng), dense, matrix, rng)
    except Exception:
        return check.__name__, traceback.format_exc()
    return check.__name__, ""


Done = tuple["Counter[str]", list[int]]


def run_every(first: int, step: int, given: argparse.Namespace, end: float) -> Done:
    """Run every so-manieth case until the time is up; return what was checked, and failures."""
    done: Counter[str] = Counter()
    failures = []
    number = first
    while time.time() < end and not 0 < given.cases <= number:
        name, problem = run_case(number, given.seed)
        done[name] += 1
        if problem:
            failures.append(number)
            print(f"case {number}, {name}:\n{problem}", flush=True)
        number += step
    return done, failures


def run_threads(process: int, given: argparse.Namespace, end: float) -> Done:
    """Do the share of a process, on its threads."""
    warnings.simplefilter("error")  # for all threads: they cannot have filters of their own
    step = given.processes * given.threads
    with ThreadPoolExecutor(given.threads) as threads:
        firsts = range(process, step, given.processes)
        calls = [threads.submit(run_every, first, step, given, end) for first in firsts]
        return added(call.result() for call in calls)


def added(parts: Iterable[Done]) -> Done:
    """Return everything that was checked, and all failures."""
    done: Counter[str] = Counter()
    failures: list[int] = []
    for checked, failed in parts:
        done += checked
        failures += failed
    return done, failures


def main() -> int:
    """Run cases until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--cases", type=int, default=0, help="stop after so many; 0: never")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=16, help="of each process")
    parser.add_argument("--only", type=int, help="the number of a case")
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    if given.only is not None:
        warnings.simplefilter("error")
        name, problem = run_case(given.only, given.seed)
        print(name, problem or "holds")
        return bool(problem)
    end = time.time() + 60.0 * given.minutes
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as processes:
        calls = [processes.submit(run_threads, p, given, end) for p in range(given.processes)]
        done, failures = added(call.result() for call in calls)
    rows = [{"property": name, "cases": count} for name, count in done.items()]
    rows.append({"property": "all", "cases": sum(done.values()), "failures": sorted(failures)})
    settings = {name: getattr(given, name) for name in ("minutes", "cases", "processes", "threads")}
    keep("soak", ["random matrices"], settings, [given.seed], rows)
    for name, count in done.items():
        print(f"{name:<36} {count}")
    print(f"{sum(done.values())} cases, {len(failures)} failures {sorted(failures) or ''}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
