"""Train a policy on clusters of a citation graph, then run it on the whole graph.

    python examples/policy_transfer.py [cora | citeseer] [--episodes 256] [--clusters 100]

Small graphs are cheap to learn on; the policy does not depend on the size, so it runs on the whole
graph unchanged. Writes policy_transfer_NAME.png with the learning curve. Needs the extras torch,
plot and partition, and the data set in the folder WAVEMMF_DATA (or a connection to fetch it).
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
    arguments = parser.parse_args()
    graph = wm.graphs.named(arguments.name)
    parts = wm.rl.clusters(graph, size=arguments.clusters, seed=0)
    print(f"{arguments.name}: {graph.n} vertices, {len(parts)} clusters to train on")
    start = time.perf_counter()
    policy = wm.rl.train_policy(
        parts, k=8, core=0.1, episodes=arguments.episodes, preset="guided", seed=0
    )
    print(f"trained in {time.perf_counter() - start:.0f} s")
    wm.rl.write_curve(policy, f"policy_transfer_{arguments.name}.png")

    selectors: dict[str, Any] = {"policy": policy, "greedy": "greedy", "neighbors": "neighbors"}
    for name, select in selectors.items():
        wm.factorize(parts[0], core=0, k=8, select=select)  # compile
        f = wm.factorize(graph, core=100, k=8, select=select)
        spent = f.history.seconds[-1]
        print(
            f"{name:<10} error {f.error():7.3f}  relative {f.relative_error():.4f}  {spent:6.2f} s"
        )


if __name__ == "__main__":
    main()
