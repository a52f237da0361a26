"""Index selection compared: what each selector draws, and what the best of it becomes.

    python benchmarks/study_selectors.py --out study [--graph karate --graph cayley] [--seeds 5]
        [--record FILE]

Every selector draws the same number of index sequences (400 on Karate, 40 on the Cayley tree).
Their closed-form errors are the distributions of the picture; the best 15 are optimised (L-BFGS,
7500 steps in all, in the rounds of `wavemmf._restarts`) and the best of those is the result. On the
Cayley tree, where that takes a minute, only the selectors meant for search are optimised. Policies
are trained on the same matrix first, one per seed. Every finished (graph, method, seed) is kept, so
an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.select import Task

FINALISTS, STEPS = 15, 500


@dataclass(frozen=True)
class Problem:
    name: str
    graph: Any
    core: int
    k: int
    samples: int
    episodes: dict[str, int]
    optimised: tuple[str, ...] = ()


SEARCH = ("randomised greedy", "guided, trained", "evolution")
PROBLEMS = {
    "karate": Problem(
        "karate",
        wm.graphs.karate(),
        8,
        8,
        400,
        {"reduced-variance": 8_000, "identities": 3_000, "guided": 1_200},
    ),
    "cayley": Problem("cayley", wm.graphs.cayley_tree(4, 4), 16, 8, 40, {"guided": 96}, SEARCH),
}


@dataclass(frozen=True)
class Drawn:
    """Stands for a selector whose samples are at hand."""

    name: str
    samples: list[Any]
    relatedness: float

    def select(self, matrix: Any, task: Task) -> Any:
        return self.samples[0]

    def sample(self, matrix: Any, task: Task, count: int) -> list[Any]:
        return self.samples[:count]


def trained(problem: Problem, preset: str, seed: int, episodes: int) -> Any:
    start = time.perf_counter()
    policy = wm.rl.train_policy(
        problem.graph, k=problem.k, core=problem.core, episodes=episodes, preset=preset, seed=seed
    )
    policy.training_seconds = time.perf_counter() - start
    return policy


def methods(problem: Problem, seed: int) -> dict[str, Callable[[], Any]]:
    chosen: dict[str, Callable[[], Any]] = {
        "random": wm.select.Random,
        "neighbors": wm.select.Neighbors,
        "randomised greedy": wm.select.Greedy,
    }
    for preset, episodes in problem.episodes.items():
        chosen[f"{preset}, untrained"] = partial(trained, problem, preset, seed, 0)
        chosen[f"{preset}, trained"] = partial(trained, problem, preset, seed, episodes)
    return {**chosen, "evolution": wm.select.Evolution}


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
    result = {
        "graph": problem.name,
        "method": method,
        "seed": seed,
        "closed_form": errors,
        "seconds_drawing": drawn - start,
    }
    if method in (problem.optimised or methods(problem, seed)):
        again = Drawn(selector.name, samples, getattr(selector, "relatedness", 1.0))
        best = wm.factorize(
            matrix, core=problem.core, k=problem.k, select=again,
            restarts=wm.Search(problem.samples, FINALISTS),
            optimize="lbfgs", steps=STEPS, seed=seed,
        )  # fmt: skip
        result["optimised"] = best.error()
        result["seconds_optimising"] = time.perf_counter() - drawn
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
                    reached = result.get("optimised", min(result["closed_form"]))
                    print(f"{name} {method} seed {seed}: {reached:.4g}", flush=True)
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
        ends = [r["optimised"] for r in mine if "optimised" in r]
        cells = " | ".join(mean_and_spread(values) for values in (means, bests, ends))
        print(f"| {method} | {cells} | {len(mine)} |")
    for r in results:
        if r["graph"] == name and "learning" in r:
            facts = r["learning"]
            print(
                f"{r['method']}, seed {r['seed']}: {facts['first']:.4g} -> {facts['last']:.4g}, "
                f"{facts['standard_errors']:.1f} standard errors, {facts['episodes']} episodes "
                f"in {facts['seconds']:.0f} s"
            )


def mean_and_spread(values: list[float]) -> str:
    return (
        f"{np.mean(values):.3g} ± {np.std(values, ddof=int(len(values) > 1)):.2g}"
        if values
        else "–"
    )


COLOURS = {
    "reduced-variance": "#56B4E9",
    "identities": "#0072B2",
    "guided": "#D55E00",
    "evolution": "#009E73",
}


def picture(results: list[dict[str, Any]], names: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [len(methods(PROBLEMS[name], 0)) for name in names]
    figure, axes = plt.subplots(
        len(names), 2, figsize=(8.6, 0.6 * len(names) + 0.3 * sum(rows)), sharey="row",
        layout="constrained", squeeze=False, height_ratios=rows,
    )  # fmt: skip
    for (left, right), name in zip(axes, names, strict=True):
        p = PROBLEMS[name]
        labels = list(methods(p, 0))[::-1]
        for place, method in enumerate(labels):
            mine = [r for r in results if r["graph"] == name and r["method"] == method]
            colour = COLOURS.get(method.split(",")[0], "#777777")
            drawn = np.concatenate([r["closed_form"] for r in mine])
            spread = left.violinplot(
                np.log10(drawn), [place], orientation="horizontal", widths=0.9,
                showextrema=False, showmedians=True,
            )  # fmt: skip
            spread["bodies"][0].set(facecolor=colour, alpha=0.55)
            spread["cmedians"].set(color="black", linewidth=1)
            ends = [r["optimised"] for r in mine if "optimised" in r]
            right.plot(ends, [place] * len(ends), "o", ms=5, color=colour, alpha=0.7)
        left.set_yticks(range(len(labels)), labels)
        ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5) if within(t, left)]
        left.set_xticks(np.log10(ticks), [f"{t:g}" for t in ticks])
        left.set_title(f"{name}, k = {p.k}, core {p.core}: {p.samples} sequences", fontsize=10)
        right.set_title("the best 15 optimised, one point a seed", fontsize=10)
        right.set_xscale("log")
        for ax in (left, right):
            ax.grid(axis="x", alpha=0.3)
            ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("error (Frobenius norm)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def within(value: float, ax: Any) -> bool:
    low, high = ax.get_xlim()
    return bool(low <= np.log10(value) <= high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("study"))
    parser.add_argument("--graph", action="append", choices=list(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=5)
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    names = arguments.graph or list(PROBLEMS)
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = collect(arguments.out, names, arguments.seeds)
    for name in names:
        table(results, name)
    picture(results, names, arguments.out / "selectors.png")
    settings = {"finalists": FINALISTS, "steps": STEPS}
    keep("study_selectors", names, settings, range(arguments.seeds), results)


if __name__ == "__main__":
    main()
