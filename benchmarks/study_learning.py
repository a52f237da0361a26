"""Learned indices compared with search, by the error after all rotations were optimised.

    python benchmarks/study_learning.py --out study [--graph karate] [--seeds 5] [--minutes 14]
    python benchmarks/study_learning.py --out study --transfer [--seeds 5] [--minutes 14]

The first: on one graph every method ends with 7,500 steps of L-BFGS on the best of its sequences.
Policies are trained before, by closed-form or by optimised errors. Because their training takes
steps and seconds too, randomised greedy also runs with as many steps, and for as many
processor seconds, as the policy of optimised errors has taken from its beginning.

The second: a policy learns on some graphs and is tried on others. Untrained policy, trained policy
and randomised greedy draw the same number of sequences of every test graph, all are optimised
with the same number of steps, and geometric means over sequences and graphs are compared.

Every finished run is kept. After --minutes no further one is begun; the same command goes on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import wavemmf as wm
from wavemmf._fingerprint import fingerprint
from wavemmf.experiments._results import ResultStore
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.optimize import optimize_many
from wavemmf.select import Evolution, Greedy, Task

# Steps after the training: 15 sequences with 500 steps each, in the rounds of wavemmf.Search.
FINALISTS, STEPS = 15, 500
# Steps that an episode takes on average, with halving, of the 100 that the best ones take.
STEPS_PER_EPISODE = 50
SAMPLES = {"karate": 400, "miserables": 200, "geometric": 100, "cayley": 40}
EPISODES = {"karate": 8192, "miserables": 2048, "geometric": 1024, "cayley": 256}
MOLECULES = 10


@dataclass(frozen=True)
class Problem:
    name: str
    graph: Any
    core: int
    samples: int
    episodes: int
    k: int = 8


def geometric(seed: int, n: int = 100) -> Any:
    """Return a connected random geometric graph."""
    radius = 1.5 * np.sqrt(np.log(n) / (np.pi * n))
    for attempt in range(100):
        graph = nx.random_geometric_graph(n, radius, seed=1000 * seed + attempt)
        if nx.is_connected(graph):
            return wm.graphs.as_matrix(nx.Graph(graph.edges))
    raise RuntimeError("no connected graph was found")


def molecules(numbers: Any) -> list[Any]:
    """Return molecules of NCI1 with at least 20 atoms, by their number among those."""
    read = wm.datasets.tu_dataset("NCI1")
    large = [graph for graph in read.graphs if graph.n >= 20]
    return [large[number] for number in numbers]


def problems() -> dict[str, Callable[[], Problem]]:
    def of(name: str, graph: Any, core: int, size: str | None = None) -> Problem:
        return Problem(name, graph, core, SAMPLES[size or name], EPISODES[size or name])

    known = {
        "karate": lambda: of("karate", wm.graphs.karate(), 8),
        "cayley": lambda: of("cayley", wm.graphs.cayley_tree(4, 4), 16),
        "miserables": lambda: of(
            "miserables", wm.graphs.as_matrix(nx.Graph(nx.les_miserables_graph().edges)), 12
        ),
        "geometric": lambda: of("geometric", geometric(0), 10),
    }
    for number in range(MOLECULES):
        known[f"nci1-{number}"] = lambda number=number: of(
            f"nci1-{number}", molecules([-1 - number])[0], 6, "karate"
        )
    return known


def dense(graph: Any) -> Any:
    return wm.graphs.as_matrix(graph).toarray()


def searched(problem: Problem, selector: Any, seed: int, finalists: int = FINALISTS) -> float:
    """Return the error of the best of many sequences, `finalists` of which are optimised."""
    found = wm.factorize(
        problem.graph, core=problem.core, k=problem.k, select=selector, seed=seed,
        restarts=wm.Search(max(problem.samples, 2 * finalists), finalists), optimize="lbfgs",
        steps=STEPS,
    )  # fmt: skip
    return found.error()


def learned(problem: Problem, seed: int, rewards: str) -> dict[str, float]:
    """Train a policy and spend the same budget on its samples as all others do."""
    start = time.process_time()
    found = wm.rl.learn(
        problem.graph, problem.core, problem.k, episodes=problem.episodes, rewards=rewards,
        optimize=wm.optimize.LBFGS(steps=STEPS), finalists=FINALISTS, seed=seed, progress=False,
    )  # fmt: skip
    trained = time.process_time() - start
    matrix = dense(problem.graph)
    drawn = found.policy.sample(matrix, Task(problem.core, problem.k, 1, seed), 48)
    samples = [each.error for each in optimize_many(matrix, drawn, [200])]
    return {
        "met": found.factorization.error(),
        "error": searched(problem, found.policy, seed),
        "samples": geometric_mean(samples),
        "episodes": float(found.history.episodes),
        "seconds": trained,
        "steps": STEPS_PER_EPISODE * found.history.episodes * float(rewards == "stiefel"),
    }


def for_seconds(problem: Problem, seed: int, seconds: float) -> float:
    """Return the best of searches, one after the other, until so many seconds are spent."""
    start, best, number = time.process_time(), np.inf, 0
    while time.process_time() - start < seconds:
        best = min(best, searched(problem, Greedy(), 1000 * seed + number))
        number += 1
    return best


METHODS = (
    "randomised greedy", "evolution", "policy, closed form", "policy, optimised",
    "randomised greedy, same steps", "randomised greedy, same seconds",
)  # fmt: skip


def run(problem: Problem, method: str, seed: int, before: dict[str, Any]) -> dict[str, float]:
    """Return what a method reaches; `before` are the results of those before it."""
    if method == "randomised greedy":
        return {"error": searched(problem, Greedy(), seed)}
    if method == "evolution":
        return {"error": searched(problem, Evolution(), seed)}
    if method.startswith("policy"):
        return learned(problem, seed, "closed_form" if "closed" in method else "stiefel")
    policy = before["policy, optimised"]
    if method.endswith("steps"):
        finalists = FINALISTS + round(policy["steps"] / STEPS)
        return {"error": searched(problem, Greedy(), seed, finalists)}
    return {"error": for_seconds(problem, seed, policy["seconds"])}


# -- transfer -----------------------------------------------------------------------------------

DRAWN, DRAWN_STEPS, TRANSFER_EPISODES = 24, 100, 2048
KINDS = ("geometric", "molecules")


def graphs_of(kind: str, training: bool) -> list[Any]:
    """Return graphs to learn from, or others to be tried on."""
    if kind == "molecules":
        return molecules(range(24) if training else range(-MOLECULES, 0))
    return [geometric(seed, 60) for seed in (range(1, 25) if training else range(100, 112))]


def transferred(kind: str, seed: int) -> dict[str, float]:
    """Return geometric means over unseen graphs, and the standard error of the two gains."""
    policy = wm.rl.train_policy(
        graphs_of(kind, True), core=0.15, k=8, episodes=TRANSFER_EPISODES, seed=seed,
        preset="transfer", progress=False,
    )  # fmt: skip
    untrained = wm.rl.Policy(policy.settings, seed)
    logs = []
    for graph in graphs_of(kind, False):
        matrix = dense(graph)
        task = Task(max(1, round(0.15 * len(matrix))), 8, 1, seed)
        row = []
        for selector in (policy, untrained, Greedy()):
            drawn = optimize_many(matrix, selector.sample(matrix, task, DRAWN), [DRAWN_STEPS])
            row.append(np.mean(np.log([max(each.error, 1e-12) for each in drawn])))
        logs.append(row)
    trained, plain, greedy = np.array(logs).T
    root = np.sqrt(len(logs))
    return {
        "trained": float(np.exp(trained.mean())),
        "untrained": float(np.exp(plain.mean())),
        "greedy": float(np.exp(greedy.mean())),
        "gain": float(1.0 - np.exp((trained - plain).mean())),
        "gain_errors": float((plain - trained).mean() / ((plain - trained).std(ddof=1) / root)),
        "gain_greedy": float(1.0 - np.exp((trained - greedy).mean())),
        "gain_greedy_errors": float(
            (greedy - trained).mean() / ((greedy - trained).std(ddof=1) / root)
        ),
    }


# -- what is kept, and tables -------------------------------------------------------------------


class Study:
    """Runs that are kept; none is begun after the time is over."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self.store = ResultStore(folder)
        self.over = time.monotonic() + 60.0 * minutes

    def get(self, name: tuple[Any, ...], work: Callable[[], dict[str, float]]) -> Any:
        """Return a result that is kept, or that of the work, or nothing once the time is over."""
        key = fingerprint("study_learning", name=[str(part) for part in name])
        result = self.store.load(name, key, dict)
        if result is None and time.monotonic() < self.over:
            result = work()
            self.store.save(name, key, result)
            print(*name, {name: round(value, 6) for name, value in result.items()}, flush=True)
        return result


