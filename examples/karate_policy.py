"""Train the paper's policy on the karate club graph, watch it learn, and use it.

    python examples/karate_policy.py [--episodes 2000]

Writes karate_policy.png (error per episode) and karate_policy.safetensors. Needs the extras torch
and plot.
"""

from __future__ import annotations

import argparse

import numpy as np

import wavemmf as wm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=2000)
    episodes = parser.parse_args().episodes
    graph = wm.graphs.karate()
    policy = wm.rl.train_policy(graph, k=8, core=8, episodes=episodes, preset="paper", seed=0)
    wm.rl.write_curve(policy, "karate_policy.png")
    policy.save("karate_policy.safetensors")

    errors = np.array(policy.history.errors)
    tenth = max(1, errors.size // 10)
    print(f"mean error of the first tenth of the episodes {errors[:tenth].mean():.3f}")
    print(f"mean error of the last tenth                  {errors[-tenth:].mean():.3f}")
    for select in ("random", "neighbors"):
        drawn = [
            wm.factorize(graph, core=8, k=8, select=select, seed=seed).error() for seed in range(50)
        ]
        print(f"mean error of the selector {select:<19}{np.mean(drawn):.3f}")

    once = wm.factorize(graph, core=8, k=8, select=policy)
    learned = wm.factorize(
        graph, core=8, k=8, select=policy, restarts=100, finalists=5, optimize="lbfgs"
    )
    print(f"one run of the policy                         {once.error():.3f}")
    print(f"best of 100 runs, rotations optimised         {learned.error():.4f}")


if __name__ == "__main__":
    main()
