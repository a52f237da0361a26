"""Train a policy on clusters of a citation graph, then run it on the whole graph.

    python examples/policy_transfer.py [cora | citeseer] [--episodes 256] [--seeds 1]

Small graphs are cheap to learn on; the policy does not depend on the size, so it runs on the whole
graph unchanged. Writes policy_transfer_NAME.png with the last learning curve. Needs the extras
torch, plot and partition, and the data set in the folder WAVEMMF_DATA (or a connection to fetch
it).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import wavemmf as wm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="cora")
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--clusters", type=int, default=100, help="vertices per cluster")
    parser.add_argument("--seeds", type=int, default=1, help="policies to train, one after another")
    arguments = parser.parse_args()
    graph = wm.graphs.named(arguments.name)
    parts = wm.rl.clusters(graph, size=arguments.clusters, seed=0)
    print(f"{arguments.name}: {graph.n} vertices, {len(parts)} clusters to train on")
    for select in ("greedy", "neighbors"):
        apply(select, select, graph, seed=0)
    # An untrained policy is the same for all seeds, so it is run once.
    for seed, episodes in [
        (0, 0),
        *((seed, arguments.episodes) for seed in range(arguments.seeds)),
    ]:
        start = time.perf_counter()
        policy = wm.rl.train_policy(
            parts, k=8, core=0.1, episodes=episodes, preset="guided", seed=seed
        )
        spent = time.perf_counter() - start
        label = f"policy, {episodes} episodes in {spent:.0f} s, seed {seed}"
        apply(label, policy, graph, seed)
    wm.rl.write_curve(policy, f"policy_transfer_{arguments.name}.png")


def apply(label: str, select: Any, graph: Any, seed: int) -> None:
    """Run a selector once on the whole graph, after a few levels of a large one to compile it."""
    wm.factorize(wm.graphs.grid(40, 40), core=1590, k=8, select=select)
    f = wm.factorize(graph, core=100, k=8, select=select, seed=seed)
    spent = f.history.seconds[-1]
    print(f"{label:<40} error {f.error():7.3f}  relative {f.relative_error():.4f}  {spent:6.2f} s")


if __name__ == "__main__":
    main()
