"""
Train a policy
==============

Learn by reinforcement which coordinates to rotate.
"""

# %%
# A policy network chooses a group of coordinates for every level; its reward is the error of
# the factorization after all rotations have been optimised. ``learn`` is the whole algorithm: it
# plays, optimises and learns in turn, and returns the best factorization that it met, with the
# policy. A few hundred episodes are enough to see how it works; the default takes minutes.

import matplotlib.pyplot as plt

import wavemmf as wm

graph = wm.graphs.karate()
found = wm.rl.learn(graph, k=8, core=8, episodes=256, steps=40, finalists=4, seed=0)
policy, errors = found.policy, found.history.errors
print(f"mean error of the first 64 episodes {errors[:64].mean():.3f}")
print(f"mean error of the last 64           {errors[-64:].mean():.3f}")
print(f"the best, optimised to the end      {found.factorization.error():.4f}")

wm.plot.training(found.history)
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
