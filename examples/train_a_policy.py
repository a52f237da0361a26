"""
Train a policy
==============

Learn by reinforcement which coordinates to rotate.
"""

# %%
# A policy network chooses the coordinates of every level; its reward is the error of the
# factorization that comes of it. The preset "guided" sees the matrix as it has been compressed
# so far. A few hundred episodes are enough to see it learn; ``wavemmf policy train --help`` has
# the settings for long runs.

import matplotlib.pyplot as plt
import numpy as np

import wavemmf as wm

graph = wm.graphs.karate()
policy = wm.rl.train_policy(graph, k=8, core=8, episodes=256, preset="guided", seed=0)
errors = np.array(policy.history.errors)
print(f"mean error of the first 64 episodes {errors[:64].mean():.3f}")
print(f"mean error of the last 64           {errors[-64:].mean():.3f}")

wm.plot.training(policy.history)
plt.show()

# %%
# A policy is a selector like any other: with restarts it is sampled many times, and the
# rotations of the best are optimised.

for select in ("random", "neighbors", "greedy", policy):
    f = wm.factorize(graph, core=8, k=8, select=select, seed=0)
    name = select if isinstance(select, str) else "policy"
    print(f"one run of {name:<10} {f.error():.3f}")
best = wm.factorize(
    graph, core=8, k=8, select=policy, restarts=wm.Search(30, finalists=3), optimize="lbfgs"
)
print(f"best of 30 runs, optimised {best.error():.4f}")
