"""
Train small, use large
======================

A policy trained on clusters of a graph selects on the whole graph.
"""

# %%
# Small graphs are cheap to learn on, and the policy does not depend on the size of the graph.
# Here the clusters are those of a grid with random weights; with ``wm.graphs.named("cora")``
# and 256 episodes it is the experiment of :doc:`/results`.

import matplotlib.pyplot as plt
import numpy as np

import wavemmf as wm

rng = np.random.default_rng(0)
weights = wm.graphs.grid(20, 20).adjacency.astype(float)
weights.data *= rng.uniform(0.2, 5.0, weights.nnz)
graph = wm.graphs.Graph(0.5 * (weights + weights.T), name="weighted grid")
parts = wm.rl.clusters(graph, size=50, seed=0)
print(f"{graph.n} nodes, {len(parts)} clusters to train on")

policy = wm.rl.train_policy(
    parts, k=8, core=0.1, episodes=64, preset="transfer", rewards="closed_form", seed=0
)

# %%
# The whole graph at once, by the policy and by other selectors.

errors = {}
for select in ("random", "neighbors", "greedy", policy):
    name = select if isinstance(select, str) else "policy"
    errors[name] = wm.factorize(graph, core=40, k=8, select=select, seed=0).relative_error()
    print(f"{name:<10} relative error {errors[name]:.3f}")

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.barh(list(errors), list(errors.values()), color="tab:blue")
ax.set(xlabel="relative error on the whole graph")
plt.show()
