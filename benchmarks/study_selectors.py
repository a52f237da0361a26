"""Index selection compared: what each selector draws, and what the best of it becomes.

    python benchmarks/study_selectors.py --out study [--graph karate --graph cayley] [--seeds 5]

Every selector draws the same number of index sequences (400 on Karate, 40 on the Cayley tree).
Their closed-form errors are the distributions of the picture; the best 15 are optimised (L-BFGS,
500 steps) and the best of those is the result. Policies are trained on the same matrix first, one
per seed. Every finished (graph, method, seed) is kept, so an interrupted study goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import wavemmf as wm
from wavemmf.select import Task

FINALISTS, STEPS = 15, 500


@dataclass(frozen=True)
class Problem:
    name: str
    graph: Any
    core: int
    k: int
    samples: int
    paper_episodes: int
    guided_episodes: int


PROBLEMS = {
    "karate": Problem("karate", wm.graphs.karate(), 8, 8, 400, 4_000, 1_600),
    "cayley": Problem("cayley", wm.graphs.cayley_tree(4, 4), 16, 8, 40, 1_000, 200),
}


def trained(problem: Problem, preset: str, seed: int, episodes: int) -> Any:
    start = time.perf_counter()
    policy = wm.rl.train_policy(
        problem.graph, k=problem.k, core=problem.core, episodes=episodes, preset=preset, seed=seed
    )
    policy.training_seconds = time.perf_counter() - start
    return policy


def methods(problem: Problem, seed: int) -> dict[str, Callable[[], Any]]:
    return {
        "random": wm.select.Random,
        "neighbors": wm.select.Neighbors,
        "randomised greedy": wm.select.Greedy,
        "paper, untrained": lambda: trained(problem, "paper", seed, 0),
        "paper, trained": lambda: trained(problem, "paper", seed, problem.paper_episodes),
        "guided, untrained": lambda: trained(problem, "guided", seed, 0),
        "guided, trained": lambda: trained(problem, "guided", seed, problem.guided_episodes),
        "evolution": wm.select.Evolution,
    }


def learning(policy: Any) -> dict[str, float]:
    """Compare the first and the last tenth of the episodes."""
    errors = np.array(policy.history.errors)
    tenth = max(1, errors.size // 10)
    first, last = errors[:tenth], errors[-tenth:]
    spread = np.hypot(first.std(ddof=1), last.std(ddof=1)) / np.sqrt(tenth)
    return {
        "first": float(first.mean()),
        "last": float(last.mean()),
        "standard_errors": float((first.mean() - last.mean()) / spread),
        "seconds": policy.training_seconds,
        "episodes": int(errors.size),
    }


def study(problem: Problem, method: str, seed: int) -> dict[str, Any]:
    selector = methods(problem, seed)[method]()
    matrix = wm.graphs.normalized_laplacian(problem.graph).toarray()
    task = Task(problem.core, problem.k, 1, seed)
    start = time.perf_counter()
    samples = selector.sample(matrix, task, problem.samples)
    errors = sorted(wm.Factorization.from_rotations(matrix, each).error() for each in samples)
    drawn = time.perf_counter()
    best = wm.factorize(
        matrix, core=problem.core, k=problem.k, select=selector, restarts=problem.samples,
        finalists=FINALISTS, optimize="lbfgs", steps=STEPS, seed=seed,
    )  # fmt: skip
    result = {
        "graph": problem.name,
        "method": method,
        "seed": seed,
        "closed_form": errors,
        "optimised": best.error(),
        "seconds_drawing": drawn - start,
        "seconds_total": time.perf_counter() - start,
    }
    if method.endswith(", trained"):
        result["learning"] = learning(selector)
    return result


def collect(folder: Path, names: list[str], seeds: int) -> list[dict[str, Any]]:
    results = []
    for name in names:
        for seed in range(seeds):
            for method in methods(PROBLEMS[name], seed):
                file = folder / f"{name}-{method.replace(', ', '-').replace(' ', '-')}-{seed}.json"
                if not file.exists():
                    result = study(PROBLEMS[name], method, seed)
                    partial = file.with_suffix(".tmp")
                    partial.write_text(json.dumps(result))
                    partial.replace(file)
                    print(f"{name} {method} seed {seed}: {result['optimised']:.4g}", flush=True)
                results.append(json.loads(file.read_text()))
    return results


def table(results: list[dict[str, Any]], name: str) -> None:
    print(f"\n{name}: closed-form errors of the samples, error after optimising the best\n")
    print("| selector | mean | best | optimised | seeds |")
    print("|---|---|---|---|---|")
    for method in methods(PROBLEMS[name], 0):
        mine = [r for r in results if r["graph"] == name and r["method"] == method]
        means = [float(np.mean(r["closed_form"])) for r in mine]
        bests = [min(r["closed_form"]) for r in mine]
        ends = [r["optimised"] for r in mine]
        cells = " | ".join(f"{np.mean(v):.4g} ± {np.std(v):.2g}" for v in (means, bests, ends))
        print(f"| {method} | {cells} | {len(mine)} |")
    for r in results:
        if r["graph"] == name and "learning" in r:
            facts = r["learning"]
            print(
                f"{r['method']}, seed {r['seed']}: {facts['first']:.4g} -> {facts['last']:.4g}, "
                f"{facts['standard_errors']:.1f} standard errors, {facts['episodes']} episodes "
                f"in {facts['seconds']:.0f} s"
            )


def picture(results: list[dict[str, Any]], names: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(names), figsize=(6.2 * len(names), 4.2), layout="constrained", squeeze=False
    )
    for ax, name in zip(axes[0], names, strict=True):
        labels = list(methods(PROBLEMS[name], 0))[::-1]
        mine = {m: [r for r in results if r["graph"] == name and r["method"] == m] for m in labels}
        ax.boxplot(
            [np.concatenate([r["closed_form"] for r in mine[m]]) for m in labels],
            orientation="horizontal", whis=(0, 100), widths=0.6,
            medianprops={"color": "#0072B2"},
        )  # fmt: skip
        ax.set_yticks(range(1, len(labels) + 1), labels)
        for place, method in enumerate(labels, start=1):
            ends = [r["optimised"] for r in mine[method]]
            label = "best, optimised" if place == 1 else None
            ax.plot(ends, [place] * len(ends), "D", ms=4, color="#D55E00", label=label)
        ax.set_xscale("log")
        ax.set_xlabel("error (Frobenius norm)")
        p = PROBLEMS[name]
        ax.set_title(f"{name}, k = {p.k}, core {p.core}: {p.samples} sequences a seed")
        ax.legend(loc="lower right")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("study"))
    parser.add_argument("--graph", action="append", choices=list(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    names = arguments.graph or list(PROBLEMS)
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = collect(arguments.out, names, arguments.seeds)
    for name in names:
        table(results, name)
    picture(results, names, arguments.out / "selectors.png")


if __name__ == "__main__":
    main()