def single(study: Study, problem: Problem, seeds: int) -> Iterator[dict[str, Any]]:
    for seed in range(seeds):
        done: dict[str, Any] = {}
        for method in METHODS:
            if method.endswith(("steps", "seconds")) and done.get("policy, optimised") is None:
                continue
            done[method] = study.get(
                (problem.name, method, seed),
                lambda m=method, s=seed, d=done: run(problem, m, s, d),
            )
            if done[method] is not None:
                yield {"graph": problem.name, "method": method, "seed": seed, **done[method]}


def geometric_mean(values: Any) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12)))))


def table(results: list[dict[str, Any]]) -> None:
    print("\n| graph | method | geometric mean | from | to | seeds | samples | processor seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(r["graph"] for r in results):
        for method in METHODS:
            mine = [r for r in results if (r["graph"], r["method"]) == (name, method)]
            if mine:
                errors = [r["error"] for r in mine]
                cells = [f"{f(errors):.3g}" for f in (geometric_mean, min, max)]
                samples = (
                    [f"{geometric_mean([r['samples'] for r in mine]):.3g}"]
                    if ("samples" in mine[0])
                    else ["–"]
                )
                seconds = (
                    [f"{np.mean([r['seconds'] for r in mine]):.0f}"]
                    if ("seconds" in mine[0])
                    else ["–"]
                )
                print(
                    "|", " | ".join([name, method, *cells, str(len(mine)), *samples, *seconds]), "|"
                )


def transfer_table(results: list[dict[str, Any]]) -> None:
    print("\n| graphs | seed | trained | untrained | greedy | gain | over greedy |")
    print("|---|---|---|---|---|---|---|")
    for r in results:
        print(
            f"| {r['graphs']} | {r['seed']} | {r['trained']:.4g} | {r['untrained']:.4g} "
            f"| {r['greedy']:.4g} | {100 * r['gain']:.1f} % ({r['gain_errors']:.1f} standard "
            f"errors) | {100 * r['gain_greedy']:.1f} % ({r['gain_greedy_errors']:.1f}) |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("study"))
    parser.add_argument("--graph", action="append", choices=[*problems()])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--transfer", action="store_true")
    parser.add_argument("--kind", action="append", choices=KINDS)
    add_record_option(parser)
    arguments = parser.parse_args()
    keep = Recorder(arguments.record)
    study = Study(arguments.out, arguments.minutes)
    seeds = range(arguments.seeds)
    if arguments.transfer:
        names = arguments.kind or list(KINDS)
        runs = [(kind, seed) for seed in seeds for kind in names]
        found = [(*r, study.get(("transfer", *r), lambda r=r: transferred(*r))) for r in runs]
        results = [{"graphs": k, "seed": s, **result} for k, s, result in found if result]
        transfer_table(results)
    else:
        names = arguments.graph or list(problems())
        results = [r for name in names for r in single(study, problems()[name](), arguments.seeds)]
        table(results)
    keep("study_learning", names, {"steps": STEPS, "finalists": FINALISTS}, seeds, results)


if __name__ == "__main__":
    main()
